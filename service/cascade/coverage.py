"""Which texts say what a question asks for, by its words; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.text.terms import TERMS
from service.text.words import index_words, query_words


@dataclass(frozen=True, slots=True)
class Covered:
    """A text and the share of the question's words that stand in it, 0 to 1."""

    text: str
    confidence: float


def covering(question: str, texts: Sequence[str], least: float, limit: int) -> list[Covered]:
    """Return the texts that have at least such a share of the words, the best and last first."""
    wanted = {TERMS[word] for word in query_words(question).split()}
    if not wanted:
        return []
    found = [
        Covered(
            text, len(wanted & {TERMS[word] for word in index_words(text).split()}) / len(wanted)
        )
        for text in texts
    ]
    told = [(place, one) for place, one in enumerate(found) if one.confidence >= max(least, 0.01)]
    told.sort(key=lambda one: (-one[1].confidence, -one[0]))
    return [one for _, one in told[:limit]]
