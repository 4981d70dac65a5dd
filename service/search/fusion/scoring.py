"""The default fusion: one score from words and meaning, alone and in context, and names; pure.

Each part is told apart, so that an answer can be explained. Words are BM25 over their greatest
among the candidates, meaning is the cosine. In context means: a memory read together with what
came just before and after it (along `follows`), so that "Yes, in March" is found by what was asked
before it. docs/decisions/0015 has the reasons, scripts/measure_recall.py the numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from service.index.evidence import Evidence, Floats, Places

# As in service/index/resident/text.py.
_K1: Final = 1.2
_B: Final = 0.75

# How many steps of context count, near and far.
_NEAR: Final = 1
REACH: Final = 5
# What a neighbour's cosine counts beside a memory's own.
_NEIGHBOUR: Final = 0.4
# A section of a document says by itself what it is about; a turn of a conversation seldom does.
_SECTION: Final = 0.25
# A memory without neighbours has no far context: its other parts count so much more.
_ALONE: Final = 1.8
# Where even the best candidate holds less than this share of the question's telling words, its
# words count less: "day" and "new" are no evidence.
_ENOUGH: Final = 0.6


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part counts, in units of a cosine."""

    vector: float = 1.0
    vector_context: float = 0.5
    text: float = 0.1
    text_context: float = 0.6
    text_far_context: float = 0.9
    named: float = 0.5
    phrase: float = 2.0
    # For happening at a time that the question names, and as much for being told within a week.
    time: float = 0.3

    def of(self, vector: float, text: float) -> "Weights":
        """Return the weights with all parts of meaning and of words multiplied."""
        return replace(
            self,
            vector=self.vector * vector,
            vector_context=self.vector_context * vector,
            text=self.text * text,
            text_context=self.text_context * text,
            text_far_context=self.text_far_context * text,
        )


WEIGHTS: Final = Weights()


@dataclass(frozen=True, slots=True)
class Parts:
    """What is scored of the memories asked about: a row for each.

    `closeness` says how much each is read in its context: 1 for a turn of a session, 0 without
    neighbours; `whole` is the BM25 of a text of average length that holds each of the question's
    words once.
    """

    values: Mapping[str, Floats]
    closeness: Floats
    whole: float

    @classmethod
    def of(cls, evidence: Evidence) -> "Parts":
        """Work them out, unweighted; meaning is 0 where a memory has no vector."""
        asked = slice(evidence.asked)
        close = _closeness(evidence)[asked]
        cosines = np.nan_to_num(np.maximum(evidence.cosines, 0))
        near = evidence.before[:, :_NEAR], evidence.after[:, :_NEAR]
        idf = _idf(evidence)
        own, own_cosines = _bm25(evidence, idf, ())[asked], cosines[asked]
        far = _bm25(evidence, idf, (evidence.before, evidence.after))[asked]
        values = {
            "vector": own_cosines,
            "vector_context": _blend(close, _smoothed(cosines, near)[asked], own_cosines),
            "text": own,
            "text_context": _blend(close, _bm25(evidence, idf, near)[asked], own),
            "text_far_context": np.where(close > 0, far, np.float32(0)),
            "named": evidence.is_named[asked].astype(np.float32),
        }
        return cls(values, close, float(idf.sum()))


@dataclass(frozen=True, slots=True)
class Scale:
    """The greatest value of each part among the candidates: what BM25 is told in shares of."""

    greatest: Mapping[str, float]

    @classmethod
    def of(cls, parts: Parts) -> "Scale":
        """Return the scale of the candidates' parts."""
        least = _ENOUGH * parts.whole
        return cls({name: float(part.max(initial=least)) for name, part in parts.values.items()})

    def shares(self, parts: Parts, weights: Weights) -> dict[str, Floats]:
        """Return what each part adds to the score; the shares of a row sum to its score."""
        factor = parts.closeness + (1 - parts.closeness) * np.float32(_ALONE)
        shares = {
            name: factor * np.float32(getattr(weights, name)) * self._relative(name, part)
            for name, part in parts.values.items()
        }
        shares["text_far_context"] *= parts.closeness
        return shares

    def _relative(self, name: str, part: Floats) -> Floats:
        most = self.greatest[name]
        if not name.startswith("text") or most <= 0:
            return part
        relative: Floats = np.minimum(part / most, 1)
        return relative


def _closeness(evidence: Evidence) -> Floats:
    has_neighbours = (evidence.before[:, :1] >= 0) | (evidence.after[:, :1] >= 0)
    close = np.where(evidence.is_turn, np.float32(1), np.float32(_SECTION))
    return np.where(has_neighbours.any(axis=1), close, np.float32(0))


def _blend(closeness: Floats, in_context: Floats, own: Floats) -> Floats:
    blended: Floats = closeness * in_context + (1 - closeness) * own
    return blended


def _smoothed(cosines: Floats, ways: Sequence[Places]) -> Floats:
    """Return the weighted mean of each cosine and its neighbours'; alone it is itself."""
    total, weight = cosines.copy(), np.ones(len(cosines), np.float32)
    for way in ways:
        for rows in way.T:
            total += np.where(rows >= 0, cosines[rows], 0) * np.float32(_NEIGHBOUR)
            weight += (rows >= 0) * np.float32(_NEIGHBOUR)
    mean: Floats = total / weight
    return mean


def _idf(evidence: Evidence) -> Floats:
    """Return how telling each word is, as in service/index/resident/text.py: never negative."""
    # Counted one after the other in a store that is written to, holders may exceed documents.
    without = np.maximum(evidence.documents - evidence.holders, 0)
    idf: Floats = np.log1p((without + 0.5) / (evidence.holders + 0.5)).astype(np.float32)
    return idf


def _bm25(evidence: Evidence, idf: Floats, ways: Sequence[Places]) -> Floats:
    """Return BM25 of memories read together with their neighbours as one text.

    As in service/index/resident/text.py a word that stands tf times counts 1 + ln(tf).
    """
    counts, lengths = evidence.counts.copy(), evidence.lengths.copy()
    texts = np.ones(len(lengths), np.float32)
    for way in ways:
        for rows in way.T:
            known = np.flatnonzero(rows >= 0)
            counts[known] += evidence.counts[rows[known]]
            lengths[known] += evidence.lengths[rows[known]]
            texts[known] += 1
    # A text at a chain's end is short for one with neighbours; one that stands alone is not.
    texts = np.where(texts > 1, texts[texts > 1].mean() if (texts > 1).any() else 1, texts)
    average = max(1.0, evidence.words / max(1, evidence.documents))
    norms = _K1 * (1 - _B + _B * lengths / (average * texts))
    damped = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    shares = (damped * (_K1 + 1) / (damped + norms[:, None])).astype(np.float32)
    # Row by row: a matrix product gives equal rows sums that differ in the last bit.
    scores: Floats = np.vecdot(shares, idf)
    return scores
