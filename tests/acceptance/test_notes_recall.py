"""Recall on notes: what words alone find, the default does not lose, and a title lures nobody.

The notes are examples/notes with one more, which tells another code phrase than an older note
does, among the memories of the golden set. Questions are made of them, and written by hand.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import httpx
import pytest

from scripts.measure_recall import VARIANTS, Asking, ask_in_turn
from scripts.recall.answers import DEFAULT, Answer
from scripts.recall.known_items import KNOWN, LURED
from scripts.recall.notes import NotesSet, load_notes, read_notes
from scripts.recall.scores import Scores, mean_scores
from scripts.recall.sets import Question
from tests.effort import amount
from tests.servers.running import running_service

pytestmark = pytest.mark.soak
# The same answers from both, from the database in four times the seconds.
ENGINES = ("resident", "database")[: amount("notes engines")]

_REPOSITORY: Final = Path(__file__).resolve().parents[2]
_GOLDEN: Final = _REPOSITORY / "tests" / "golden" / "corpus.jsonl"
_DINNER: Final = (
    "memory/2026-02-15.md",
    "# Sunday 15 February\n\nJR's code phrase is purple walrus, told over dinner.\n",
)
_NATURAL: Final = "english"
_OTHERS: Final = ("text", "vector", "rrf")
# The share of lured questions whose first hit is the memory that holds every word.
_LURED_FLOOR: Final = 0.97
# The share of a natural question's sections among its first five; a little below what it is.
_NATURAL_FLOOR: Final = 0.93


class Asked:
    """Every question with every variant's answer."""

    def __init__(self, client: httpx.Client) -> None:
        notes = read_notes(_REPOSITORY / "examples" / "notes")
        whole = NotesSet(notes.name, (*notes.files, _DINNER), notes.natural)
        golden = [json.loads(line) for line in _GOLDEN.read_text(encoding="utf-8").splitlines()]
        memories = [
            {name: value for name, value in line.items() if name not in {"id", "scope"}}
            | {"agent": whole.agent, "source_ref": line["id"]}
            for line in golden
        ]
        stored = client.post("/memories/batch", json={"memories": memories})
        assert stored.json()["created"] == len(golden), stored.text
        loaded = load_notes(client, whole, list)
        assert loaded.left_out == 0
        names = [name for name in VARIANTS if name in {DEFAULT, *_OTHERS}]
        self.questions = loaded.data.questions
        asking = Asking(client, whole.agent)
        self._answers = ask_in_turn(asking, self.questions, loaded.name_of, names)
        assert all(one.is_complete for own in self._answers.values() for one in own)

    def of(self, category: str, variant: str = DEFAULT) -> list[tuple[Question, Answer]]:
        """Return the questions of a category with this variant's answers."""
        pairs = zip(self.questions, self._answers[variant], strict=True)
        return [(question, answer) for question, answer in pairs if question.category == category]

    def means(self, category: str, variant: str = DEFAULT) -> Scores:
        """Return the mean scores of a category."""
        return mean_scores([answer.scored(asked) for asked, answer in self.of(category, variant)])

    def lost(self, category: str, score: str, other: str) -> str:
        """Return the lines for whoever reads a failing gate: where the other is better."""
        pairs = zip(self.of(category), self.of(category, other), strict=True)
        return _told(
            (question, mine)
            for (question, mine), (_, theirs) in pairs
            if getattr(mine.scored(question), score) < getattr(theirs.scored(question), score)
        )


@pytest.fixture(scope="module")
def asked(
    tmp_path_factory: pytest.TempPathFactory, minilm_url: str, engine: str
) -> Iterator[Asked]:
    """Yield the answers to all questions from a service of its own."""
    folder = tmp_path_factory.mktemp("notes")
    with running_service(
        data_dir=folder, embedding_url=minilm_url, search_engine=engine
    ) as service:
        yield Asked(service.client)


def test_there_are_questions_of_every_kind(asked: Asked) -> None:
    counts = {name: len(asked.of(name)) for name in (KNOWN, LURED, _NATURAL)}
    assert counts[KNOWN] >= 40, counts
    assert counts[LURED] >= 40, counts
    assert counts[_NATURAL] == 30, counts


@pytest.mark.parametrize("score", ["recall_1", "mrr"])
def test_a_known_item_is_found_as_well_as_by_words_alone(asked: Asked, score: str) -> None:
    ours, words = (getattr(asked.means(KNOWN, name), score) for name in (DEFAULT, "text"))
    assert ours >= words, f"{score} {ours:.3f} < {words:.3f}\n{asked.lost(KNOWN, score, 'text')}"


def test_the_title_of_another_memory_lures_nobody(asked: Asked) -> None:
    share = asked.means(LURED).recall_1
    wrong = _told(pair for pair in asked.of(LURED) if not pair[1].scored(pair[0]).recall_1)
    assert share >= _LURED_FLOOR, f"hit@1 is {share:.3f}\n{wrong}"


def test_the_phrase_that_was_told_over_dinner_comes_first(asked: Asked) -> None:
    [(question, answer)] = [one for one in asked.of(_NATURAL) if "dinner" in one[0].text]
    assert answer.scored(question).recall_1 == 1, answer.ranked[:3]


def test_a_natural_question_finds_its_sections_among_the_first_five(asked: Asked) -> None:
    share = asked.means(_NATURAL).recall_5
    missed = _told(pair for pair in asked.of(_NATURAL) if not pair[1].scored(pair[0]).full_5)
    assert share >= _NATURAL_FLOOR, f"R@5 is {share:.3f}\n{missed}"


@pytest.mark.parametrize("other", _OTHERS)
def test_no_single_way_finds_more_of_the_natural_questions(asked: Asked, other: str) -> None:
    ours, theirs = (asked.means(_NATURAL, name).recall_5 for name in (DEFAULT, other))
    lost = asked.lost(_NATURAL, "recall_5", other)
    assert ours >= theirs, f"R@5: default {ours:.3f}, {other} {theirs:.3f}\n{lost}"


def _told(pairs: Iterator[tuple[Question, Answer]]) -> str:
    return "\n".join(
        f"{question.text!r} wants {', '.join(question.gold)}; got {_first(answer.ranked)}"
        for question, answer in pairs
    )


def _first(ranked: Sequence[str]) -> str:
    return ", ".join(ranked[:3])
