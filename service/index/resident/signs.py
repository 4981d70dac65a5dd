"""A first look at very many vectors: the question's numbers in four bits against signs alone.

The sum of those of the question's numbers of which a row has the sign orders rows nearly as their
cosines do: as in RaBitQ (Gao and Long, SIGMOD 2024), but without the rotation that its bound needs.
Of 100,000 vectors of 2,560 numbers the signs are 32 MB where int8 is 256: what lies within the
nearest tenth by them alone is compared again.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.index.resident.columns import Mask
from service.index.resident.scanning import HIDDEN, sign_sums

Floats = NDArray[np.float32]
Signs = NDArray[np.uint8]
Rows = NDArray[np.int64]

# Fewer, or shorter ones, are compared as a whole: faster, and exact. Measured of 100,000, with a
# tenth looked at twice: of 384 numbers 1.9 ms against 1.6, of 1,024 3.5 and 4.3, of 2,560 7 and 11.
FEWEST: Final = 50_000
SHORTEST: Final = 640
# What a share is chosen among; without one the whole is compared.
_SHARES: Final = (0.05, 0.1, 0.2)
# A share will do if it loses no more of the hundred nearest of stored vectors. Questions lie
# farther away and lose up to four times as much: scripts/measure_nearest.py.
_MOST_LOST: Final = 0.002
_SAMPLED: Final = 24
_NEAREST: Final = 100
# The border is found by every sixteenth vector: a thousandth of a share off at a million.
_STRIDE: Final = 16
_GREATEST: Final = 7


def signs_of(vectors: Floats) -> Signs:
    """Return the signs of each row, eight in a byte."""
    return np.packbits(vectors > 0, axis=-1)


def nearest_by_signs(question: Floats, signs: Signs, wanted: Mask, share: float) -> Mask:
    """Return which are about this share of the wanted rows, those that agree best."""
    greatest = float(np.abs(question).max()) or 1.0
    in_four_bits = np.rint(question * (_GREATEST / greatest)).astype(np.int8)
    sums = sign_sums(in_four_bits, signs, wanted)
    sample = sums[::_STRIDE]
    sample = sample[sample != HIDDEN]
    place = int(len(sample) * (1 - share))
    if place >= len(sample):
        return wanted
    nearest: Mask = sums >= np.partition(sample, place)[place]
    return nearest


def fitting_share(
    rows: Rows, agreeing: Callable[[int, float], Mask], nearest: Callable[[int, int], Rows]
) -> float | None:
    """Return how many must be looked at to lose next to nothing; None where signs tell little.

    `rows` are those that have a vector. Both functions are asked about one of them: which are the
    share that agrees best with it by signs, and so many that are nearest to it by their vectors.
    """
    lost = dict.fromkeys(_SHARES, 0.0)
    for row in rows[:: max(1, len(rows) // _SAMPLED)][:_SAMPLED].tolist():
        exact = nearest(row, _NEAREST)
        for share in _SHARES:
            lost[share] += 1 - agreeing(row, share)[exact].mean()
    enough = (share for share in _SHARES if lost[share] <= _MOST_LOST * _SAMPLED)
    return next(enough, None)
