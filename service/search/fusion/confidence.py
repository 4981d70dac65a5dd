"""How sure an answer is: three numbers of its candidates, and the chance that they stand for; pure.

The constants are those of scripts/fit_confidence.py, fitted on one half of public sets' questions
and on questions asked of a store that knows nothing of them; docs/recall.md shows, on the other
half, how often an answer of a given confidence is right.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from service.index.evidence import Evidence
from service.search.fusion.rrf import Fused
from service.search.fusion.scoring import Scale, Scores, SignalValues
from service.search.signals.registry import WEIGHTS

# For cosine, coverage, margin and one: with a vector, and for words alone.
_WITH_VECTOR: Final = (7.21, 1.58, 5.41, -5.61)
_BY_WORDS: Final = (0.0, 3.91, 3.41, -2.45)
# Fewer candidates than so many have no margin: it is the median margin of the fitted answers then.
_FEWEST: Final = 5
_USUAL_MARGIN: Final = 0.2
_MOST_COVERAGE: Final = 1.5


@dataclass(frozen=True, slots=True)
class Certainty:
    """What tells a good answer from the best of a bad lot.

    `cosine` is the greatest of all candidates, None without a vector; `coverage` the first hit's
    BM25 over that of a text which holds every word of the question once; `margin` by how much the
    fifth hit's score falls behind the first's, in shares of it.
    """

    cosine: float | None
    coverage: float
    margin: float

    @property
    def confidence(self) -> float:
        """The chance that one of the first five is an answer, 0..1."""
        weights = _BY_WORDS if self.cosine is None else _WITH_VECTOR
        coverage = min(self.coverage, _MOST_COVERAGE)
        values = (self.cosine or 0.0, coverage, self.margin, 1.0)
        total = math.fsum(w * value for w, value in zip(weights, values, strict=True))
        return round(1 / (1 + math.exp(-total)), 4)


def margin_of(scores: list[float]) -> float:
    """Return the margin of scores in descending order."""
    if len(scores) < _FEWEST or scores[0] <= 0:
        return _USUAL_MARGIN
    return (scores[0] - scores[_FEWEST - 1]) / scores[0]


def certainty_of(values: SignalValues, fused: Sequence[Fused]) -> Certainty:
    """Return how sure hits are that come from these candidates, or along the graph from them."""
    cosines = values.features.evidence.values["cosines"][: len(values.keys)]
    has_vectors = not np.isnan(cosines).all()
    rows = {key: row for row, key in enumerate(values.keys)}
    row = rows.get(fused[0].id) if fused else None
    text = 0.0 if row is None else float(values.features.text[row])
    whole = values.features.whole
    return Certainty(
        float(np.nanmax(cosines)) if has_vectors else None,
        text / whole if whole > 0 else 0.0,
        margin_of([hit.score for hit in fused]),
    )


def certainty_of_ranks(evidence: Evidence, hits: Sequence[Fused]) -> Certainty | None:
    """Return how sure hits are that were fused by rank: by what their scores would be."""
    if not evidence.candidates:
        return None
    values, scores = SignalValues.of(evidence), Scores()
    scores.add(values, Scale.of(values).shares(values, WEIGHTS))
    best = sorted(scores.total.values(), reverse=True)
    first = [hit for hit in hits if hit.id in scores.total][:1]
    return replace(certainty_of(values, first), margin=margin_of(best))
