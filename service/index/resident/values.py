"""What one agent's index knows of each memory in regard to a question, by name.

A new value is a function here, one of the same name in database/values.py, and a row in both
tables.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Corpus, Question, mentions_of
from service.index.given import MOST_MEMORIES, are_looked_up, given
from service.index.resident.agent_index import AgentIndex
from service.index.resident.postings import MOST_COUNTED
from service.index.resident.text import TextIndex
from service.kinds import OUTDATED
from service.records import Concept
from service.text.digests import digest_of_name

Rows = NDArray[np.intp]


@dataclass(slots=True)
class Told:
    """A question, what it names in one agent's index, and what all memories say of its words.

    `subjects` gives the places of the words of each name, by the digest of each slug that stands
    for it; `concepts` are those of several names, and those that a memory was given without their
    words, with the places of these.
    """

    question: Question
    subjects: Mapping[int, list[int]]
    concepts: Mapping[Concept, frozenset[int]]
    _corpus: Corpus | None = None

    @classmethod
    def of(cls, index: AgentIndex, question: Question) -> "Told":
        """Look its words and names up, once for all that one search asks.

        A question that is being embedded is the same one when it has its vector: it is known by its
        names, the same object.
        """
        told = index.told
        if not isinstance(told, cls) or told.question.names is not question.names:
            names = index.graph.spellings(question.names)
            subjects = {digest_of_name(name): list(places) for name, places in names.items()}
            concepts = index.graph.concepts_named(question.names)
            if len(question.words) <= MOST_COUNTED:  # of more, nothing is kept
                index.text.look_up(question.words)
            if are_looked_up(question):
                concepts |= _given(index, question)
            told = cls(question, subjects, concepts)
            index.told = told
        told.question = question
        return told

    def corpus_of(self, text: TextIndex, frequencies: NDArray[np.float32]) -> Corpus:
        """Return the corpus, the same one while `frequencies` are: so long nothing was written."""
        known = self._corpus
        if known is None or known.document_frequencies is not frequencies:
            mentions = mentions_of(self.question, self.concepts)
            known = self._corpus = Corpus(
                frequencies, mentions, self.question.plain, text.documents, text.words
            )
        return known


def _given(index: AgentIndex, question: Question) -> dict[Concept, frozenset[int]]:
    named = index.graph.concepts_of_one_name(question.names, MOST_MEMORIES)
    rows = {concept: index.graph.rows_of(concept.id[1]) for concept in named}
    return given(
        named,
        {
            concept: index.text.count(question.words, np.array(mentioning, np.intp)).counts
            for concept, mentioning in rows.items()
        },
    )


Value = Callable[[AgentIndex, Told, Rows], NDArray[Any]]


def cosines(index: AgentIndex, told: Told, rows: Rows) -> NDArray[np.float32]:
    """Return how near each memory is to the question, -1 to 1; NaN without a vector."""
    vectors, vector = index.vectors, told.question.vector
    if vectors is None or vector is None or vectors.dimensions != len(vector):
        return np.full(len(rows), np.nan, np.float32)
    return vectors.cosines(vector, rows)


def is_named(index: AgentIndex, told: Told, rows: Rows) -> NDArray[np.bool_]:
    """Return whether the question names each memory's subject."""
    subjects = index.columns.subjects[rows].tolist()
    return np.array([subject in told.subjects for subject in subjects], np.bool_)


def named_words(index: AgentIndex, told: Told, rows: Rows) -> NDArray[np.bool_]:
    """Return which of the question's words name each memory's subject [row, word]."""
    words = np.zeros((len(rows), len(told.question.words)), np.bool_)
    for row, subject in enumerate(index.columns.subjects[rows].tolist()):
        if subject in told.subjects:
            words[row, told.subjects[subject]] = True
    return words


def mentioned_words(index: AgentIndex, told: Told, rows: Rows) -> NDArray[np.bool_]:
    """Return which of the question's words name a concept that each memory mentions [row, word].

    Of concepts that go by several names, or were given without a word: who mentions them holds the
    words of their name.
    """
    words = np.zeros((len(rows), len(told.question.words)), np.bool_)
    for concept, places in told.concepts.items():
        # Faster than a sorted search: a hub is mentioned by tens of thousands.
        mentions = np.zeros(len(index.keys), np.bool_)
        mentions[np.array(index.graph.rows_of(concept.id[1]), np.intp)] = True
        words[:, sorted(places)] |= mentions[rows][:, None]
    return words


def occurred_micros(index: AgentIndex, _told: Told, rows: Rows) -> NDArray[np.int64]:
    """Return when each memory happened, in microseconds since 1970."""
    return index.columns.occurred_at[rows]


def is_turn(index: AgentIndex, _told: Told, rows: Rows) -> NDArray[np.bool_]:
    """Return whether each memory belongs to a session."""
    return index.columns.in_session(rows)


def is_outdated(index: AgentIndex, _told: Told, rows: Rows) -> NDArray[np.bool_]:
    """Return whether each memory is told not to hold any more."""
    return index.columns.with_tag(OUTDATED, rows)


def votes(index: AgentIndex, _told: Told, rows: Rows) -> NDArray[np.int64]:
    """Return how many said that each memory helped, and how many that it did not [row, 2].

    Those for its summary count for a source as well: it is what a source is shown as.
    """
    told, held = np.zeros((len(rows), 2), np.int64), index.columns.votes
    summaries = index.columns.summaries
    for place, row in enumerate(rows.tolist() if held else ()):
        if row in held:
            told[place] += held[row]
        summary = index.rows.get(summaries[row]) if row in summaries else None
        if summary in held:
            told[place] += held[summary]
    return told


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
