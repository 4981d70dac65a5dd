"""The one long sum over an agent's vectors, shared by all cores when it is very long."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import ModuleType
from typing import Any, Final, TypeVar

import numkong
import numpy as np
from numpy.typing import NDArray

# None where no C compiler was at hand when this was installed.
row_dots: ModuleType | None
try:
    from service.index.resident import row_dots
except ImportError:
    row_dots = None

# A scan of so many rows takes tens of milliseconds: then every core takes a part of it.
_SHARED_ROWS: Final = 250_000
# The sign stands four times after the shift, of which the first is kept.
_SIGN_AND_NUMBER: Final = np.uint32(0x8FFF_E000).view(np.int32)
_BIAS: Final = np.float32(2.0 ** (127 - 15))
# What is left of a number of 32 bits beside one of 16 would be too small for another without this.
_REST: Final = np.float32(2.0**11)
# Numbers of which the greatest is looked at first.
_STRETCH: Final = 64
_CORES: Final = os.cpu_count() or 1
# Its types know only some of the kinds that it takes.
_DOT: Final = numkong.pointer_to_dot("int8")  # type: ignore[arg-type]
_SCANNERS: Final = ThreadPoolExecutor(_CORES, thread_name_prefix="scan")


Array = NDArray[Any]
T = TypeVar("T")


def nearest_rows(
    query: NDArray[np.int8],
    rows: NDArray[np.int8],
    scales: NDArray[np.float32],
    wanted: NDArray[np.intp],
    most: int,
    slack: float,
) -> NDArray[np.intp]:
    """Return the rows whose dot product times their scale is among the `most` greatest.

    And those whose product is no less than the last of these less the slack. Only wanted rows are
    looked at, and come in their order. The GIL is released meanwhile.
    """

    def scan(part: slice) -> tuple[Array, Array]:
        size = part.stop - part.start
        found, near = wanted[part], np.empty(size, np.float32)
        if row_dots:
            kept = np.empty(size, np.intp)
            told = row_dots.nearest_rows(_DOT, query, rows, scales, found, most, slack, kept, near)
            found, near = kept[:told], near[:told]
        elif size:  # of nothing numkong makes an error
            dots = np.asarray(numkong.cdist(query[None], rows[found], "dot"), np.float32)
            near = dots.reshape(-1) * scales[found]
        return found, near

    parts = shared(len(wanted), scan, _SHARED_ROWS)
    found, near = map(np.concatenate, zip(*parts, strict=True))
    if len(found) > most:
        found = found[near >= kth_greatest(near, most) - slack]
    return found


def halved(vector: NDArray[np.float32]) -> numkong.PackedMatrix:
    """Return a vector for `half_dots`: as two of 16 bits, of which the second is what is left."""
    coarse = vector.astype(np.float16)
    rest = ((vector - coarse) * _REST).astype(np.float16)
    return numkong.dots_pack(np.stack((coarse, rest)), dtype="float16")


def half_dots(rows: NDArray[np.float16], query: numkong.PackedMatrix) -> NDArray[np.float32]:
    """Return the dot product of every row with a vector, to 1e-7; of equal rows the same.

    A quarter of what it takes to widen the rows and multiply them.
    """
    parts: NDArray[np.float32] = np.asarray(numkong.dots_packed(rows, query), np.float32)
    return parts[:, 0] + parts[:, 1] / _REST


def widened(halves: NDArray[np.float16]) -> NDArray[np.float32]:
    """Return finite numbers of 16 bits in 32, exactly.

    NumPy converts them one by one, 2 to 4 ns each; this moves sign, exponent and fraction to where
    they stand in 32 bits and scales by the difference of the exponents' biases, 0.25 ns.
    """
    bits = halves.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= _SIGN_AND_NUMBER
    wide = bits.view(np.float32)
    wide *= _BIAS
    return wide


def kth_greatest(values: NDArray[np.float32], k: int) -> float:
    """Return the k-th greatest of at least k numbers, exactly.

    Of many, only those are sorted that are no less than the k-th greatest of their stretches'
    greatest, as the k-th of all is no less: of 100,000 it takes a fourth of the time.
    """
    stretches = len(values) // _STRETCH
    if stretches > k:
        greatest = values[: stretches * _STRETCH].reshape(stretches, _STRETCH).max(axis=1)
        values = values[values >= np.partition(greatest, stretches - k)[stretches - k]]
    return float(np.partition(values, len(values) - k)[len(values) - k])


def shared(size: int, scan: Callable[[slice], T], fewest: int) -> list[T]:
    """Return what a scan makes of so many rows; of `fewest` and more every core takes a part."""
    if size < fewest:
        return [scan(slice(0, size))]
    borders = np.linspace(0, size, _CORES + 1, dtype=int).tolist()
    others = [_SCANNERS.submit(scan, slice(*ends)) for ends in pairwise(borders[1:])]
    return [scan(slice(*borders[:2])), *(other.result() for other in others)]
