"""The graph of one agent in RAM: numbered memories and concepts, edges between them, both ways."""

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Names, with_other_spellings
from service.index.resident.chains import Chains
from service.index.resident.facts import CorruptRow
from service.names.shares import DECLARED_SHARE, share_of
from service.records import FEW_MEMORIES, Concept, Related

EdgeTable = Literal["references", "related_to", "is_a", "follows"]
EDGE_TABLES: Final[tuple[EdgeTable, ...]] = ("references", "related_to", "is_a", "follows")

_NONE: Final = array("i")
# A dict entry, an array object and its first growth, as sys.getsizeof tells them.
_NODE_BYTES: Final = 170
_WEIGHT_BYTES: Final = 150
_CONCEPT_BYTES: Final = 300
# The database engine's own bound on each side of a concept (related_concepts.surql).
_MOST_RELATED: Final = 20


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

    def weight(self, source: int, target: int) -> int:
        """Return the weight of an edge; 0 where none was given."""

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Go through all edges as (source, target)."""


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
        ends = self._ahead.get(source, _NONE)
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
        return self._ahead.get(node, _NONE)

    def behind(self, node: int) -> Sequence[int]:
        """Return the nodes that edges to this one come from."""
        return self._behind.get(node, _NONE)

    def weight(self, source: int, target: int) -> int:
        """Return the weight of an edge; 0 where none was given."""
        return self._weights.get((source, target), 0)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Go through all edges as (source, target)."""
        return ((source, end) for source, ends in self._ahead.items() for end in ends)


class AgentGraph:
    """Concepts by slug, and all edges of one agent; memories stand here by their rows."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.references, self.related_to, self.is_a = (AdjacencyLists() for _ in range(3))
        self.follows = Chains()
        self.edges: Mapping[EdgeTable, Edges] = {
            "references": self.references,
            "related_to": self.related_to,
            "is_a": self.is_a,
            "follows": self.follows,
        }
        self._numbers: dict[str, int] = {}
        self._slugs: list[str] = []
        # None where a concept is gone; its number stays.
        self._concepts: list[Concept | None] = []
        self._declared: set[tuple[int, int]] = set()
        # Which slugs a concept goes by beside its own, and the way back.
        self._others: dict[str, frozenset[str]] = {}
        self._leads_to: dict[str, str] = {}

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""
        edges = sum(table.bytes for table in self.edges.values())
        return len(self._numbers) * _CONCEPT_BYTES + edges

    def counts(self) -> dict[str, int]:
        """Return how many concepts and edges there are, by the names of the store's tables."""
        concepts = sum(concept is not None for concept in self._concepts)
        return {"concept": concepts, **{name: edges.count for name, edges in self.edges.items()}}

    def number_of(self, slug: str) -> int:
        """Return a concept's number, a new one if need be."""
        number = self._numbers.setdefault(slug, len(self._concepts))
        if number == len(self._concepts):
            self._concepts.append(None)
            self._slugs.append(slug)
        return number

    def put_concept(
        self, slug: str, name: str, memories: int, others: Collection[str] = ()
    ) -> None:
        """Take in a concept, or what it is now, with its other slugs; raises CorruptRow."""
        strings = (slug, name, *others)
        if not (all(isinstance(one, str) for one in strings) and type(memories) is int):
            raise CorruptRow(f"concept {slug!r}")
        self._put_others(slug, others)
        self._concepts[self.number_of(slug)] = Concept((self.agent, slug), name, memories)

    def remove_concept(self, slug: str) -> None:
        """Forget a concept; its edges are taken away by themselves."""
        if slug in self._numbers:
            self._concepts[self._numbers[slug]] = None
            self._put_others(slug, ())

    def remove_edges_of_memory(self, row: int) -> None:
        """Forget the edges of a memory."""
        self.references.remove_node(row, behind=False)
        self.follows.remove_node(row)

    def remove_edges_of_concept(self, slug: str) -> None:
        """Forget the edges of a concept."""
        if slug in self._numbers:
            number = self._numbers[slug]
            self.references.remove_node(number, ahead=False)
            for table in (self.related_to, self.is_a):
                table.remove_node(number)
            self._declared = {pair for pair in self._declared if number not in pair}

    def _put_others(self, slug: str, others: Collection[str]) -> None:
        for old in self._others.pop(slug, ()):
            if self._leads_to.get(old) == slug:
                del self._leads_to[old]
        if others:
            self._others[slug] = frozenset(others)
            self._leads_to |= dict.fromkeys(others, slug)

    def spellings(self, names: Names) -> dict[str, frozenset[int]]:
        """Return names with all slugs that stand for the same concepts."""
        return with_other_spellings(names, self._groups(names))

    def concepts_named(self, names: Names) -> dict[Concept, frozenset[int]]:
        """Return the concepts of several spellings that go by some of these names, with words.

        The words are those of all names in the question that stand for it.
        """
        named = {}
        for slug, *others in self._groups(names):
            concept = self._concepts[self._numbers[slug]]
            if concept is not None:
                words = (names[one] for one in (slug, *others) if one in names)
                named[concept] = frozenset[int]().union(*words)
        return named

    def _groups(self, names: Names) -> list[tuple[str, ...]]:
        """Return all slugs of each concept of several that some of the names lead to."""
        slugs = {self._leads_to.get(slug, slug) for slug in names}
        return [(slug, *self._others[slug]) for slug in sorted(slugs & self._others.keys())]

    def declare(self, source: int, target: int, *, is_declared: bool) -> None:
        """Note whether a person said that two concepts are related."""
        (self._declared.add if is_declared else self._declared.discard)((source, target))

    def knows(self, slug: str) -> bool:
        """Return whether there is a concept with this slug."""
        number = self._numbers.get(slug)
        return number is not None and self._concepts[number] is not None

    def concepts_of(self, row: int, most_memories: int) -> tuple[Concept, ...]:
        """Return a memory's concepts that stand in two to `most_memories` memories, by id."""
        linked = (self._concepts[number] for number in self.references.ahead(row))
        linking = [c for c in linked if c is not None and 1 < c.memories <= most_memories]
        return tuple(sorted(linking, key=lambda concept: concept.id))

    def rows_of(self, slug: str) -> Sequence[int]:
        """Return the rows of the memories that reference a concept."""
        number = self._numbers.get(slug)
        return _NONE if number is None else self.references.behind(number)

    def links_of(
        self, row: int, most_memories: int, subjects: NDArray[np.int64]
    ) -> Iterator[tuple[Concept, NDArray[np.int32]]]:
        """Go through a memory's concepts with the rows that each leads to: see Engine.linked.

        `subjects` are the subjects' hashes by row.
        """
        for number in self.references.ahead(row):
            concept = self._concepts[number]
            if concept is None or not 1 < concept.memories <= most_memories:
                continue
            rows = np.array(self.references.behind(number), np.int32)
            rows = rows[rows < len(subjects)]
            if concept.memories > FEW_MEMORIES:
                slug = self._slugs[number]
                own = [hash(one) for one in (slug, *self._others.get(slug, ()))]
                if subjects[row] not in own:
                    rows = rows[np.logical_or.reduce([subjects[rows] == one for one in own])]
            yield concept, rows

    def related(self, slug: str, allowed: set[str]) -> list[Related]:
        """Return the concepts beside one along `related_to` and `is_a`, tightest first."""
        number = self._numbers.get(slug)
        if number is None:
            return []
        near: list[Related] = []
        if "related_to" in allowed:
            near += self._beside(number)
        if "is_a" in allowed:
            table = self.is_a
            ends = [*table.ahead(number), *table.behind(number)]
            neighbours = (self._concepts[end] for end in ends)
            near += [Related(concept, "is_a", DECLARED_SHARE) for concept in neighbours if concept]
        return sorted(near, key=lambda related: (-related.share, related.concept.id))

    def _beside(self, number: int) -> list[Related]:
        """Return the concepts that stand in the same memories, the heaviest of each side."""
        table = self.related_to
        ahead = [((number, end), end) for end in table.ahead(number)]
        behind = [((end, number), end) for end in table.behind(number)]
        related = []
        this = self._concepts[number]
        for side in (ahead, behind):
            weighed = sorted(
                (-table.weight(*edge), self._slugs[end], edge, end) for edge, end in side
            )
            for weight, _, edge, end in weighed[:_MOST_RELATED]:
                other = self._concepts[end]
                if other is not None and this is not None:
                    share = share_of(-weight, this.memories, other.memories)
                    is_declared = edge in self._declared
                    related.append(
                        Related(other, "related_to", DECLARED_SHARE if is_declared else share)
                    )
        return related
