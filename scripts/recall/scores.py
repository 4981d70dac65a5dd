"""What rankings and confidences are worth: metrics, bootstrap, abstention, calibration; pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 10_000
_SEED: Final = 20260213
_BINS: Final = 10
# Of the answerable questions, so many per cent keep their answer.
KEPT_PERCENT: Final = 95


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one ranking, or their means over many; each 0..1."""

    recall_1: float
    recall_5: float
    recall_10: float
    full_5: float
    full_10: float
    ndcg_10: float
    mrr: float


LABELS: Final[Mapping[str, str]] = {
    "recall_1": "R@1", "recall_5": "R@5", "recall_10": "R@10", "full_5": "full@5",
    "full_10": "full@10", "ndcg_10": "nDCG@10", "mrr": "MRR",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Abstention:
    """What a threshold would do: `kept` of the answerable stay, `refused` of the others fall."""

    threshold: float
    kept: float
    refused: float
    answerable: int
    unanswerable: int


@dataclass(frozen=True, slots=True)
class Bin:
    """The questions whose confidence lies from `low` up to below `high` (the last: up to 1).

    `found` is the share of the answerable with evidence among the first five; None of none.
    """

    low: float
    high: float
    answerable: int
    found: float | None
    unanswerable: int


def score(gold: Mapping[str, float], ranked: Sequence[str]) -> Scores:
    """Score a ranking, best first, against the gain of every memory that is evidence.

    nDCG is trec_eval's: linear gain, log2(rank + 1), the ideal over all gold. A repeated id keeps
    its first place. Raises ZeroDivisionError without gold.
    """
    gains = [gold.get(name, 0.0) for name in dict.fromkeys(ranked)]
    found = [gain > 0 for gain in gains]
    first = next((rank for rank, is_gold in enumerate(found, 1) if is_gold), None)
    return Scores(
        recall_1=sum(found[:1]) / len(gold),
        recall_5=sum(found[:5]) / len(gold),
        recall_10=sum(found[:10]) / len(gold),
        full_5=float(sum(found[:5]) == len(gold)),
        full_10=float(sum(found[:10]) == len(gold)),
        ndcg_10=_discounted(gains) / _discounted(sorted(gold.values(), reverse=True)),
        mrr=1 / first if first else 0.0,
    )


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:10], 1))


def mean_scores(scores: Sequence[Scores]) -> Scores:
    """Return the mean of every score; raises ZeroDivisionError of none."""
    names = [field.name for field in fields(Scores)]
    return Scores(*(sum(getattr(one, name) for one in scores) / len(scores) for name in names))


def bootstrap(differences: NDArray[np.float64], resamples: int = RESAMPLES) -> list[Interval]:
    """Return each column's mean with its interval, by resampling the rows (one per question).

    Percentiles of the means; all columns share the draws, which are the same in every run.
    """
    draw, count = np.random.default_rng(_SEED), len(differences)
    means = np.empty((resamples, differences.shape[1]))
    for place in range(resamples):
        times = np.bincount(draw.integers(count, size=count), minlength=count)
        means[place] = times @ differences / count
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    columns = zip(differences.mean(axis=0), low, high, strict=True)
    return [Interval(*(float(value) for value in column)) for column in columns]


def abstention(answerable: Sequence[float], unanswerable: Sequence[float]) -> Abstention | None:
    """Return the highest threshold that keeps 95 % of the answerable; None if one side is empty.

    Given the confidences. An answer is kept from the threshold on, as `min_confidence` does.
    """
    if not answerable or not unanswerable:
        return None
    threshold = sorted(answerable)[len(answerable) * (100 - KEPT_PERCENT) // 100]
    return Abstention(
        threshold=threshold,
        kept=sum(one >= threshold for one in answerable) / len(answerable),
        refused=sum(one < threshold for one in unanswerable) / len(unanswerable),
        answerable=len(answerable),
        unanswerable=len(unanswerable),
    )


def calibration(
    answerable: Sequence[tuple[float, bool]], unanswerable: Sequence[float]
) -> list[Bin]:
    """Sort confidences into ten bins; an answerable one comes with whether it found evidence."""
    found: list[list[bool]] = [[] for _ in range(_BINS)]
    others = [0] * _BINS
    for confidence, is_found in answerable:
        found[_bin(confidence)].append(is_found)
    for confidence in unanswerable:
        others[_bin(confidence)] += 1
    bounds = pairwise(step / _BINS for step in range(_BINS + 1))
    return [
        Bin(low, high, len(flags), sum(flags) / len(flags) if flags else None, other)
        for (low, high), flags, other in zip(bounds, found, others, strict=True)
    ]


def _bin(confidence: float) -> int:
    return min(int(confidence * _BINS), _BINS - 1)
