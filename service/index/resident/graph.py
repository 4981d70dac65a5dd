"""The graph of one agent in RAM: numbered memories and concepts, edges between them, both ways."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

import numpy as np

from service.index.evidence import Names, with_other_spellings
from service.index.resident.adjacency import AdjacencyLists, Edges, Weighed
from service.index.resident.chains import Chains
from service.index.resident.concepts import Concepts
from service.index.resident.facts import CorruptRow
from service.index.resident.ragged import NOTHING
from service.index.resident.saved import Saved
from service.names.shares import DECLARED_SHARE, share_of
from service.records import Concept, Related, RelatedEdge
from service.text.digests import digest_of_name

EdgeTable = Literal["references", "related_to", "is_a", "follows"]
# Those of which a memory's row of the store has all.
MemoryEdges = Literal["references", "follows"]
EDGE_TABLES: Final[tuple[EdgeTable, ...]] = ("references", "related_to", "is_a", "follows")

# The database engine's own bound on each side of a concept (related_concepts.surql).
_MOST_RELATED: Final = 20
# An entry of a dict, a tuple and an int.
_DIGESTS_BYTES: Final = 180


class AgentGraph:
    """Concepts by slug, and all edges of one agent; memories stand here by their rows."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self._hold(AdjacencyLists(), AdjacencyLists(), AdjacencyLists(), Chains())
        self.concepts = Concepts(agent)
        self._declared: set[tuple[int, int]] = set()
        # Of the slugs of concepts that were asked for, by number.
        self._digests: dict[int, tuple[int, ...]] = {}
        # Which slugs a concept goes by beside its own, and the way back.
        self._others: dict[str, frozenset[str]] = {}
        self._leads_to: dict[str, str] = {}

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""
        own = len(self._digests) * _DIGESTS_BYTES
        return own + self.concepts.bytes + sum(table.bytes for table in self.edges.values())

    def finish(self) -> None:
        """Bring all into the arrays that a file can hold; nothing of what is gone is in them.

        The slug of a concept that is gone stays only where edges name it.
        """
        for table in self.edges.values():
            table.pack()
        ends = [table.sources() for table in (self.related_to, self.is_a)]
        ends += [table.targets() for table in (self.related_to, self.is_a, self.references)]
        self.concepts.pack(np.concatenate(ends))
        self._digests.clear()

    def save(self) -> Saved:
        """Return all that is held; `finish` comes first."""
        saved = Saved(
            {
                "others": {slug: sorted(others) for slug, others in self._others.items()},
                "declared": sorted(self._declared),
            }
        )
        saved.put("concepts", self.concepts.save())
        for name, edges in self.edges.items():
            saved.put(name, edges.save())
        return saved

    @classmethod
    def restore(cls, agent: str, saved: Saved) -> "AgentGraph":
        """Return an agent's graph as it was saved; raises KeyError, ValueError, TypeError."""
        graph = cls(agent)
        graph.concepts = Concepts.restore(agent, saved.part("concepts"))
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
        counts: dict[str, int] = {name: edges.count for name, edges in self.edges.items()}
        return {"concept": self.concepts.count, **counts}

    def number_of(self, slug: str) -> int:
        """Return a concept's number, a new one if need be."""
        return self.concepts.number(slug)

    def put_concept(
        self, slug: str, name: str, memories: int, others: Collection[str] = ()
    ) -> None:
        """Take in a concept, or what it is now, with its other slugs; raises CorruptRow."""
        strings = (slug, name, *others)
        if not (all(isinstance(one, str) for one in strings) and type(memories) is int):
            raise CorruptRow(f"concept {slug!r}")
        self._put_others(slug, others)
        self.concepts.put(slug, name, memories)

    def remove_concept(self, slug: str) -> None:
        """Forget a concept; its edges are taken away by themselves."""
        if self.concepts.find(slug) is not None:
            self.concepts.remove(slug)
            self._put_others(slug, ())

    def remove_edges_of_memory(self, row: int) -> None:
        """Forget the edges of a memory."""
        self.references.remove_node(row, behind=False)
        self.follows.remove_node(row)

    def remove_edges_of_concept(self, slug: str) -> None:
        """Forget the edges of a concept."""
        number = self.concepts.find(slug)
        if number is not None:
            self.references.remove_node(number, ahead=False)
            for table in (self.related_to, self.is_a):
                table.remove_node(number)
            self._declared = {pair for pair in self._declared if number not in pair}

    def _put_others(self, slug: str, others: Collection[str]) -> None:
        number = self.concepts.find(slug)
        if number is not None:
            self._digests.pop(number, None)
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
            number = self.concepts.find(slug)
            if number is not None and (concept := self.concepts[number]):
                words = (names[one] for one in (slug, *others) if one in names)
                named[concept] = frozenset[int]().union(*words)
        return named

    def concepts_of_one_name(
        self, names: Names, most_memories: int
    ) -> dict[Concept, frozenset[int]]:
        """Return the concepts of a single spelling that is one of these names, with its words."""
        named = {}
        for slug, words in names.items():
            number = self.concepts.find(slug) if words and slug not in self._others else None
            concept = None if number is None else self.concepts[number]
            if concept and concept.memories <= most_memories:
                named[concept] = words
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
        number = self.concepts.find(slug)
        return number is not None and self.concepts[number] is not None

    def concepts_of(self, row: int, most_memories: int) -> tuple[Concept, ...]:
        """Return a memory's concepts that stand in two to `most_memories` memories, by id."""
        linked = map(self.concepts.__getitem__, self.references.ahead(row))
        linking = [c for c in linked if c is not None and 1 < c.memories <= most_memories]
        return tuple(sorted(linking, key=lambda concept: concept.id))

    def rows_of(self, slug: str) -> Sequence[int]:
        """Return the rows of the memories that reference a concept; not to be kept."""
        number = self.concepts.find(slug)
        return NOTHING if number is None else self.references.behind(number)

    def digests(self, numbers: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the digests of each concept's slug and of all others that it goes by."""
        known = self._digests
        for number in numbers:
            if number not in known:
                slug = self.concepts.slug(number)
                slugs = (slug, *self._others.get(slug, ()))
                known[number] = tuple(map(digest_of_name, slugs))
        return [known[number] for number in numbers]

    def related(self, slug: str, allowed: set[str]) -> list[Related]:
        """Return the concepts beside one along `related_to` and `is_a`, tightest first."""
        number = self.concepts.find(slug)
        if number is None:
            return []
        near: list[Related] = []
        if "related_to" in allowed:
            near += self._beside(number)
        if "is_a" in allowed:
            table = self.is_a
            ends = [*table.ahead(number), *table.behind(number)]
            neighbours = map(self.concepts.__getitem__, ends)
            near += [Related(concept, "is_a", DECLARED_SHARE) for concept in neighbours if concept]
        return sorted(near, key=lambda related: (-related.share, related.concept.id))

    def related_edges(self, slug: str) -> list[RelatedEdge]:
        """Return all edges of `related_to` that begin or end at a concept."""
        number, table = self.concepts.find(slug), self.related_to
        if number is None:
            return []
        edges = []
        for is_behind, (ends, weights) in enumerate(
            (table.weighed_ahead(number), table.weighed_behind(number))
        ):
            for end, weight in zip(ends.tolist(), weights.tolist(), strict=True):
                edge = (end, number) if is_behind else (number, end)
                source, target = map(self.concepts.slug, edge)
                edges.append(RelatedEdge(source, target, weight, edge in self._declared))
        return edges

    def _beside(self, number: int) -> list[Related]:
        """Return the concepts that stand in the same memories, the heaviest of each side."""
        this, table = self.concepts[number], self.related_to
        sides = (table.weighed_ahead(number), table.weighed_behind(number))
        related = []
        for is_behind, side in enumerate(sides if this else ()):
            for weight, end in self._heaviest(side):
                other = self.concepts[end]
                if other is not None and this is not None:
                    edge = (end, number) if is_behind else (number, end)
                    share = share_of(weight, this.memories, other.memories)
                    is_declared = edge in self._declared
                    related.append(
                        Related(other, "related_to", DECLARED_SHARE if is_declared else share)
                    )
        return related

    def _heaviest(self, side: Weighed) -> list[tuple[int, int]]:
        """Return the heaviest edges as (weight, end), of equal ones the first by slug."""
        ends, weights = side
        if len(ends) > _MOST_RELATED:
            least = np.partition(weights, len(weights) - _MOST_RELATED)[-_MOST_RELATED]
            ends, weights = ends[weights >= least], weights[weights >= least]
        weighed = zip(weights.tolist(), ends.tolist(), strict=True)
        order = sorted((-weight, self.concepts.slug(end), end) for weight, end in weighed)
        return [(-weight, end) for weight, _, end in order[:_MOST_RELATED]]
