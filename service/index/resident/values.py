"""What one agent's index knows of each memory in regard to a question, by name.

A new value is a function here, one of the same name in database/values.py, and a row in both
tables.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Question
from service.index.resident.agent_index import AgentIndex

Rows = NDArray[np.intp]
Value = Callable[[AgentIndex, Question, Rows], NDArray[Any]]


def cosines(index: AgentIndex, question: Question, rows: Rows) -> NDArray[np.float32]:
    """Return how near each memory is to the question, -1 to 1; NaN without a vector."""
    vectors, vector = index.vectors, question.vector
    if vectors is None or vector is None or vectors.dimensions != len(vector):
        return np.full(len(rows), np.nan, np.float32)
    return vectors.cosines(vector, rows)


def is_named(index: AgentIndex, question: Question, rows: Rows) -> NDArray[np.bool_]:
    """Return whether the question names each memory's subject."""
    names = [hash(name) for name in index.graph.spellings(question.names)]
    return np.isin(index.columns.subjects[rows], np.array(names, np.int64))


def named_words(index: AgentIndex, question: Question, rows: Rows) -> NDArray[np.bool_]:
    """Return which of the question's words name each memory's subject [row, word]."""
    words = np.zeros((len(rows), len(question.words)), np.bool_)
    names = {hash(n): places for n, places in index.graph.spellings(question.names).items()}
    for row in np.flatnonzero(is_named(index, question, rows)):
        words[row, list(names[int(index.columns.subjects[rows[row]])])] = True
    return words


def mentioned_words(index: AgentIndex, question: Question, rows: Rows) -> NDArray[np.bool_]:
    """Return which of the question's words name a concept that each memory mentions [row, word].

    Of concepts that go by several names: who mentions others holds the words of their name.
    """
    words = np.zeros((len(rows), len(question.words)), np.bool_)
    for concept, places in index.graph.concepts_named(question.names).items():
        # Faster than a sorted search: a hub is mentioned by tens of thousands.
        mentions = np.zeros(len(index.keys), np.bool_)
        mentions[np.array(index.graph.rows_of(concept.id[1]), np.intp)] = True
        words[:, sorted(places)] |= mentions[rows][:, None]
    return words


def occurred_micros(index: AgentIndex, _question: Question, rows: Rows) -> NDArray[np.int64]:
    """Return when each memory happened, in microseconds since 1970."""
    return index.columns.occurred_at[rows]


def is_turn(index: AgentIndex, _question: Question, rows: Rows) -> NDArray[np.bool_]:
    """Return whether each memory belongs to a session."""
    return index.columns.in_session[rows]


VALUES: Final[Mapping[str, Value]] = {
    "cosines": cosines,
    "is_named": is_named,
    "named_words": named_words,
    "mentioned_words": mentioned_words,
    "is_turn": is_turn,
    "occurred_micros": occurred_micros,
}
