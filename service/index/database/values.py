"""What the store's rows say of each memory in regard to a question, by name.

A new value is a function here, one of the same name in resident/values.py, and a row in both
tables. Rows are those of evidence.surql.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Names, Question
from service.kinds import OUTDATED

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """The question, the names in it with all their spellings (by agent), and who mentions them.

    `mentions` gives the places of the words of concepts that may be lacking, by memory.
    """

    question: Question
    spellings: Mapping[str, Names]
    mentions: Mapping[str, frozenset[int]]


Value = Callable[[Sequence[Row], Told], NDArray[Any]]


def cosines(rows: Sequence[Row], _told: Told) -> NDArray[np.float32]:
    """Return how near each memory is to the question, -1 to 1; NaN without a vector."""
    found = (row.get("cosine") for row in rows)
    return np.array([np.nan if cosine is None else cosine for cosine in found], np.float32)


def is_named(rows: Sequence[Row], told: Told) -> NDArray[np.bool_]:
    """Return whether the question names each memory's subject."""
    return np.array([row.get("subject") in told.spellings[row["agent"]] for row in rows], np.bool_)


def named_words(rows: Sequence[Row], told: Told) -> NDArray[np.bool_]:
    """Return which of the question's words name each memory's subject [row, word]."""
    words = np.zeros((len(rows), len(told.question.words)), np.bool_)
    for place, row in enumerate(rows):
        named = told.spellings[row["agent"]].get(row.get("subject") or "", frozenset())
        words[place, list(named)] = True
    return words


def mentioned_words(rows: Sequence[Row], told: Told) -> NDArray[np.bool_]:
    """Return which of the question's words name a concept that each memory mentions [row, word].

    Of concepts that go by several names, or were given without a word: who mentions them holds the
    words of their name.
    """
    words = np.zeros((len(rows), len(told.question.words)), np.bool_)
    for place, row in enumerate(rows):
        words[place, sorted(told.mentions.get(row["id"], ()))] = True
    return words


def occurred_micros(rows: Sequence[Row], _told: Told) -> NDArray[np.int64]:
    """Return when each memory happened, in microseconds since 1970."""
    return np.array([row.get("occurred_micros") or 0 for row in rows], np.int64)


def is_turn(rows: Sequence[Row], _told: Told) -> NDArray[np.bool_]:
    """Return whether each memory belongs to a session."""
    return np.array([row.get("session") is not None for row in rows], np.bool_)


def is_outdated(rows: Sequence[Row], _told: Told) -> NDArray[np.bool_]:
    """Return whether each memory is told not to hold any more."""
    return np.array([OUTDATED in row["tags"] for row in rows], np.bool_)


def votes(rows: Sequence[Row], _told: Told) -> NDArray[np.int64]:
    """Return how many said that each memory helped, and how many that it did not [row, 2].

    Those for its summary count for a source as well: it is what a source is shown as.
    """
    return np.array([row["votes"] for row in rows], np.int64).reshape(len(rows), 2)


VALUES: Final[Mapping[str, Value]] = {
    "cosines": cosines,
    "is_named": is_named,
    "named_words": named_words,
    "mentioned_words": mentioned_words,
    "is_turn": is_turn,
    "occurred_micros": occurred_micros,
    "is_outdated": is_outdated,
    "votes": votes,
}
