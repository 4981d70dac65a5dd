"""Lists of different lengths by number, packed into one array that a file can hold."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.index.resident.gathering import gather
from service.index.resident.saved import Saved

Own: TypeAlias = "array[int] | bytes"

# How many of each list, and all of them one after the other.
Gathered = tuple[NDArray[np.intp], NDArray[np.int32]]

NOTHING: Final = array("i")
# So many changed lists, or as many as there are packed ones, are packed with these.
_MOST_CHANGED: Final = 2**16
# A dict entry, an array object and its first growth, as sys.getsizeof tells them.
_CHANGED_BYTES: Final = 170


class Ragged:
    """A list of int32 for every number from 0 on; most numbers' lists may be empty.

    Those that changed since all were packed lie beside them in a dict. `kind` may be uint8, for
    texts: these are put as bytes.
    """

    def __init__(self, kind: type[np.generic] = np.int32) -> None:
        self._kind = kind
        self._hold(np.zeros(1, np.int64), np.zeros(0, kind))

    def _hold(self, offsets: NDArray[np.int64], flat: NDArray[Any]) -> None:
        # A look into a memoryview costs half of one into an array, and gives ints.
        self._offsets, self._flat = offsets.data, flat.data
        self._packed = len(offsets) - 1
        self._changed: dict[int, Any] = {}

    def __getitem__(self, number: int) -> Sequence[int]:
        """Return a list; not to be kept nor changed."""
        if number in self._changed:
            changed: Sequence[int] = self._changed[number]
            return changed
        if number < self._packed:
            return self._flat[self._offsets[number] : self._offsets[number + 1]]
        return NOTHING

    def gather(self, numbers: NDArray[Any]) -> Gathered:
        """Return the lists of some numbers, of int32."""
        if self._changed and not self._changed.keys().isdisjoint(asked := numbers.tolist()):
            lists = [np.asarray(self[number], np.int32) for number in asked]
            sizes = np.array([len(one) for one in lists], np.intp)
            return sizes, np.concatenate(lists)
        return gather(
            np.asarray(self._offsets), np.asarray(self._flat), numbers.astype(np.intp, copy=False)
        )

    def __len__(self) -> int:
        """Return how many numbers there are up to the last one that may have a list."""
        return max(self._packed, max(self._changed, default=-1) + 1)

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""
        packed = self._offsets.nbytes + self._flat.nbytes
        return packed + len(self._changed) * _CHANGED_BYTES

    def own(self, number: int) -> "array[int]":
        """Return a list to be changed, before anything else is asked."""
        own: array[int] | None = self._changed.get(number)
        if own is None:
            own = array("i", bytes(self[number]))
            self.put(number, own)
        return own

    def put(self, number: int, own: Own) -> None:
        """Take in a list in the place of another."""
        if len(self._changed) >= max(_MOST_CHANGED, self._packed):
            self.pack()
        self._changed[number] = own

    def pack(self) -> None:
        """Pack what has changed with all others."""
        if not self._changed:
            return
        size = len(self)
        lengths = np.zeros(size, np.int64)
        lengths[: self._packed] = np.diff(self._offsets)
        changed = sorted(self._changed)
        lengths[changed] = [len(self._changed[number]) for number in changed]
        flat = np.frombuffer(b"".join(self._pieces(changed)), self._kind)
        self._hold(np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))), flat)

    def _pieces(self, changed: Sequence[int]) -> Iterator[Any]:
        """Go through the lists in order: changed ones, and stretches of packed ones."""
        start = 0
        for number in changed:
            end = min(number, self._packed)
            yield self._flat[self._offsets[start] : self._offsets[end]]
            yield self._changed[number]
            start = min(number + 1, self._packed)
        yield self._flat[self._offsets[start] :]

    def filled(self) -> NDArray[np.intp]:
        """Return the numbers whose list holds anything; all is packed by now."""
        return np.flatnonzero(np.diff(self._offsets))

    def save(self) -> Saved:
        """Return all that is held; it is packed by now, and what is packed never changes."""
        return Saved(arrays={"offsets": np.asarray(self._offsets), "flat": np.asarray(self._flat)})

    @classmethod
    def restore(cls, saved: Saved, kind: type[np.generic] = np.int32) -> "Ragged":
        """Return lists as they were saved; raises KeyError, ValueError, TypeError."""
        lists = cls(kind)
        offsets = np.ascontiguousarray(saved.arrays["offsets"], np.int64)
        lists._hold(offsets, np.ascontiguousarray(saved.arrays["flat"], kind))
        return lists
