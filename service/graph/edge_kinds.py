"""The kinds of edges, how far each reaches, and the pairs of memories that each joins; pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from service.graph.pairs import (
    MemoryPair,
    distinct,
    pair_across,
    pair_count,
    pair_within,
    sample_groups,
)
from service.names.shares import LEAST_SHARE, share_of

# The order of kinds of concepts in the report; others come behind.
_KINDS: Final = ("declared", "title", "heading", "tag", "link", "given", "proper")
MOST_PAIRS: Final = 2000


@dataclass(frozen=True, slots=True)
class ConceptSize:
    """A concept: its slug, how it was met (`declared` if a person declared it), its memories."""

    slug: str
    kind: str
    memories: int


@dataclass(frozen=True, slots=True)
class MemoryLinks:
    """What one memory is linked to: slugs of concepts, and the memories just before and after."""

    slugs: tuple[str, ...]
    neighbours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConceptNeighbours:
    """The slugs beside one concept: `related_to` with weights (None if declared), and `is_a`."""

    related_to: Mapping[str, int | None]
    is_a: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EdgeKind:
    """The edges of one table, or those to one kind of concept.

    `groups` name what joins memories: one concept (two memories of it), two concepts (a memory of
    each) or two memories; `sizes` is how many pairs each group makes. `reached` counts the sampled
    memories that such an edge leads on from.
    """

    edge: str
    kind: str | None
    count: int
    concepts: int
    reached: int
    groups: tuple[tuple[str, ...], ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GraphSample:
    """What was read of an agent's graph: `links` by memory and `neighbours` by slug are sampled.

    `memories`, `concepts` and `counts` (edges by table) are of the whole graph.
    """

    memories: int
    hub_cap: int
    concepts: Sequence[ConceptSize]
    links: Mapping[str, MemoryLinks]
    neighbours: Mapping[str, ConceptNeighbours] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def linking(self) -> dict[str, int]:
        """Return the concepts that join memories, with how many: two at least, no hubs."""
        return {c.slug: c.memories for c in self.concepts if 1 < c.memories <= self.hub_cap}

    def sampled_linking(self) -> list[str]:
        """Return the linking concepts of the sampled memories, by slug."""
        mentioned = {slug for links in self.links.values() for slug in links.slugs}
        return sorted(mentioned & self.linking().keys())


@dataclass(frozen=True, slots=True)
class PairSample:
    """Pairs sampled from an edge's groups, as (group, number in the group)."""

    edges: EdgeKind
    numbers: Sequence[tuple[int, int]]

    def concepts(self) -> set[str]:
        """Return the concepts whose memories must be known to name the pairs."""
        if self.edges.edge == "follows":
            return set()
        return {slug for group, _ in self.numbers for slug in self.edges.groups[group]}

    def pairs(self, memories_of: Mapping[str, Sequence[str]]) -> list[MemoryPair]:
        """Return the pairs of memories, each once; `memories_of` has those of `concepts()`."""
        return distinct(self._pair(*number, memories_of) for number in self.numbers)

    def _pair(
        self, group: int, number: int, memories_of: Mapping[str, Sequence[str]]
    ) -> MemoryPair | None:
        names = self.edges.groups[group]
        if self.edges.edge == "follows":
            return names[0], names[1]
        if len(names) == 1:
            return pair_within(memories_of.get(names[0], ()), number)
        first, second = (memories_of.get(name, ()) for name in names)
        return pair_across((first, second), number)


def sample_pairs(edges: EdgeKind) -> PairSample:
    """Sample at most MOST_PAIRS pairs; all where they are fewer."""
    return PairSample(edges, sample_groups(edges.sizes, MOST_PAIRS))


def edge_kinds(graph: GraphSample) -> Iterator[EdgeKind]:
    """Yield every kind of edge: references by the kind of concept, then the other tables."""
    kinds = {concept.kind for concept in graph.concepts}
    order = [*(kind for kind in _KINDS if kind in kinds), *sorted(kinds - set(_KINDS))]
    for kind in order:
        yield _references(graph, kind)
    yield from _related(graph)
    is_a = {slug: neighbours.is_a for slug, neighbours in graph.neighbours.items()}
    yield _between_concepts(graph, "is_a", None, is_a)
    yield _follows(graph)


def _references(graph: GraphSample, kind: str) -> EdgeKind:
    every = [concept for concept in graph.concepts if concept.kind == kind]
    linking = {c.slug: c.memories for c in every if 1 < c.memories <= graph.hub_cap}
    return EdgeKind(
        edge="references",
        kind=kind,
        count=sum(concept.memories for concept in every),
        concepts=len(every),
        reached=_mentioning_any(graph, set(linking)),
        groups=tuple((slug,) for slug in linking),
        sizes=tuple(map(pair_count, linking.values())),
    )


def _mentioning_any(graph: GraphSample, slugs: set[str]) -> int:
    """Count the sampled memories that mention one of these concepts."""
    return sum(not slugs.isdisjoint(links.slugs) for links in graph.links.values())


def _related(graph: GraphSample) -> Iterator[EdgeKind]:
    """Yield `related_to` as tight and loose edges: walks follow the tight ones alone.

    The total is known; how it splits into tight and loose is estimated from the sample.
    """
    sizes = {concept.slug: concept.memories for concept in graph.concepts}
    by_kind: dict[str, dict[str, list[str]]] = {"tight": {}, "loose": {}}
    for slug, neighbours in graph.neighbours.items():
        for other, weight in neighbours.related_to.items():
            share = share_of(weight or 0, sizes.get(slug, 0), sizes.get(other, 0))
            kind = "tight" if weight is None or share >= LEAST_SHARE else "loose"
            by_kind[kind].setdefault(slug, []).append(other)
    sampled = {kind: sum(map(len, others.values())) for kind, others in by_kind.items()}
    total = graph.counts.get("related_to", 0)
    for kind, others in by_kind.items():
        count = round(total * sampled[kind] / max(1, sum(sampled.values())))
        yield replace(_between_concepts(graph, "related_to", kind, others), count=count)


def _between_concepts(
    graph: GraphSample, edge: str, kind: str | None, others_of: Mapping[str, Sequence[str]]
) -> EdgeKind:
    """Take the edges from concepts to `others_of` each, hubs left out."""
    small = {c.slug: c.memories for c in graph.concepts if c.memories <= graph.hub_cap}
    targets: dict[str, set[str]] = defaultdict(set)
    for slug, others in others_of.items():
        targets[slug].update(other for other in others if other in small)
    groups = sorted({(min(a, b), max(a, b)) for a, others in targets.items() for b in others})
    return EdgeKind(
        edge=edge,
        kind=kind,
        count=graph.counts.get(edge, 0),
        concepts=len({slug for group in groups for slug in group}),
        reached=_mentioning_any(graph, {slug for slug, others in targets.items() if others}),
        groups=tuple(groups),
        sizes=tuple(small[a] * small[b] for a, b in groups),
    )


def _follows(graph: GraphSample) -> EdgeKind:
    neighbours_of = {key: links.neighbours for key, links in graph.links.items()}
    groups = sorted({(min(a, b), max(a, b)) for a, others in neighbours_of.items() for b in others})
    # Each edge has two ends; the sampled memories stand for all of them.
    ends = sum(map(len, neighbours_of.values()))
    return EdgeKind(
        edge="follows",
        kind=None,
        count=round(ends / 2 * graph.memories / len(graph.links)) if graph.links else 0,
        concepts=0,
        reached=sum(map(bool, neighbours_of.values())),
        groups=tuple(groups),
        sizes=(1,) * len(groups),
    )
