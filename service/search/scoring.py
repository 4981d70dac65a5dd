"""The default fusion: one score from words and meaning, alone and in context, and names; pure.

s = cos + .5 cos in context + words + words in context + named. Each part is told apart, so that an
answer can be explained. Words are BM25 over their greatest among the candidates. In context
means: a memory read together with what came just before and after it (along `follows`), so that
"Yes, in March" is found by what was asked before it. docs/decisions/0015 has the reasons,
scripts/measure_recall.py the numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from service.search.evidence import Evidence, Floats, Places

K1: Final = 1.2
B: Final = 0.75

# How many steps of context count, near and far.
_NEAR: Final = 1
REACH: Final = 5
# What a neighbour's cosine counts beside a memory's own.
_NEIGHBOUR: Final = 0.4


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part counts, in units of a cosine."""

    vector: float = 1.0
    vector_context: float = 0.5
    text: float = 0.2
    text_context: float = 0.6
    text_far_context: float = 0.8
    named: float = 0.4
    phrase: float = 2.0


WEIGHTS: Final = Weights()


def parts_of(evidence: Evidence) -> dict[str, Floats]:
    """Return each part for the rows asked about, unweighted; 0 where a memory has no vector."""
    cosines = np.nan_to_num(np.maximum(evidence.cosines, 0))
    near = evidence.before[:, :_NEAR], evidence.after[:, :_NEAR]
    parts = {
        "vector": cosines,
        "vector_context": _smoothed(cosines, near),
        "text": _bm25(evidence, ()),
        "text_context": _bm25(evidence, near),
        "text_far_context": _bm25(evidence, (evidence.before, evidence.after)),
        "named": evidence.is_named.astype(np.float32),
    }
    return {name: part[: evidence.asked] for name, part in parts.items()}


@dataclass(frozen=True, slots=True)
class Scale:
    """The greatest value of each part among the candidates: what BM25 is told in shares of."""

    greatest: Mapping[str, float]

    @classmethod
    def of(cls, parts: Mapping[str, Floats]) -> "Scale":
        """Return the scale of the candidates' parts."""
        return cls({name: float(part.max(initial=0)) for name, part in parts.items()})

    def shares(self, parts: Mapping[str, Floats], weights: Weights) -> dict[str, Floats]:
        """Return what each part adds to the score; the shares of a row sum to its score."""
        return {
            name: np.float32(getattr(weights, name)) * self._relative(name, part)
            for name, part in parts.items()
        }

    def _relative(self, name: str, part: Floats) -> Floats:
        most = self.greatest[name]
        if not name.startswith("text") or most <= 0:
            return part
        relative: Floats = np.minimum(part / most, 1)
        return relative


def _smoothed(cosines: Floats, ways: Sequence[Places]) -> Floats:
    """Return the weighted mean of each cosine and its neighbours'; alone it is itself."""
    total, weight = cosines.copy(), np.ones(len(cosines), np.float32)
    for way in ways:
        for rows in way.T:
            total += np.where(rows >= 0, cosines[rows], 0) * np.float32(_NEIGHBOUR)
            weight += (rows >= 0) * np.float32(_NEIGHBOUR)
    mean: Floats = total / weight
    return mean


def _bm25(evidence: Evidence, ways: Sequence[Places]) -> Floats:
    """Return BM25 of memories read together with their neighbours as one text.

    As in service/index/text.py: idf never negative, a word that stands tf times counts 1 + ln(tf).
    """
    counts, lengths = evidence.counts.copy(), evidence.lengths.copy()
    texts = np.ones(len(lengths), np.float32)
    for way in ways:
        for rows in way.T:
            known = np.flatnonzero(rows >= 0)
            counts[known] += evidence.counts[rows[known]]
            lengths[known] += evidence.lengths[rows[known]]
            texts[known] += 1
    average = max(1.0, evidence.words / max(1, evidence.documents))
    norms = K1 * (1 - B + B * lengths / (average * texts))
    idf = np.log1p((evidence.documents - evidence.holders + 0.5) / (evidence.holders + 0.5))
    damped = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    scores: Floats = (damped * (K1 + 1) / (damped + norms[:, None]) @ idf).astype(np.float32)
    return scores
