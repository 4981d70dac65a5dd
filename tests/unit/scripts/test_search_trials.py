"""The order in which scripts/measure_search.py asks: nobody has a place of its own."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from scripts.generated.notes import Note
from scripts.generated.store import StoreOrder
from scripts.search.trials import WARM_UP_QUESTIONS, Answers, take_turns

NAMES = ("plain", "scoped", "by rank", "peer")
ASKED = 400


@dataclass(frozen=True, slots=True)
class Listed:
    """A contender that notes down when it was asked what."""

    name: str
    asked: list[tuple[str, str]]

    def answer(self, note: Note, answers: Answers) -> None:
        """Answer nothing, in a millisecond."""
        self.asked.append((self.name, note.question))
        answers.whole.append(1.0)


def test_each_is_first_and_follows_each_other_about_as_often() -> None:
    notes = StoreOrder(1000, 8, "bytes", None).notes().questions(ASKED + WARM_UP_QUESTIONS)
    asked = list[tuple[str, str]]()
    answers = take_turns({name: Listed(name, asked) for name in NAMES}, notes)
    assert [len(answers[name].whole) for name in NAMES] == [ASKED] * len(NAMES)
    rounds = [asked[at : at + len(NAMES)] for at in range(0, len(asked), len(NAMES))]
    assert all(len({question for _, question in one}) == 1 for one in rounds)
    first = Counter(one[0][0] for one in rounds)
    assert min(first[name] for name in NAMES) > len(rounds) / len(NAMES) / 2
    behind = Counter((a, b) for one in rounds for (a, _), (b, _) in pairwise(one))
    # Of twelve pairs each is met in a quarter of the rounds.
    pairs = [(a, b) for a in NAMES for b in NAMES if a != b]
    assert min(behind[pair] for pair in pairs) > len(rounds) / 8
