"""Edges between numbered nodes: adjacency lists both ways, and weights."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from service.index.resident.facts import CorruptRow
from service.index.resident.saved import Saved

NO_NODES: Final = array("i")
# A dict entry, an array object and its first growth, as sys.getsizeof tells them.
_NODE_BYTES: Final = 170
_WEIGHT_BYTES: Final = 150


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

    def save(self) -> Saved:
        """Return all that is held."""

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Go through all edges as (source, target)."""


def put_ends(edges: Edges, source: int, targets: Sequence[int]) -> None:
    """Let a node's edges lead to these nodes and to no others."""
    for target in {*edges.ahead(source)}.difference(targets):
        edges.remove(source, target)
    for target in targets:
        edges.put(source, target)


class AdjacencyLists:
    """Directed edges between numbered nodes: adjacency arrays both ways, and weights."""

    def __init__(self) -> None:
        self._ahead: dict[int, array[int]] = {}
        self._behind: dict[int, array[int]] = {}
        self._weights: dict[tuple[int, int], int] = {}
        self.count = 0

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""
        nodes = len(self._ahead) + len(self._behind)
        return nodes * _NODE_BYTES + self.count * 8 + len(self._weights) * _WEIGHT_BYTES

    def put(self, source: int, target: int, weight: int = 0) -> None:
        """Add an edge, or give it another weight; 0 takes no room. Raises CorruptRow."""
        if type(weight) is not int:
            raise CorruptRow(f"weight {weight!r}")
        if weight:
            self._weights[source, target] = weight
        else:
            self._weights.pop((source, target), None)
        ends = self._ahead.setdefault(source, array("i"))
        if target not in ends:
            ends.append(target)
            self._behind.setdefault(target, array("i")).append(source)
            self.count += 1

    def remove(self, source: int, target: int) -> None:
        """Take an edge away; one that is not there is nothing to do."""
        ends = self._ahead.get(source, NO_NODES)
        if target not in ends:
            return
        ends.remove(target)
        self._behind[target].remove(source)
        self._weights.pop((source, target), None)
        self.count -= 1

    def remove_node(self, node: int, *, ahead: bool = True, behind: bool = True) -> None:
        """Take away the edges that lead from a node, to it, or both."""
        for target in list(self.ahead(node)) if ahead else ():
            self.remove(node, target)
        for source in list(self.behind(node)) if behind else ():
            self.remove(source, node)

    def ahead(self, node: int) -> Sequence[int]:
        """Return the nodes that edges from this one lead to."""
        return self._ahead.get(node, NO_NODES)

    def behind(self, node: int) -> Sequence[int]:
        """Return the nodes that edges to this one come from."""
        return self._behind.get(node, NO_NODES)

    def weight(self, source: int, target: int) -> int:
        """Return the weight of an edge; 0 where none was given."""
        return self._weights.get((source, target), 0)

    def save(self) -> Saved:
        """Return all that is held: edges by their source, in the order that they came in."""
        ends = [np.array(ends, np.int32) for ends in self._ahead.values()]
        weights = np.array([(*edge, weight) for edge, weight in self._weights.items()], np.int64)
        return Saved(
            arrays={
                "sources": np.array(list(self._ahead), np.int32),
                "counts": np.array([len(some) for some in ends], np.int32),
                "targets": np.concatenate(ends) if ends else np.zeros(0, np.int32),
                "weights": weights.reshape(-1, 3),
            }
        )

    @classmethod
    def restore(cls, saved: Saved) -> "AdjacencyLists":
        """Return edges as they were saved; raises KeyError, ValueError, TypeError."""
        edges, arrays = cls(), saved.arrays
        sources, counts, targets = arrays["sources"], arrays["counts"], arrays["targets"]
        edges.count = len(targets)
        edges._ahead = _lists(sources, counts, targets)
        back = np.argsort(targets, kind="stable")
        nodes, found = np.unique(targets, return_counts=True)
        edges._behind = _lists(nodes, found, np.repeat(sources, counts)[back])
        pairs = zip(*arrays["weights"].T.tolist(), strict=True) if edges.count else ()
        edges._weights = {(source, target): weight for source, target, weight in pairs}
        return edges

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Go through all edges as (source, target)."""
        return ((source, end) for source, ends in self._ahead.items() for end in ends)


def _lists(
    nodes: NDArray[Any], counts: NDArray[Any], ends: NDArray[np.int32]
) -> "dict[int, array[int]]":
    """Return the ends of each node, of which the first `counts[0]` are the first node's."""
    whole = np.ascontiguousarray(ends, np.int32).data
    bounds = [0, *np.cumsum(counts).tolist()]
    return {
        node: array("i", whole[start:end])
        for node, start, end in zip(nodes.tolist(), bounds, bounds[1:], strict=False)
    }
