"""Whole memories by row: whoever has found them need not ask the store for them."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from service.index.resident.columns import grown
from service.index.resident.packing import Packed
from service.index.resident.saved import Saved

# Of bytes that stand loose or for nobody, before they are laid together anew.
_LOOSE_SHARE: Final = 1 / 4
_ROW_BYTES: Final = 12
# A bytes object and its place in a dict.
_LOOSE_BYTES: Final = 140


class PackedMemories:
    """Packed memories by row. Those of a snapshot lie in its file, newer ones in RAM."""

    def __init__(self) -> None:
        self._laid = np.zeros(0, np.uint8)
        self._starts = np.zeros(0, np.int64)
        # 0 where nothing is laid.
        self._lengths = np.zeros(0, np.uint32)
        self._loose: dict[int, Packed] = {}
        self._loose_bytes = 0

    @property
    def bytes(self) -> int:
        """The memory held."""
        loose = self._loose_bytes + _LOOSE_BYTES * len(self._loose)
        return len(self._laid) + _ROW_BYTES * len(self._starts) + loose

    def put(self, rows: Sequence[int], packed: Sequence[Packed | None]) -> None:
        """Write into rows what stands there now, nothing where it is None."""
        for row, one in zip(rows, packed, strict=True):
            self.remove(row)
            if one is not None:
                self._loose[row] = one
                self._loose_bytes += len(one)

    def remove(self, row: int) -> None:
        """Forget what stands in a row."""
        self._loose_bytes -= len(self._loose.pop(row, b""))
        if row < len(self._lengths) and self._lengths[row]:
            self._lengths[row] = 0

    def get(self, row: int) -> Packed | None:
        """Return what stands in a row; None where nothing does."""
        if row in self._loose:
            return self._loose[row]
        length = int(self._lengths[row]) if row < len(self._lengths) else 0
        start = int(self._starts[row]) if length else 0
        return self._laid[start : start + length].tobytes() if length else None

    def finish(self) -> None:
        """Lay everything together if much stands loose."""
        if self._loose_bytes > _LOOSE_SHARE * len(self._laid):
            self._take(self.save())

    def save(self) -> Saved:
        """Return all that is held, a copy, and nothing of what was removed."""
        size = max([len(self._starts), *(row + 1 for row in self._loose)])
        starts, lengths = grown(self._starts, size)[:size], grown(self._lengths, size)[:size]
        rows = np.flatnonzero(lengths)
        whole = self._laid.data
        kept: list[Packed | memoryview] = [
            whole[start : start + length]
            for start, length in zip(starts[rows].tolist(), lengths[rows].tolist(), strict=True)
        ]
        kept += self._loose.values()
        new_rows = np.concatenate((rows, np.fromiter(self._loose, np.intp, len(self._loose))))
        new_lengths = np.zeros(size, np.uint32)
        new_lengths[new_rows] = [len(one) for one in kept]
        new_starts = np.zeros(size, np.int64)
        new_starts[new_rows] = np.cumsum([0, *map(len, kept)])[:-1]
        laid = np.frombuffer(b"".join(kept), np.uint8)
        return Saved({}, {"laid": laid}, {"starts": new_starts, "lengths": new_lengths})

    @classmethod
    def restore(cls, saved: Saved) -> "PackedMemories":
        """Return what was saved; raises KeyError, ValueError."""
        held = cls()
        held._take(saved)
        return held

    def _take(self, saved: Saved) -> None:
        starts, lengths = saved.by_row["starts"], saved.by_row["lengths"]
        laid = saved.arrays["laid"]
        if len(starts) != len(lengths) or (starts + lengths).max(initial=0) > len(laid):
            raise ValueError("packed memories lie beyond their end")
        self._laid, self._starts, self._lengths = laid, starts, lengths
        self._loose, self._loose_bytes = {}, 0
