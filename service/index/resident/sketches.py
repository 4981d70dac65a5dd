"""A first look at very many vectors: the question against two bits of each number.

Each number of a unit vector is rounded to one of four levels, as numbers of a normal distribution
lose least by it (Max, Quantizing for minimum distortion, 1960). Sums of those order rows nearly as
their cosines do: of 100,000 vectors of 384 numbers the sketches are 10 MB where int8 is 38, and
what is among the nearest few hundredths by them is compared again.

Rows lie in blocks of 32, in which byte after byte of all of them comes in turn: shape (blocks,
bytes, 32), four numbers a byte. So the processor looks up 32 rows at once in a table of 16 numbers
(Andre, Kermarrec and Le Scouarnec, Cache locality is not enough, VLDB 2015).
"""

from collections.abc import Callable
from types import ModuleType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.index.resident.columns import Mask
from service.index.resident.scanning import shared

# None where no C compiler was at hand when this was installed.
sketch_sums: ModuleType | None
try:
    from service.index.resident import sketch_sums
except ImportError:
    sketch_sums = None

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Rows = NDArray[np.int64]

# Fewer are compared as a whole: as fast, and exact.
FEWEST: Final = 50_000
BLOCK: Final = 32
# Levels and the border between them, in units of a vector's mean number.
_LEVELS: Final = np.array([-1.51, -0.4528, 0.4528, 1.51], np.float32)
_BORDER: Final = 0.9816
_NUMBERS_A_BYTE: Final = 4
_SHIFTS: Final = np.arange(0, 8, 2, dtype=np.uint8)
# Two sums of a table make one of 8 bits, all of a row one of 16.
_MOST_OF_A_SUM: Final = 127
_MOST_OF_ALL: Final = 2**16 - 1
# Blocks that take several milliseconds: then every core takes a part of them.
_SHARED_BLOCKS: Final = 20_000
# What a share is chosen among; without one the whole is compared.
_SHARES: Final = (0.01, 0.02, 0.03, 0.05, 0.1)
# A share will do if it loses no more of the hundred nearest of stored vectors. Questions lie
# farther away and lose up to four times as much: scripts/measure_nearest.py.
_MOST_LOST: Final = 0.0005
_SAMPLED: Final = 24
_NEAREST: Final = 100
# The border is found by every seventeenth vector: a prime, as rows come in turns, of two where a
# user and an assistant speak. By every sixteenth one side alone was asked.
_STRIDE: Final = 17


def is_fast() -> bool:
    """Tell whether this processor looks up 32 rows at once; else all of them are compared."""
    return sketch_sums is not None and bool(sketch_sums.is_fast())


def empty_sketches(dimensions: int) -> Bytes:
    """Return sketches of no rows."""
    return np.zeros((0, -(-dimensions // _NUMBERS_A_BYTE), BLOCK), np.uint8)


def blocks_of(rows: int) -> int:
    """Return how many blocks hold so many rows."""
    return -(-rows // BLOCK)


def put_sketches(sketches: Bytes, rows: Rows, vectors: Floats) -> None:
    """Write the sketches of vectors, one for each row."""
    border = np.linalg.norm(vectors, axis=1, keepdims=True) * (_BORDER / vectors.shape[1] ** 0.5)
    levels = (vectors > -border).view(np.uint8) + (vectors > 0) + (vectors > border)
    missing = sketches.shape[1] * _NUMBERS_A_BYTE - vectors.shape[1]
    fours = np.pad(levels, ((0, 0), (0, missing))).reshape(len(rows), -1, _NUMBERS_A_BYTE)
    sketches[rows // BLOCK, :, rows % BLOCK] = np.bitwise_or.reduce(fours << _SHIFTS, axis=2)


def nearest_by_sketches(question: Floats, sketches: Bytes, wanted: Mask, most: int) -> Rows:
    """Return the about `most` wanted rows that agree best, ascending. `wanted` begins at row 0."""
    sums = sums_of(_table(question, sketches.shape[1]), sketches[: blocks_of(len(wanted))])
    sums = sums[: len(wanted)]
    sample = sums[::_STRIDE][wanted[::_STRIDE]]
    place = len(sample) - -(-most // _STRIDE)
    if place <= 0:
        return np.flatnonzero(wanted)
    return np.flatnonzero((sums >= np.partition(sample, place)[place]) & wanted)


def sums_of(table: Bytes, sketches: Bytes) -> NDArray[np.uint16]:
    """Return for every row the sum of what the table, (bytes, 2, 16), has for its half bytes.

    The lower half of a byte comes first. The GIL is released meanwhile.
    """
    sums = np.zeros((len(sketches), BLOCK), np.uint16)

    def add_up(part: slice) -> None:
        if sketch_sums:
            sketch_sums.add_up(sketches[part], table, sums[part])
            return
        for place, (low, high) in enumerate(table):
            sums[part] += low[sketches[part, place] & 15]
            sums[part] += high[sketches[part, place] >> 4]

    shared(len(sketches), add_up, _SHARED_BLOCKS)
    return sums.reshape(-1)


def _table(question: Floats, size: int) -> Bytes:
    """Return what each half of a byte adds, two numbers of the question at their levels."""
    padded = np.zeros(size * _NUMBERS_A_BYTE, np.float32)
    padded[: len(question)] = question
    parts = padded.reshape(-1, 2, 1) * _LEVELS
    sums = (parts[:, 1, :, None] + parts[:, 0, None, :]).reshape(-1, 16)
    sums -= sums.min(axis=1, keepdims=True)
    most = min(_MOST_OF_A_SUM, _MOST_OF_ALL // len(sums))
    whole: Bytes = np.rint(sums * (most / (float(sums.max()) or 1.0))).astype(np.uint8)
    return whole.reshape(size, 2, 16)


def fitting_share(
    rows: Rows, agreeing: Callable[[int, int], Rows], nearest: Callable[[int, int], Rows]
) -> float | None:
    """Return how many must be looked at to lose next to nothing; None where sketches tell little.

    `rows` are those that have a vector. Both functions are asked about one of them: which are so
    many that agree best with it by sketches, and so many that are nearest to it by their vectors.
    """
    lost = dict.fromkeys(_SHARES, 0.0)
    for row in rows[:: max(1, len(rows) // _SAMPLED)][:_SAMPLED].tolist():
        exact = nearest(row, _NEAREST)
        for share in _SHARES:
            agreed = agreeing(row, int(share * len(rows)))
            lost[share] += 1 - np.isin(exact, agreed, assume_unique=True).mean()
    enough = (share for share in _SHARES if lost[share] <= _MOST_LOST * _SAMPLED)
    return next(enough, None)
