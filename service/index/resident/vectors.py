"""Vectors of one agent by row: a nearest-neighbour scan that reads a quarter of the bytes.

Each unit vector is kept twice: as int8 with its own scale, scanned whole, and as float16, read
only for the rows that the scan cannot rule out. Of 50,000 and more the scan reads those alone whose
sketches agree best (sketches.py), nearly exactly. By Cauchy and Schwarz the int8 cosine
is off by no more than the lengths of what rounding cut away; every row within twice that of the
k-th best is compared again, so that the answer is exact up to float16 (about 1e-5 of a cosine).
"""

import sys
from collections.abc import Sequence
from typing import Any, Final

import numkong
import numpy as np
from numpy.typing import NDArray

from service.index.resident.columns import Mask, grown
from service.index.resident.saved import Saved
from service.index.resident.scanning import (
    half_dots,
    halved,
    kth_greatest,
    nearest_rows,
    widened,
)
from service.index.resident.sketches import (
    FEWEST,
    blocks_of,
    empty_sketches,
    fitting_share,
    is_fast,
    nearest_by_sketches,
    put_sketches,
)

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

# When only the first dimensions are scanned no bound holds: so many candidates are compared again.
_CANDIDATES: Final = 1000
_CANDIDATES_PER_HIT: Final = 20
_QUANTISE_ROWS: Final = 4096
# By how much rounding to float16 makes a unit vector longer or shorter at most; of many numbers
# most of it evens out.
_ROUNDED: Final = 5e-4
_ROUNDED_OF_MANY: Final = 2e-3
# What adding up a row's sketch takes of comparing the row, and taking it from among others.
_SKETCHED: Final = 0.25
_TAKEN: Final = 4
# What rounding cuts away points in all directions: where sketches were looked at, which is not
# exact anyhow, this share of the bound will do, several times what it makes of a cosine.
_LIKELY: Final = 0.25
# Sketches leave so many for each that is wanted, at least.
_LOOKED_AT: Final = 30
_ARRAYS: Final = ("_coarse", "_scales", "_fine", "_sketches", "_is_present")

NO_DIRECTION: Final = "numbers that are no direction (NaN, infinite or all zero)"


class UnfitVector(Exception):
    """A vector that cannot stand among the others."""


def has_direction(vectors: Floats) -> Mask:
    """Return which rows point anywhere: all finite, not all zero."""
    return np.logical_and(np.isfinite(vectors).all(axis=1), vectors.any(axis=1))


class VectorIndex:
    """The vectors of one agent; `scanned` says how many of the first dimensions the scan reads."""

    def __init__(self, dimensions: int, scanned: int | None = None) -> None:
        self.dimensions = dimensions
        self.scanned = min(scanned or dimensions, dimensions)
        self._coarse = np.zeros((0, self.scanned), np.int8)
        self._scales = np.zeros(0, np.float32)
        self._fine = np.zeros((0, dimensions), np.float16)
        self._sketches = empty_sketches(self.scanned)
        # From so many on sketches are looked at first.
        self.fewest_for_sketches = FEWEST if is_fast() else sys.maxsize
        # Which share of very many vectors is looked at twice, None for all; for how many it fits.
        self._share: float | None = None
        self._fitted_to = 0
        self._is_present = np.zeros(0, np.bool_)
        # The longest of what rounding to int8 cut away from a row.
        self._most_cut = 0.0
        # The last question's vector, what it is at length 1, and that in halves.
        self._asked: tuple[Floats, Floats, numkong.PackedMatrix] | None = None

    @property
    def count(self) -> int:
        """The number of vectors."""
        return int(self._is_present.sum())

    @property
    def numbers_compared(self) -> int:
        """As many numbers of int8 as take the time of a search to compare."""
        every = len(self._is_present) * self.scanned
        if self._share is None or len(self._is_present) < self.fewest_for_sketches:
            return every
        return int(every * (_SKETCHED + _TAKEN * self._share))

    @property
    def bytes(self) -> int:
        """The memory held."""
        arrays: list[NDArray[Any]] = [getattr(self, name) for name in _ARRAYS]
        return sum(array.nbytes for array in arrays)

    def save(self) -> Saved:
        """Return all that is held."""
        facts = {
            "dimensions": self.dimensions,
            "scanned": self.scanned,
            "most_cut": self._most_cut,
            "share": self._share,
            "fitted_to": self._fitted_to,
        }
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        # Which rows have a vector must agree with the rest; what they say is too long to copy.
        arrays["_is_present"] = self._is_present.copy()
        return Saved(facts, {}, arrays)

    @classmethod
    def restore(cls, saved: Saved) -> "VectorIndex":
        """Return vectors as they were saved; raises KeyError, ValueError, TypeError."""
        facts = saved.facts
        vectors = cls(int(facts["dimensions"]), int(facts["scanned"]))
        vectors._most_cut = float(facts["most_cut"])
        vectors._share, vectors._fitted_to = facts["share"], int(facts["fitted_to"])
        for name in _ARRAYS:
            setattr(vectors, name, saved.by_row[name])
        return vectors

    def reserve(self, size: int) -> None:
        """Make room for rows below `size`."""
        self._coarse = grown(self._coarse, size)
        self._scales = grown(self._scales, size)
        self._fine = grown(self._fine, size)
        is_present = grown(self._is_present, size)
        # It has more room than it was asked for: of sketches there must be as much.
        self._sketches = grown(self._sketches, blocks_of(len(is_present)))
        self._is_present = is_present

    def check(self, vector: Floats) -> None:
        """Raise UnfitVector for a vector of another length, or without a direction."""
        if vector.shape != (self.dimensions,):
            raise UnfitVector(f"{len(vector)} dimensions in place of {self.dimensions}")
        if not has_direction(vector[None])[0]:
            raise UnfitVector(NO_DIRECTION)

    def put(self, rows: Sequence[int], vectors: Floats) -> None:
        """Keep vectors that `check` has passed, one for each row."""
        if not rows:
            return
        self.reserve(max(rows) + 1)
        places = np.array(rows)
        unit = _unit(vectors)
        self._fine[places] = unit
        self._is_present[places] = True
        for start in range(0, len(rows), _QUANTISE_ROWS):
            part = slice(start, start + _QUANTISE_ROWS)
            self._scan_later(places[part], unit[part, : self.scanned])

    def remove(self, row: int) -> None:
        """Take the vector of a row away."""
        if row < len(self._is_present):
            self._is_present[row] = False
            self._coarse[row], self._fine[row] = 0, 0

    def search(self, vector: Floats, mask: Mask, limit: int) -> tuple[Rows, Floats]:
        """Return the `limit` rows under the mask nearest by cosine, and all that tie with the last.

        They come in no particular order, with their cosines.
        """
        return self.compare(self.candidates(vector, mask, limit), vector, mask, limit)

    def candidates(self, vector: Floats, mask: Mask, limit: int) -> Rows:
        """Return the rows under the mask that may be among the nearest, in ascending order.

        Vectors may be put and removed meanwhile: of such a row nothing is promised, of others all.
        """
        present = self._is_present  # it may be another one a moment later
        wanted = mask[: len(present)] & present[: len(mask)]
        count = int(np.count_nonzero(wanted))
        if count <= max(limit, _CANDIDATES):
            return np.flatnonzero(wanted)
        return self._scan(self._asked_for(vector)[0], wanted, count, limit)

    def compare(self, rows: Rows, vector: Floats, mask: Mask, limit: int) -> tuple[Rows, Floats]:
        """Return those of the rows that `search` would return."""
        rows = rows[mask[rows] & self._is_present[rows]]
        cosines = half_dots(self._fine.take(rows, axis=0), self._asked_for(vector)[1])
        if len(rows) > limit:
            kept = cosines >= kth_greatest(cosines, limit)
            rows, cosines = rows[kept], cosines[kept]
        return rows, cosines

    def cosines(self, vector: Floats, rows: Rows) -> Floats:
        """Return the cosine of each row, NaN where there is no vector."""
        present = self._is_present
        if not len(present):
            return np.full(len(rows), np.nan, np.float32)
        cosines = half_dots(self._fine.take(rows, axis=0, mode="clip"), self._asked_for(vector)[1])
        cosines[~present.take(rows, mode="clip") | (rows >= len(present))] = np.nan
        return cosines

    def _asked_for(self, vector: Floats) -> tuple[Floats, numkong.PackedMatrix]:
        """Return a question's vector at length 1, and in halves: one search asks five times."""
        asked = self._asked
        if asked is None or asked[0] is not vector:
            unit = _unit(vector[None])[0]
            asked = self._asked = (vector, unit, halved(unit))
        return asked[1:]

    def _scan(self, unit: Floats, wanted: Mask, count: int, limit: int) -> Rows:
        query, scale, cut = _quantise(unit[None, : self.scanned])
        most, slack = limit, 2 * (self._most_cut + float(cut[0]) * (1 + self._most_cut))
        if self.scanned < self.dimensions:
            most, slack = min(count, max(_CANDIDATES, _CANDIDATES_PER_HIT * limit)), 0.0
        # All are longer by what the question was divided by.
        slack /= float(scale[0])
        if count < self.fewest_for_sketches or not self._share:
            rows = np.flatnonzero(wanted)
            return nearest_rows(query[0], self._coarse, self._scales, rows, most, slack)
        looked_at = max(int(self._share * count), _LOOKED_AT * limit)
        rows = nearest_by_sketches(unit[: self.scanned], self._sketches, wanted, looked_at)
        return nearest_rows(query[0], self._coarse, self._scales, rows, most, slack * _LIKELY)

    def finish(self) -> None:
        """Find out how many must be looked at twice, if there are many more than last time."""
        if self.count < max(self.fewest_for_sketches, 2 * self._fitted_to):
            return
        self._share, self._fitted_to = None, self.count
        present = self._is_present.copy()

        def agreeing(row: int, most: int) -> Rows:
            vector = widened(self._fine[row, : self.scanned])
            return nearest_by_sketches(vector, self._sketches, present, most)

        def nearest(row: int, limit: int) -> Rows:
            return self.search(widened(self._fine[row]), present, limit)[0]

        self._share = fitting_share(np.flatnonzero(present), agreeing, nearest)

    def _scan_later(self, places: Rows, unit: Floats) -> None:
        coarse, scales, cut = _quantise(unit)
        self._coarse[places] = coarse
        self._scales[places] = scales
        put_sketches(self._sketches, places, unit)
        self._most_cut = max(self._most_cut, float(cut.max()))


def _unit(vectors: Floats) -> Floats:
    """Return the rows at length 1; the square of a very long or short one is no float32.

    One that was a unit vector before it was rounded to float16 stays as it is: read again from the
    store it is the same to the last bit.
    """
    scaled = vectors / np.abs(vectors).max(axis=1, keepdims=True)
    unit: Floats = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    most = min(_ROUNDED, _ROUNDED_OF_MANY / vectors.shape[1] ** 0.5)
    with np.errstate(over="ignore"):
        is_unit = np.linalg.norm(unit - vectors, axis=1) < most
        is_rounded = (vectors.astype(np.float16) == vectors).all(axis=1)
    return np.where((is_unit & is_rounded)[:, None], vectors, unit)


def _quantise(unit: Floats) -> tuple[NDArray[np.int8], Floats, Floats]:
    """Round each row to int8; returns the rows, their scales and the lengths of what was cut."""
    scales = (np.abs(unit).max(axis=1) / 127).astype(np.float32)
    scales[scales == 0] = 1.0
    coarse = np.rint(unit / scales[:, None]).astype(np.int8)
    cut = np.linalg.norm(unit - coarse * scales[:, None], axis=1).astype(np.float32)
    return coarse, scales, cut
