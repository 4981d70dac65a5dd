"""The graph of one agent in RAM: numbered memories and concepts, edges between them, both ways."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Names, with_other_spellings
from service.index.resident.adjacency import NO_NODES, AdjacencyLists, Edges
from service.index.resident.chains import Chains
from service.index.resident.facts import CorruptRow
from service.index.resident.saved import Saved
from service.names.shares import DECLARED_SHARE, share_of
from service.records import FEW_MEMORIES, Concept, Related
from service.text.digests import digest_of_name

EdgeTable = Literal["references", "related_to", "is_a", "follows"]
# Those of which a memory's row of the store has all.
MemoryEdges = Literal["references", "follows"]
EDGE_TABLES: Final[tuple[EdgeTable, ...]] = ("references", "related_to", "is_a", "follows")

_CONCEPT_BYTES: Final = 300
# The database engine's own bound on each side of a concept (related_concepts.surql).
_MOST_RELATED: Final = 20


class AgentGraph:
    """Concepts by slug, and all edges of one agent; memories stand here by their rows."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self._hold(AdjacencyLists(), AdjacencyLists(), AdjacencyLists(), Chains())
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

    def save(self) -> Saved:
        """Return all that is held; the slug of a concept that is gone only where edges name it."""
        named = self._named_by_edges() if None in self._concepts else set()
        present = [concept is not None for concept in self._concepts]
        saved = Saved(
            {
                "others": {slug: sorted(others) for slug, others in self._others.items()},
                "declared": sorted(self._declared),
            },
            {
                "present": np.array(present, np.bool_),
                "memories": np.array([c.memories if c else 0 for c in self._concepts], np.int64),
            },
        )
        slugs = [
            slug if concept or number in named else f"\0{number}"
            for number, (slug, concept) in enumerate(zip(self._slugs, self._concepts, strict=True))
        ]
        saved.put_strings("slugs", slugs)
        saved.put_strings("names", [c.name if c else "" for c in self._concepts])
        for name, edges in self.edges.items():
            saved.put(name, edges.save())
        return saved

    @classmethod
    def restore(cls, agent: str, saved: Saved) -> "AgentGraph":
        """Return an agent's graph as it was saved; raises KeyError, ValueError, TypeError."""
        graph = cls(agent)
        graph._slugs = saved.strings("slugs")
        graph._numbers = {slug: number for number, slug in enumerate(graph._slugs)}
        told = zip(
            graph._slugs,
            saved.strings("names"),
            saved.arrays["memories"].tolist(),
            saved.arrays["present"].tolist(),
            strict=True,
        )
        graph._concepts = [
            Concept((agent, slug), name, memories) if is_present else None
            for slug, name, memories, is_present in told
        ]
        graph._declared = {(source, target) for source, target in saved.facts["declared"]}
        for slug, others in saved.facts["others"].items():
            graph._put_others(slug, others)
        graph._hold(
            AdjacencyLists.restore(saved.part("references")),
            AdjacencyLists.restore(saved.part("related_to")),
            AdjacencyLists.restore(saved.part("is_a")),
            Chains.restore(saved.part("follows")),
        )
        return graph

    def _named_by_edges(self) -> set[int]:
        """Return the numbers of the concepts at the ends of edges."""
        ends = {concept for _, concept in self.references}
        for table in (self.related_to, self.is_a):
            ends.update(end for edge in table for end in edge)
        return ends

    def _hold(
        self,
        references: AdjacencyLists,
        related_to: AdjacencyLists,
        is_a: AdjacencyLists,
        follows: Chains,
    ) -> None:
        self.references, self.related_to, self.is_a = references, related_to, is_a
        self.follows = follows
        self.edges: Mapping[EdgeTable, Edges] = {
            "references": references,
            "related_to": related_to,
            "is_a": is_a,
            "follows": follows,
        }

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
        if not self._others:
            return []
        slugs = {self._leads_to.get(slug, slug) for slug in names}
        return [(slug, *self._others[slug]) for slug in sorted(slugs & self._others.keys())]

    def put_edge(
        self, table: EdgeTable, ends: tuple[str, str], weight: int = 0, *, is_declared: bool = False
    ) -> None:
        """Take in an edge between two concepts (by slug), or what it is now."""
        edge = self.number_of(ends[0]), self.number_of(ends[1])
        self.edges[table].put(*edge, weight)
        if table == "related_to":
            (self._declared.add if is_declared else self._declared.discard)(edge)

    def remove_edge(self, table: EdgeTable, ends: tuple[str, str]) -> None:
        """Forget an edge between two concepts."""
        edge = self.number_of(ends[0]), self.number_of(ends[1])
        self.edges[table].remove(*edge)
        if table == "related_to":
            self._declared.discard(edge)

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
        return NO_NODES if number is None else self.references.behind(number)

    def links_of(
        self, row: int, most_memories: int, subjects: NDArray[np.int64]
    ) -> Iterator[tuple[Concept, NDArray[np.int32]]]:
        """Go through a memory's concepts with the rows that each leads to: see Engine.linked.

        `subjects` are the subjects' digests by row.
        """
        for number in self.references.ahead(row):
            concept = self._concepts[number]
            if concept is None or not 1 < concept.memories <= most_memories:
                continue
            rows = np.array(self.references.behind(number), np.int32)
            rows = rows[rows < len(subjects)]
            if concept.memories > FEW_MEMORIES:
                slug = self._slugs[number]
                own = [digest_of_name(one) for one in (slug, *self._others.get(slug, ()))]
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
