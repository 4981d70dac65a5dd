"""What was asked of a data set and what every variant answered; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scripts.recall.scores import Scores, score
from scripts.recall.sets import Question, section_of

DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one variant answered: the data set's ids, best first, and the client's time."""

    ranked: tuple[str, ...]
    confidence: float
    milliseconds: float
    is_complete: bool = True

    def scored(self, question: Question) -> Scores:
        """Return the scores; raises ZeroDivisionError for a question without evidence."""
        ranked = map(section_of, self.ranked) if question.of_sections else self.ranked
        return score(question.gold, list(ranked))


@dataclass(frozen=True, slots=True)
class About:
    """Which data set was measured, and with what; `left_out` for want of loaded evidence."""

    name: str
    memories: int
    engine: str
    model: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions of a data set, and every variant's answers in their order."""

    about: About
    questions: Sequence[Question]
    answers: Mapping[str, Sequence[Answer]]

    @property
    def natural(self) -> list[int]:
        """The places of the natural questions of notes."""
        return [place for place, question in enumerate(self.questions) if question.of_sections]


def pooled(asked: Sequence[Asked]) -> Asked:
    """Return the natural questions of all sets of notes, asked in the same ways, as one set."""
    first = asked[0]
    about = About(
        "natural questions", sum(one.about.memories for one in asked),
        first.about.engine, first.about.model, sum(one.about.left_out for one in asked),
    )  # fmt: skip
    questions = [one.questions[place] for one in asked for place in one.natural]
    answers = {
        name: [one.answers[name][place] for one in asked for place in one.natural]
        for name in first.answers
    }
    return Asked(about, questions, answers)
