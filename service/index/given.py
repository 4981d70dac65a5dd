"""Concepts of one name that a memory was given without holding their words. Pure.

What mentions a concept of several names holds its words, whatever it calls it; so does what was
given one by who wrote it, by front matter or by the name of its file, and does not say it.
"""

from collections.abc import Mapping
from typing import Final

from service.index.evidence import Floats, Question
from service.records import Concept

# Of a longer question words tell enough, and a concept of more memories links nothing by default.
_MOST_WORDS: Final = 24
MOST_MEMORIES: Final = 200


def are_looked_up(question: Question) -> bool:
    """Return whether such concepts matter to a question."""
    return len(question.words) <= _MOST_WORDS


def given(
    named: Mapping[Concept, frozenset[int]], counts: Mapping[Concept, Floats]
) -> dict[Concept, frozenset[int]]:
    """Return those of the named concepts that a memory was given, with the places of their words.

    `counts` tell how often each word of the question stands in what mentions each [row, word].
    """
    return {
        concept: places
        for concept, places in named.items()
        if not counts[concept][:, sorted(places)].all()
    }
