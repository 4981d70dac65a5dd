"""How sure an answer is: four numbers of its candidates, and the chance that they stand for; pure.

The constants are those of scripts/fit_confidence.py, fitted on one half of public sets' questions,
asked of stores of many sizes, and on questions that nothing there answers; docs/recall.md shows, on
the other half, how often an answer of a given confidence is right.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from service.index.evidence import Evidence
from service.search.fusion.rrf import Fused
from service.search.fusion.scoring import Scale, SignalValues
from service.search.fusion.weighing import sum_up
from service.search.signals.features import Features
from service.search.signals.registry import WEIGHTS
from service.search.signals.telling import idf_of

# For cosine, coverage, margin, speaker and one: with a vector, for words alone, and where the
# question names who speaks. Then only whose turn holds the words tells: "What did Ann paint?" is as
# near in meaning to the picture that Ben painted.
_WITH_VECTOR: Final = (6.29, 5.94, 2.98, 0.0, -6.11)
_BY_WORDS: Final = (0.0, 8.35, 2.5, 0.0, -3.93)
_OF_SPEAKER: Final = (0.0, 1.5, 0.0, 1.81, -0.69)
# The confidence is about so many results.
_FIRST: Final = 5
# "Fix this" and "is it there" tell less than so many words of one memory each, and a note that
# holds them is no answer for that alone: only as far as something is near in meaning too, as it is
# to "gpu" (docs/decisions/0064).
_LEAST_WORDS: Final = 1.8
_NEAR: Final = 0.37
# Fewer candidates than these have no margin: it is about that of wrong answers then (their median
# is .26), so that a small store is no surer for being small.
_USUAL_MARGIN: Final = 0.2


@dataclass(frozen=True, slots=True)
class Certainty:
    """What tells a good answer from the best of a bad lot.

    `cosine` is the greatest of all candidates, None without a vector. `coverage` is the greatest
    share of what the question tells that one of the first five holds; a word that no memory holds
    is told as well. Of a question that tells little it is small, unless it names what a memory is
    about, or something is near to it in meaning.
    `margin` is by how much the fifth hit's score falls behind the first's, in shares of it. Where
    the question names who speaks, `coverage` is of what it tells beside the name, and of the
    speaker's own turns among the five; `speaker` is by how much it exceeds that of all others'
    turns, below 0 where it is less. It is None where no speaker is named.
    """

    cosine: float | None
    coverage: float
    margin: float
    speaker: float | None = None

    @property
    def confidence(self) -> float:
        """The chance that one of the first five is an answer, 0..1."""
        values = (self.cosine or 0.0, self.coverage, self.margin, self.speaker or 0.0, 1.0)
        total = math.fsum(w * value for w, value in zip(self._weights, values, strict=True))
        return round(1 / (1 + math.exp(-total)), 4)

    def of_time(self, is_held: bool) -> "Certainty":
        """Return the certainty of a question that asks for a time alone, and whether it is held.

        What such a question's words are near to in meaning says nothing of that time.
        """
        return Certainty(None, 1.0 if is_held else 0.0, self.margin)

    @property
    def _weights(self) -> tuple[float, ...]:
        if self.speaker is not None:
            return _OF_SPEAKER
        return _BY_WORDS if self.cosine is None else _WITH_VECTOR


def margin_of(scores: Sequence[float]) -> float:
    """Return the margin of scores in descending order."""
    if len(scores) < _FIRST or scores[0] <= 0:
        return _USUAL_MARGIN
    return (scores[0] - scores[_FIRST - 1]) / scores[0]


def certainty_of(values: SignalValues, hits: Sequence[int], scores: Sequence[float]) -> Certainty:
    """Return how sure hits are that come from these candidates, or along the graph from them.

    `hits` are their rows among the candidates, best first, beyond them for what is none; `scores`
    are theirs, or those that they would have.
    """
    evidence = values.features.evidence
    cosines = evidence.values["cosines"][: evidence.candidates]
    known = cosines[~np.isnan(cosines)]
    first = [row for row in hits[:_FIRST] if row < evidence.candidates]
    cosine = float(known.max()) if len(known) else None
    coverage, speaker = _coverage_of(values.features, first, cosine)
    return Certainty(cosine, coverage, margin_of(scores), speaker)


def certainty_of_ranks(evidence: Evidence, hits: Sequence[Fused]) -> Certainty | None:
    """Return how sure hits are that were fused by rank: by what their scores would be."""
    if not evidence.candidates:
        return None
    values = SignalValues.of(evidence)
    best = sorted(sum_up(Scale.of(values).shares(values, WEIGHTS).rows), reverse=True)
    rows = {key: row for row, key in enumerate(evidence.keys[: evidence.candidates])}
    return certainty_of(values, [rows.get(hit.id, len(rows)) for hit in hits], best)


def _coverage_of(
    features: Features, first: Sequence[int], cosine: float | None
) -> tuple[float, float | None]:
    """Return coverage and speaker of a certainty; `first` are the rows of the first hits."""
    turns, speaks = features.is_turn, features.is_turn & features.is_named
    names = features.evidence.values["named_words"][speaks].any(axis=0)
    beside = np.where(names, np.float32(0), features.idf)
    if not speaks.any() or not beside.any():
        shares = _shares(features.held[first], features.idf)
        enough = 1.0 if cosine is None else _enough(features, cosine)
        return _greatest(np.where(features.is_named[first], shares, shares * enough)), None
    shares = _shares(features.held, beside)
    is_first = np.zeros(len(shares), np.bool_)
    is_first[list(first)] = True
    coverage = _greatest(shares[is_first & speaks])
    return coverage, coverage - _greatest(shares[turns & ~speaks])


def _enough(features: Features, cosine: float) -> float:
    """Return how much it says that the question's words stand somewhere, 0 to 1."""
    least = _LEAST_WORDS * float(idf_of(1, features.evidence.corpus.documents))
    return min(1.0, max(features.whole / least, (max(cosine, 0.0) / _NEAR) ** 2))


def _shares(held: np.ndarray, telling: np.ndarray) -> np.ndarray:
    """Return which share of what the words tell each row holds, 0 to 1."""
    whole = float(telling.sum())
    # No matrix product: OpenBLAS's may set the processor's flag of an invalid number for none
    # (numpy/numpy#24067), which NumPy warns of.
    shares = np.zeros(len(held)) if whole <= 0 else (held * telling).sum(axis=1) / whole
    return np.minimum(shares, 1.0)


def _greatest(shares: np.ndarray) -> float:
    return float(shares.max(initial=0.0))
