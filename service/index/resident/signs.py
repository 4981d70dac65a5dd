"""A first look at very many vectors: by the signs of their numbers, one bit each.

Two vectors that point the same way have the same signs nearly everywhere (Charikar, STOC 2002).
Of 100,000 vectors of 384 numbers the signs are 5 MB where int8 is 38: what lies within the nearest
tenth by signs alone is compared again.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.index.resident.columns import Mask
from service.index.resident.scanning import differing_bits

Signs = NDArray[np.uint8]
Rows = NDArray[np.int64]

# Fewer are compared as a whole: faster, and exact.
FEWEST: Final = 50_000
# What a share is chosen among; without one the whole is compared.
_SHARES: Final = (0.05, 0.1, 0.2)
# A share will do if it loses no more of the hundred nearest of stored vectors. Questions lie
# farther away and lose up to four times as much: scripts/measure_nearest.py.
_MOST_LOST: Final = 0.002
_SAMPLED: Final = 24
_NEAREST: Final = 100
# The border is found by every sixteenth vector: a thousandth of a share off at a million.
_STRIDE: Final = 16
_HIDDEN: Final = np.iinfo(np.uint16).max


def signs_of(vectors: NDArray[np.float32]) -> Signs:
    """Return the signs of each row, eight in a byte."""
    return np.packbits(vectors > 0, axis=-1)


def nearest_by_signs(question: Signs, signs: Signs, wanted: Mask, share: float) -> Mask:
    """Return which are about this share of the wanted rows, those with the most signs in common."""
    differing = differing_bits(question, signs)
    differing[~wanted] = _HIDDEN
    sample = differing[::_STRIDE]
    counts = np.bincount(sample[sample != _HIDDEN]).cumsum()
    if not len(counts):
        return wanted
    nearest: Mask = differing <= counts.searchsorted(share * counts[-1])
    return nearest


def fitting_share(rows: Rows, signs: Signs, nearest: Callable[[int, int], Rows]) -> float | None:
    """Return how many must be looked at to lose next to nothing; None where signs tell little.

    `rows` are those that have a vector; `nearest` gives the so many rows nearest to one of them by
    their vectors.
    """
    wanted = np.zeros(len(signs), np.bool_)
    wanted[rows] = True
    lost = dict.fromkeys(_SHARES, 0.0)
    for row in rows[:: max(1, len(rows) // _SAMPLED)][:_SAMPLED].tolist():
        exact = nearest(row, _NEAREST)
        for share in _SHARES:
            lost[share] += 1 - nearest_by_signs(signs[row], signs, wanted, share)[exact].mean()
    enough = (share for share in _SHARES if lost[share] <= _MOST_LOST * _SAMPLED)
    return next(enough, None)
