"""Answers with what they were sure by, and constants fitted to how often they are right; pure."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from scripts.recall.sets import Half

# What all questions of a kind count in a store, beside its own, which count 1. They are more of the
# lot than anybody would ask: here they are only to be told apart.
Kind = Literal["own", "absent", "stranger", "transplanted"]
_KINDS: Final[dict[Kind, float]] = {
    "own": 1.0, "absent": 0.25, "stranger": 0.25, "transplanted": 0.15,
}  # fmt: skip
# What a natural question of notes counts beside one that was made: it is what people ask.
_NATURAL: Final = 4.0
# Keeps the weights finite where a number tells right from wrong without fail.
_RIDGE: Final = 1e-4
_STEPS: Final = 50
_BINS: Final = 10
# How often answers are drawn anew for what a perfect confidence would be off by.
_DRAWS: Final = 50
NUMBERS: Final = ("cosine", "coverage", "margin", "speaker")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """One answer: the store that was asked, what kind of question, and whether it is right.

    `numbers` are those of NUMBERS, None where there is none.
    """

    store: str
    kind: Kind
    half: Half
    numbers: tuple[float | None, ...]
    is_right: bool
    has_answer: bool
    is_natural: bool = False

    @property
    def names_speaker(self) -> bool:
        """Whether the question names who speaks."""
        return self.numbers[-1] is not None


def weights_of(cases: Sequence[Case]) -> Floats:
    """Return what each case counts: every store as much as the others.

    None that is not the store's own counts more than one that is.
    """
    counts = [_NATURAL if case.is_natural else 1.0 for case in cases]
    groups = defaultdict[tuple[str, Kind, Half], float](float)
    for case, count in zip(cases, counts, strict=True):
        groups[case.store, case.kind, case.half] += count
    shares = [
        count * min(
            _KINDS[case.kind] / groups[case.store, case.kind, case.half],
            1 / max(groups[case.store, "own", case.half], 1.0),
        )
        for case, count in zip(cases, counts, strict=True)
    ]  # fmt: skip
    return np.array(shares)


def values_of(cases: Sequence[Case]) -> Floats:
    """Return the numbers of each case and a one, 0 for those that there are not."""
    return np.array([[*(number or 0.0 for number in case.numbers), 1.0] for case in cases])


def fit(cases: Sequence[Case], weights: Floats, used: Sequence[int]) -> Floats:
    """Return the constants of a logistic regression by Newton's method, 0 for unused numbers."""
    columns = [*used, len(NUMBERS)]
    values = values_of(cases)[:, columns]
    right = np.array([case.is_right for case in cases], float)
    shares = weights / weights.sum()
    ridge = np.diag([_RIDGE] * len(used) + [0.0])
    constants = np.zeros(len(columns))
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-values @ constants))
        slope = values.T @ (shares * (right - chance)) - ridge @ constants
        curve = (values * (shares * chance * (1 - chance))[:, None]).T @ values + ridge
        constants = constants + np.linalg.solve(curve, slope)
    told = np.zeros(len(NUMBERS) + 1)
    told[columns] = constants
    return told


def miss(chances: Floats, right: Floats, weights: Floats) -> float:
    """Return the expected calibration error over ten bins of equal width (Guo et al. 2017)."""
    places = np.minimum((chances * _BINS).astype(int), _BINS - 1)
    off = [abs(float((weights * (places == p) * (chances - right)).sum())) for p in range(_BINS)]
    return sum(off) / float(weights.sum())


def least_miss(chances: Floats, weights: Floats) -> float:
    """Return what chances that hold exactly would be off by: with few answers it is much."""
    draws = np.random.default_rng(0).random((_DRAWS, len(chances))) < chances
    return float(np.mean([miss(chances, draw.astype(float), weights) for draw in draws]))
