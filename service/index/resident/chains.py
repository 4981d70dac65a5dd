"""Memories in the order of time: which came just before and just after each, in two arrays."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from service.index.resident.columns import Mask, grown
from service.index.resident.facts import CorruptRow
from service.index.resident.saved import Saved
from service.index.resident.ways import NOBODY, Rows, Steps, see_ways

# More than one neighbour on a side: after a merge of sessions by hand, or of two services' writes.
_SEVERAL: Final = -2
# So many steps from each row are kept, as many as a search asks for: REACH of search/signals.
_KEPT_STEPS: Final = 5
_BEFORE: Final = 0
_AFTER: Final = 1
# A key of two numbers and a list of two.
_SEVERAL_BYTES: Final = 250


class Chains:
    """Edges from a memory to the one before it, by rows; most have one on either side.

    `ahead` of a memory is what came before it, `behind` what came after: an edge leads back in
    time.
    """

    def __init__(self) -> None:
        # [side, row]: the one memory before and the one after each.
        self._one = np.zeros((2, 0), np.int32)
        # By side and row, the neighbours of those that have several.
        self._several: dict[tuple[int, int], Sequence[int]] = {}
        # [row, side, step]: a search looks five steps around 500 rows, one after the other.
        self._ways = np.zeros((0, 2, _KEPT_STEPS), np.int32)
        self._is_known = np.zeros(0, np.bool_)
        self.count = 0

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""
        own = self._one.nbytes + self._ways.nbytes + self._is_known.nbytes
        return own + len(self._several) * _SEVERAL_BYTES

    def put(self, source: int, target: int, weight: int = 0) -> None:
        """Add an edge; one that is there is nothing to do. Raises CorruptRow for a weight."""
        if type(weight) is not int:
            raise CorruptRow(f"weight {weight!r}")
        ends = self.ahead(source)
        if target not in ends:
            self._set(_BEFORE, source, (*ends, target))
            self._set(_AFTER, target, (*self.behind(target), source))
            self.count += 1

    def remove(self, source: int, target: int) -> None:
        """Take an edge away; one that is not there is nothing to do."""
        ends = self.ahead(source)
        if target in ends:
            self._set(_BEFORE, source, [end for end in ends if end != target])
            others = self.behind(target)
            self._set(_AFTER, target, [other for other in others if other != source])
            self.count -= 1

    def remove_node(self, row: int) -> None:
        """Take away the edges of a memory."""
        for target in tuple(self.ahead(row)):
            self.remove(row, target)
        for source in tuple(self.behind(row)):
            self.remove(source, row)

    def ahead(self, row: int) -> Sequence[int]:
        """Return what came just before a memory."""
        return self._beside(_BEFORE, row)

    def behind(self, row: int) -> Sequence[int]:
        """Return what came just after a memory."""
        return self._beside(_AFTER, row)

    def beside(self, rows: Sequence[int]) -> tuple[list[Sequence[int]], list[Sequence[int]]]:
        """Return what came just before and just after each of these."""
        if not self._one.size:
            return [()] * len(rows), [()] * len(rows)
        places = np.array(rows, np.intp)
        one = self._one.take(places, axis=1, mode="clip")
        one[:, places >= self._one.shape[1]] = NOBODY
        before, after = (
            [
                (end,) if end >= 0 else () if end == NOBODY else self._several[side, row]
                for row, end in zip(rows, ends, strict=True)
            ]
            for side, ends in enumerate(one.tolist())
        )
        return before, after

    def weight(self, source: int, target: int) -> int:
        """Return 0: that one memory follows another has no weight."""
        del source, target
        return 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Go through all edges as (source, target)."""
        rows = np.flatnonzero(self._one[_BEFORE] != NOBODY).tolist()
        return ((row, end) for row in rows for end in self.ahead(row))

    def around(
        self, rows: Rows, mask: Mask, keys: Sequence[str], reach: int
    ) -> tuple[Steps, Steps]:
        """Return what comes before and after each row, nearest first: [row, step], -1 for none.

        Rows that the mask hides end a way, as does a way that comes back to where it was. Of
        several neighbours the one with the least of the `keys` goes on.
        """
        if reach > _KEPT_STEPS:
            return self._walk(rows, mask, keys, reach)
        size = int(rows.max(initial=-1)) + 1
        if size > len(self._is_known):
            self._ways, self._is_known = grown(self._ways, size), grown(self._is_known, size)
        is_known = self._is_known[rows].all()
        if not is_known:
            self._learn(rows)
        ways = see_ways(rows, self._ways, mask.view(np.uint8), reach)
        if not is_known and len(strange := np.flatnonzero(~self._is_known[rows])):
            ways[strange] = np.stack(self._walk(rows[strange], mask, keys, reach), axis=1)
        return ways[:, _BEFORE], ways[:, _AFTER]

    def _learn(self, rows: Rows) -> None:
        """Keep the ways from some rows as they are while nothing is hidden.

        Those that meet several neighbours are not kept: which goes on, the mask says.
        """
        rows = rows[~self._is_known[rows]]
        is_plain = np.ones(len(rows), np.bool_)
        for side, one in enumerate(self._one):
            ways = np.full((_KEPT_STEPS + 1, len(rows)), NOBODY, np.int32)
            ways[0] = np.where(rows < len(one), rows, NOBODY)
            for step in range(1, _KEPT_STEPS + 1):
                here = ways[step - 1]
                ends = np.full(len(rows), NOBODY, np.int32)
                ends[here >= 0] = one[here[here >= 0]]
                is_plain &= ends != _SEVERAL
                # A way that is back where it was ends there.
                ends[(ways[:step] == ends).any(axis=0)] = NOBODY
                ways[step] = ends
            self._ways[rows, side] = ways[1:].T
        self._is_known[rows[is_plain]] = True

    def _forget(self, side: int, row: int) -> None:
        """Keep no way along which a row's neighbours on this side are met."""
        for _ in range(_KEPT_STEPS):
            if row < 0:
                break
            if row < len(self._is_known):
                self._is_known[row] = False
            row = int(self._one[1 - side, row])
        if row == _SEVERAL:
            self._is_known[:] = False

    def _walk(self, rows: Rows, mask: Mask, keys: Sequence[str], reach: int) -> tuple[Steps, Steps]:
        count, size = len(rows), self._one.shape[1]
        # Both sides at once: a place among the neighbours is a row, and beyond `size` one of
        # the other side.
        one, side = self._one.ravel(), np.repeat((0, size), count)
        visible = min(size, len(mask))
        ways = np.full((reach + 1, 2 * count), NOBODY, np.int32)
        ways[0] = np.tile(np.where(rows < size, rows, NOBODY), 2)
        for step in range(1, reach + 1):
            here = ways[step - 1]
            going = np.flatnonzero(here >= 0)
            ends = one.take(here.take(going) + side.take(going))
            for place in np.flatnonzero(ends == _SEVERAL).tolist() if self._several else ():
                at = going[place]
                several = self._several[int(at >= count), int(here[at])]
                seen = [end for end in several if end < visible and mask[end]]
                ends[place] = min(seen, key=keys.__getitem__, default=NOBODY)
            seen_at = (ends >= 0) & (ends < visible)
            seen_at &= mask.take(ends, mode="clip")
            # A way that is back where it was ends there.
            seen_at &= (ways[:step].take(going, axis=1) != ends).all(axis=0)
            ways[step, going[seen_at]] = ends[seen_at]
        steps = np.ascontiguousarray(ways[1:].T)
        return steps[:count], steps[count:]

    def pack(self) -> None:
        """Keep the ways from every row."""
        size = self._one.shape[1]
        self._ways, self._is_known = grown(self._ways, size), grown(self._is_known, size)
        self._learn(np.arange(size))

    def save(self) -> Saved:
        """Return all that is held."""
        several = [[*place, list(ends)] for place, ends in self._several.items()]
        sides = {"before": self._one[_BEFORE].copy(), "after": self._one[_AFTER].copy()}
        facts = {"count": self.count, "rows": self._one.shape[1], "several": several}
        return Saved(facts, {}, sides)

    @classmethod
    def restore(cls, saved: Saved) -> "Chains":
        """Return chains as they were saved; raises KeyError, ValueError, TypeError."""
        chains = cls()
        chains.count = int(saved.facts["count"])
        chains._several = {(side, row): tuple(e) for side, row, e in saved.facts["several"]}
        chains._one = np.stack([saved.by_row["before"], saved.by_row["after"]])
        chains._one[:, int(saved.facts["rows"]) :] = NOBODY
        chains.pack()
        return chains

    def _beside(self, side: int, row: int) -> Sequence[int]:
        return self._ends(
            side, row, int(self._one[side, row]) if row < self._one.shape[1] else NOBODY
        )

    def _ends(self, side: int, row: int, one: int) -> Sequence[int]:
        if one == _SEVERAL:
            return self._several[side, row]
        return () if one == NOBODY else (one,)

    def _set(self, side: int, row: int, ends: Sequence[int]) -> None:
        known = self._one.shape[1]
        if row >= known:
            self._one = np.ascontiguousarray(grown(self._one.T, row + 1).T)
            self._one[:, known:] = NOBODY
        self._forget(side, row)
        self._several.pop((side, row), None)
        if len(ends) > 1:
            self._several[side, row] = tuple(ends)
        self._one[side, row] = (NOBODY, *ends)[-1] if len(ends) < 2 else _SEVERAL
