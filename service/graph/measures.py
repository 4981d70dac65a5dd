"""What the vectors say of pairs that an edge joins, and the verdict on the edge; pure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from service.store.vector_forms import Matrix

Integers = NDArray[np.int64]
Verdict = Literal["pays", "noisy", "too few to tell"]

# What one random pair in twenty exceeds counts as near.
CHANCE: Final = 0.05
# Of fewer random pairs less than one is expected to be near.
FEWEST_PAIRS: Final = 20
# Below it joined pairs are hardly nearer than random ones.
LEAST_LIFT: Final = 2.0
# A share must lie so many standard errors above chance: of edges that join at random one in forty
# passes by luck.
_STANDARD_ERRORS: Final = 2.0
# A walk takes its seeds from the first 20 by vector: what is among them needs no edge.
NEAREST: Final = 20
# The float32 sum of the same products in another order differs by about this much.
_ROUNDING: Final = 1e-6

_BANDS: Final = ((1, 1), (2, 2), (3, 5), (6, 20), (21, 200), (201, None))


@dataclass(frozen=True, slots=True)
class Band:
    """Concepts by the number of memories that mention them.

    `linking` counts those that join memories: in two at least, and not above the hub cap.
    """

    memories: str
    concepts: int
    references: int
    linking: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured on a kind of edge; None where there was nothing to measure.

    `precision` is the share that is nearer than 95 % of random pairs, `lift` that share over the
    5 % of chance, `reach` the share where neither is among the other's 20 nearest.
    """

    pairs: int
    precision: float | None = None
    lift: float | None = None
    reach: float | None = None


def cosines(rows: Matrix, others: Matrix) -> Matrix:
    """Return the cosine of each row with the row of the same index; all have length 1."""
    values: Matrix = np.vecdot(rows, others)
    return values


def near_cosine(random_pairs: Matrix) -> float | None:
    """Return the cosine that one random pair in twenty exceeds; None without any pair."""
    return float(np.quantile(random_pairs, 1 - CHANCE)) if len(random_pairs) else None


def count_nearer(queries: Matrix, thresholds: Matrix, vectors: Matrix, own: Integers) -> Integers:
    """Return for each query how many of `vectors` are nearer to it than its threshold.

    `own` is the index of each query itself among `vectors`, which does not count; negative if it
    is not among them.
    """
    nearness = queries @ vectors.T
    rows = np.flatnonzero(own >= 0)
    nearness[rows, own[rows]] = -np.inf
    counts: Integers = np.count_nonzero(nearness > (thresholds + _ROUNDING)[:, None], axis=1)
    return counts


def reach_of(nearer: Integers) -> float | None:
    """Return the share of pairs that nearest neighbours miss; None without any pair.

    `nearer` has a row for each pair: how many lie nearer to the one than the other, and vice versa.
    """
    return float((nearer >= NEAREST).all(axis=1).mean()) if len(nearer) else None


def measured(joined: Matrix, near: float | None, reach: float | None) -> Measured:
    """Put together what the cosines of joined pairs say; `near` is that of `near_cosine`."""
    if near is None or not len(joined):
        return Measured(len(joined))
    precision = float((joined > near).mean())
    return Measured(
        pairs=len(joined),
        precision=round(precision, 4),
        lift=round(precision / CHANCE, 2),
        reach=None if reach is None else round(reach, 4),
    )


def verdict_on(edge: Measured) -> tuple[Verdict, str]:
    """Return the verdict on a kind of edge and the sentence that gives its reason."""
    if edge.pairs < FEWEST_PAIRS or edge.lift is None:
        return "too few to tell", (
            f"{edge.pairs} pairs of memories with vectors; {FEWEST_PAIRS} are needed."
        )
    lift = f"{edge.precision:.0%} of joined pairs are near, {edge.lift:g} times chance"
    if edge.lift < LEAST_LIFT:
        return "noisy", f"{lift}; below {LEAST_LIFT:g} times an edge says little."
    standard_error = math.sqrt(CHANCE * (1 - CHANCE) / edge.pairs)
    if (edge.lift - 1) * CHANCE < _STANDARD_ERRORS * standard_error:
        return "too few to tell", f"{lift}; among {edge.pairs} pairs that may be luck."
    if edge.reach is None:
        return "pays", f"{lift}."
    return "pays", f"{lift}; nearest neighbours miss {edge.reach:.0%} of them."


def bands(memories: Iterable[int], hub_cap: int) -> list[Band]:
    """Sort concepts into bands by the number of memories that mention each."""
    sizes = list(memories)
    return [_band(sizes, first, last, hub_cap) for first, last in _BANDS]


def _band(sizes: Sequence[int], first: int, last: int | None, hub_cap: int) -> Band:
    inside = [size for size in sizes if size >= first and (last is None or size <= last)]
    name = f"{first}" if first == last else f"{first}-{last}" if last else f"{first}+"
    return Band(name, len(inside), sum(inside), sum(1 < size <= hub_cap for size in inside))
