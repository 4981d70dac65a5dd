"""Memories in the order of time: which came just before and just after each, in two arrays."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.index.resident.columns import Mask, grown
from service.index.resident.facts import CorruptRow

Rows = NDArray[np.intp]
Steps = NDArray[np.int32]

NOBODY: Final = -1
# More than one neighbour on a side: after a merge of sessions by hand, or of two services' writes.
_SEVERAL: Final = -2
# A key of two numbers and a list of two.
_SEVERAL_BYTES: Final = 250


class _Side:
    """The one neighbour of each row on one side, and the lists of those rows that have more."""

    def __init__(self) -> None:
        self.one = np.zeros(0, np.int32)
        self.several: dict[int, list[int]] = {}

    def of(self, row: int) -> Sequence[int]:
        one = int(self.one[row]) if row < len(self.one) else NOBODY
        if one == _SEVERAL:
            return self.several[row]
        return () if one == NOBODY else (one,)

    def set(self, row: int, ends: Sequence[int]) -> None:
        known = len(self.one)
        if row >= known:
            self.one = grown(self.one, row + 1)
            self.one[known:] = NOBODY
        self.several.pop(row, None)
        if len(ends) > 1:
            self.several[row] = list(ends)
        self.one[row] = (NOBODY, *ends)[-1] if len(ends) < 2 else _SEVERAL


class Chains:
    """Edges from a memory to the one before it, by rows; most have one on either side.

    `ahead` of a memory is what came before it, `behind` what came after: an edge leads back in
    time.
    """

    def __init__(self) -> None:
        self._before, self._after = _Side(), _Side()
        self.count = 0

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""
        sides = (self._before, self._after)
        return sum(side.one.nbytes + len(side.several) * _SEVERAL_BYTES for side in sides)

    def put(self, source: int, target: int, weight: int = 0) -> None:
        """Add an edge; one that is there is nothing to do. Raises CorruptRow for a weight."""
        if type(weight) is not int:
            raise CorruptRow(f"weight {weight!r}")
        ends = self._before.of(source)
        if target not in ends:
            self._before.set(source, (*ends, target))
            self._after.set(target, (*self._after.of(target), source))
            self.count += 1

    def remove(self, source: int, target: int) -> None:
        """Take an edge away; one that is not there is nothing to do."""
        ends = self._before.of(source)
        if target in ends:
            self._before.set(source, [end for end in ends if end != target])
            others = self._after.of(target)
            self._after.set(target, [other for other in others if other != source])
            self.count -= 1

    def remove_node(self, row: int) -> None:
        """Take away the edges of a memory."""
        for target in tuple(self.ahead(row)):
            self.remove(row, target)
        for source in tuple(self.behind(row)):
            self.remove(source, row)

    def ahead(self, row: int) -> Sequence[int]:
        """Return what came just before a memory."""
        return self._before.of(row)

    def behind(self, row: int) -> Sequence[int]:
        """Return what came just after a memory."""
        return self._after.of(row)

    def weight(self, source: int, target: int) -> int:
        """Return 0: that one memory follows another has no weight."""
        del source, target
        return 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Go through all edges as (source, target)."""
        rows = np.flatnonzero(self._before.one != NOBODY).tolist()
        return ((row, end) for row in rows for end in self.ahead(row))

    def around(
        self, rows: Rows, mask: Mask, keys: Sequence[str], reach: int
    ) -> tuple[Steps, Steps]:
        """Return what comes before and after each row, nearest first: [row, step], -1 for none.

        Rows that the mask hides end a way, as does a way that comes back to where it was. Of
        several neighbours the one with the least of the `keys` goes on.
        """
        return (
            _walk(self._before, rows, mask, keys, reach),
            _walk(self._after, rows, mask, keys, reach),
        )


def _walk(side: _Side, rows: Rows, mask: Mask, keys: Sequence[str], reach: int) -> Steps:
    ways = np.full((reach + 1, len(rows)), NOBODY, np.int32)
    ways[0] = rows
    one = side.one
    for step in range(1, reach + 1):
        here = ways[step - 1]
        going = np.flatnonzero((here >= 0) & (here < len(one)))
        ends = one.take(here.take(going))
        for place in np.flatnonzero(ends == _SEVERAL).tolist() if side.several else ():
            several = side.several[int(here[going[place]])]
            visible = [end for end in several if end < len(mask) and mask[end]]
            ends[place] = min(visible, key=keys.__getitem__, default=NOBODY)
        ends[ends >= len(mask)] = NOBODY
        ends[~mask.take(ends)] = NOBODY
        # A way that is back where it was ends there.
        ends[(ways[:step, going] == ends).any(axis=0)] = NOBODY
        ways[step, going] = ends
    return np.ascontiguousarray(ways[1:].T)
