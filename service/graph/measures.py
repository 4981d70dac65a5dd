"""What the vectors say of pairs that an edge joins, and the verdict on the edge; pure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Counts = NDArray[np.int64]
Verdict = Literal["pays", "noisy", "too few to tell"]

# What one random pair in twenty exceeds counts as near.
CHANCE: Final = 0.05
# Of fewer pairs not one need be near by chance.
FEWEST_PAIRS: Final = 20
# Below it the pairs are hardly nearer than any two memories are.
LEAST_LIFT: Final = 2.0
# So far above chance a share must lie to be no luck; about one in forty unrelated edges passes.
_STANDARD_ERRORS: Final = 2.0
# A walk takes its seeds from the first 20 by vector: what is among them needs no edge.
NEAREST: Final = 20
# float32 sums of one product in another order differ by about as much.
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
    """What was found of an edge's pairs; None where there was nothing to measure.

    `precision` is the share that is nearer than 95 % of random pairs, `lift` that share over the
    5 % of chance, `reach` the share where neither is among the other's 20 nearest.
    """

    pairs: int
    precision: float | None = None
    lift: float | None = None
    reach: float | None = None


def unit(vectors: Floats) -> Floats:
    """Return the rows at length 1; what has no direction becomes zeros, near to nothing."""
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        scaled = np.asarray(vectors / lengths, np.float32)
    scaled[~np.isfinite(scaled).all(axis=1)] = 0
    return scaled


def cosines(ones: Floats, others: Floats) -> Floats:
    """Return the cosine of each row with the row beside it; both are unit vectors."""
    found: Floats = np.vecdot(ones, others)
    return found


def near_cosine(random_pairs: Floats) -> float | None:
    """Return the cosine that one random pair in twenty exceeds; None without any pair."""
    return float(np.quantile(random_pairs, 1 - CHANCE)) if len(random_pairs) else None


def count_nearer(asked: Floats, thresholds: Floats, vectors: Floats, own: Counts) -> Counts:
    """Return for each asked vector how many of `vectors` are nearer to it than its threshold.

    `own` is each one's own place among `vectors`, which does not count; negative if it has none.
    """
    near = asked @ vectors.T
    rows = np.flatnonzero(own >= 0)
    near[rows, own[rows]] = -np.inf
    counts: Counts = np.count_nonzero(near > (thresholds + _ROUNDING)[:, None], axis=1)
    return counts


def reach_of(nearer: Counts) -> float | None:
    """Return the share of pairs that nearest neighbours miss.

    `nearer` has a row for each pair: how many lie nearer to the one than the other, and vice versa.
    """
    return float((nearer >= NEAREST).all(axis=1).mean()) if len(nearer) else None


def measured(found: Floats, near: float | None, reach: float | None) -> Measured:
    """Put together what the cosines of joined pairs say."""
    if near is None or not len(found):
        return Measured(len(found))
    precision = float((found > near).mean())
    return Measured(
        len(found), round(precision, 4), round(precision / CHANCE, 2),
        None if reach is None else round(reach, 4),
    )  # fmt: skip


def verdict_on(found: Measured) -> tuple[Verdict, str]:
    """Return the verdict on an edge and the sentence that gives its reason."""
    if found.pairs < FEWEST_PAIRS or found.lift is None:
        return "too few to tell", (
            f"{found.pairs} pairs of memories with vectors; {FEWEST_PAIRS} are needed."
        )
    nearer = f"{found.precision:.0%} of joined pairs are near, {found.lift:g} times chance"
    if found.lift < LEAST_LIFT:
        return "noisy", f"{nearer}; below {LEAST_LIFT:g} times an edge says little."
    if (found.lift - 1) * CHANCE < _STANDARD_ERRORS * math.sqrt(
        CHANCE * (1 - CHANCE) / found.pairs
    ):
        return "too few to tell", f"{nearer}; among {found.pairs} pairs that may be luck."
    if found.reach is None:
        return "pays", f"{nearer}."
    return "pays", f"{nearer}; nearest neighbours miss {found.reach:.0%} of them."


def bands(memories: Iterable[int], hub_cap: int) -> list[Band]:
    """Sort concepts into bands by the number of memories that mention each."""
    sizes = sorted(memories)
    return [_band(sizes, first, last, hub_cap) for first, last in _BANDS]


def _band(sizes: Sequence[int], first: int, last: int | None, hub_cap: int) -> Band:
    inside = [size for size in sizes if size >= first and (last is None or size <= last)]
    name = f"{first}" if first == last else f"{first}-{last}" if last else f"{first}+"
    return Band(name, len(inside), sum(inside), sum(1 < size <= hub_cap for size in inside))
