"""Edges between numbered nodes: adjacency lists both ways, and weights."""

from collections.abc import Iterator, Sequence
from operator import indexOf
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from service.index.resident.facts import CorruptRow
from service.index.resident.ragged import Gathered, Ragged
from service.index.resident.saved import Saved

Weighed = tuple[NDArray[np.int32], NDArray[np.int32]]

_AHEAD: Final = 0
_BEHIND: Final = 1
# What an int32 can hold: no count of memories is larger.
_MOST_WEIGHT: Final = 2**31 - 1
# Up to so many are looked through faster than an array is made of them.
_FEW: Final = 64


class Edges(Protocol):
    """The edges of one table between numbered nodes."""

    count: int

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""

    def put(self, source: int, target: int, weight: int = 0) -> None:
        """Add an edge, or give it another weight; raises CorruptRow."""

    def remove(self, source: int, target: int) -> None:
        """Take an edge away; one that is not there is nothing to do."""

    def ahead(self, node: int, /) -> Sequence[int]:
        """Return the nodes that edges from this one lead to."""

    def weight(self, source: int, target: int) -> int:
        """Return the weight of an edge; 0 where none was given."""

    def pack(self) -> None:
        """Bring all into the form that is saved."""

    def save(self) -> Saved:
        """Return all that is held; `pack` comes first."""

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Go through all edges as (source, target)."""


def put_ends(edges: Edges, source: int, targets: Sequence[int]) -> None:
    """Let a node's edges lead to these nodes and to no others."""
    for target in {*edges.ahead(source)}.difference(targets):
        edges.remove(source, target)
    for target in targets:
        edges.put(source, target)


class AdjacencyLists:
    """Directed edges between numbered nodes: adjacency lists both ways, and weights.

    A node's weights stand in the order of its ends; those of the last ends may lack, which are 0.
    """

    def __init__(self) -> None:
        self._ends = Ragged(), Ragged()
        self._weights = Ragged(), Ragged()
        self.count = 0

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""
        return sum(lists.bytes for lists in (*self._ends, *self._weights))

    def put(self, source: int, target: int, weight: int = 0) -> None:
        """Add an edge, or give it another weight; 0 takes no room. Raises CorruptRow."""
        if type(weight) is not int or abs(weight) > _MOST_WEIGHT:
            raise CorruptRow(f"weight {weight!r}")
        place = _place(self._ends[_AHEAD][source], target)
        if place is None:
            ahead, behind = self._ends[_AHEAD].own(source), self._ends[_BEHIND].own(target)
            ahead.append(target)
            behind.append(source)
            self.count += 1
            if weight:
                self._weigh(_AHEAD, source, len(ahead) - 1, weight)
                self._weigh(_BEHIND, target, len(behind) - 1, weight)
        elif weight != self.weight(source, target):
            self._weigh(_AHEAD, source, place, weight)
            self._weigh(_BEHIND, target, _place(self.behind(target), source) or 0, weight)

    def remove(self, source: int, target: int) -> None:
        """Take an edge away; one that is not there is nothing to do."""
        if _place(self._ends[_AHEAD][source], target) is None:
            return
        for side, node, end in ((_AHEAD, source, target), (_BEHIND, target, source)):
            place = _place(self._ends[side][node], end) or 0
            self._ends[side].own(node).pop(place)
            if place < len(self._weights[side][node]):
                self._weights[side].own(node).pop(place)
        self.count -= 1

    def remove_node(self, node: int, *, ahead: bool = True, behind: bool = True) -> None:
        """Take away the edges that lead from a node, to it, or both."""
        for target in list(self.ahead(node)) if ahead else ():
            self.remove(node, target)
        for source in list(self.behind(node)) if behind else ():
            self.remove(source, node)

    def ahead(self, node: int) -> Sequence[int]:
        """Return the nodes that edges from this one lead to; not to be kept, as edges change."""
        return self._ends[_AHEAD][node]

    def behind(self, node: int) -> Sequence[int]:
        """Return the nodes that edges to this one come from; not to be kept, as edges change."""
        return self._ends[_BEHIND][node]

    def gather_ahead(self, nodes: NDArray[Any]) -> Gathered:
        """Return the nodes that edges from these lead to, one node's after the other's."""
        return self._ends[_AHEAD].gather(nodes)

    def gather_behind(self, nodes: NDArray[Any]) -> Gathered:
        """Return the nodes that edges to these come from, one node's after the other's."""
        return self._ends[_BEHIND].gather(nodes)

    def weight(self, source: int, target: int) -> int:
        """Return the weight of an edge; 0 where none was given."""
        weights = self._weights[_AHEAD][source]
        place = _place(self._ends[_AHEAD][source], target) if weights else None
        return 0 if place is None or place >= len(weights) else weights[place]

    def weighed_ahead(self, node: int) -> Weighed:
        """Return the nodes that edges from this one lead to, and the edges' weights."""
        return self._weighed(_AHEAD, node)

    def weighed_behind(self, node: int) -> Weighed:
        """Return the nodes that edges to this one come from, and the edges' weights."""
        return self._weighed(_BEHIND, node)

    def pack(self) -> None:
        """Bring all into the arrays that a file can hold."""
        for lists in (*self._ends, *self._weights):
            lists.pack()

    def sources(self) -> NDArray[np.intp]:
        """Return the nodes that edges come from; all is packed by now."""
        return self._ends[_AHEAD].filled()

    def targets(self) -> NDArray[np.intp]:
        """Return the nodes that edges lead to; all is packed by now."""
        return self._ends[_BEHIND].filled()

    def save(self) -> Saved:
        """Return all that is held; `pack` comes first."""
        saved = Saved({"count": self.count})
        for name, lists in self._lists().items():
            saved.put(name, lists.save())
        return saved

    @classmethod
    def restore(cls, saved: Saved) -> "AdjacencyLists":
        """Return edges as they were saved; raises KeyError, ValueError, TypeError."""
        edges = cls()
        edges.count = int(saved.facts["count"])
        lists = [Ragged.restore(saved.part(name)) for name in edges._lists()]
        edges._ends, edges._weights = (lists[0], lists[1]), (lists[2], lists[3])
        return edges

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Go through all edges as (source, target)."""
        ahead = self._ends[_AHEAD]
        return ((source, end) for source in range(len(ahead)) for end in ahead[source])

    def _lists(self) -> dict[str, Ragged]:
        names = ("ahead", "behind", "weights ahead", "weights behind")
        return dict(zip(names, (*self._ends, *self._weights), strict=True))

    def _weigh(self, side: int, node: int, place: int, weight: int) -> None:
        """Note the weight of an edge by its place among the node's."""
        own = self._weights[side].own(node)
        if len(own) <= place:
            own.extend([0] * (place + 1 - len(own)))
        own[place] = weight

    def _weighed(self, side: int, node: int) -> Weighed:
        ends = np.array(self._ends[side][node], np.int32)
        weights, known = np.zeros(len(ends), np.int32), self._weights[side][node]
        weights[: len(known)] = known
        return ends, weights


def _place(ends: Sequence[int], end: int) -> int | None:
    """Return where a node stands among others; None where it does not."""
    if len(ends) > _FEW:
        places = np.flatnonzero(np.asarray(ends) == end)
        return int(places[0]) if len(places) else None
    return indexOf(ends, end) if end in ends else None
