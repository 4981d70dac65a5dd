"""The kinds of edges, how far each reaches, and the pairs of memories that each joins; pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from service.graph.pairs import Pair, across, couples, distinct, draw, within
from service.names.shares import LEAST_SHARE, share_of

# The order in which kinds of concepts are told; others come behind.
_KINDS: Final = ("declared", "title", "heading", "tag", "link", "given", "proper")
MOST_PAIRS: Final = 2000


@dataclass(frozen=True, slots=True)
class ConceptSize:
    """A concept: its slug, how it was met (`declared` if a person declared it), its memories."""

    slug: str
    kind: str
    memories: int


@dataclass(frozen=True, slots=True)
class Ties:
    """What one memory is tied to: slugs of concepts, and memories just before and after it."""

    slugs: tuple[str, ...]
    neighbours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """The slugs beside one concept: along `related_to` with weights, None if declared; `is_a`."""

    related_to: Mapping[str, int | None]
    is_a: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of one table, or those to one kind of concept.

    `groups` name what joins memories: one concept (two memories of it), two concepts (a memory of
    each) or two memories; `sizes` says how many pairs each makes. `reached` counts the sampled
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
class Graph:
    """What was read of an agent's graph; `ties` and `beside` belong to the sampled memories."""

    memories: int
    hub_cap: int
    concepts: Sequence[ConceptSize]
    ties: Mapping[str, Ties]
    beside: Mapping[str, Beside] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def linking(self) -> dict[str, int]:
        """Return the concepts that join memories, with how many: two at least, no hubs."""
        return {c.slug: c.memories for c in self.concepts if 1 < c.memories <= self.hub_cap}

    def tied(self) -> list[str]:
        """Return the linking concepts of the sampled memories, by slug."""
        linking = self.linking()
        return sorted({slug for ties in self.ties.values() for slug in ties.slugs} & linking.keys())


@dataclass(frozen=True, slots=True)
class Drawn:
    """Pairs drawn from an edge's groups, as (group, number in the group)."""

    edges: Edges
    numbers: Sequence[tuple[int, int]]

    def concepts(self) -> set[str]:
        """Return the concepts whose memories must be known to name the pairs."""
        if self.edges.edge == "follows":
            return set()
        return {slug for group, _ in self.numbers for slug in self.edges.groups[group]}

    def pairs(self, mentioning: Mapping[str, Sequence[str]]) -> list[Pair]:
        """Return the pairs of memories, each once; `mentioning` has those of `concepts()`."""
        return distinct(self._pair(*number, mentioning) for number in self.numbers)

    def _pair(
        self, group: int, number: int, mentioning: Mapping[str, Sequence[str]]
    ) -> Pair | None:
        names = self.edges.groups[group]
        if self.edges.edge == "follows":
            return names[0], names[1]
        keys, others = mentioning.get(names[0], ()), mentioning.get(names[-1], ())
        return within(keys, number) if len(names) == 1 else across((keys, others), number)


def drawn_from(edges: Edges) -> Drawn:
    """Draw pairs: all where they are few."""
    return Drawn(edges, draw(edges.sizes, MOST_PAIRS))


def edges_of(graph: Graph) -> Iterator[Edges]:
    """Yield every kind of edge: references by the kind of concept, then the other tables."""
    kinds = {concept.kind for concept in graph.concepts}
    order = [*(kind for kind in _KINDS if kind in kinds), *sorted(kinds - set(_KINDS))]
    for kind in order:
        yield _references(graph, kind)
    yield from _related(graph)
    yield _between(graph, "is_a", None, {s: b.is_a for s, b in graph.beside.items()})
    yield _follows(graph)


def _references(graph: Graph, kind: str) -> Edges:
    every = [concept for concept in graph.concepts if concept.kind == kind]
    linking = {c.slug: c.memories for c in every if 1 < c.memories <= graph.hub_cap}
    return Edges(
        "references", kind, sum(concept.memories for concept in every), len(every),
        sum(not linking.keys().isdisjoint(ties.slugs) for ties in graph.ties.values()),
        tuple((slug,) for slug in linking), tuple(map(couples, linking.values())),
    )  # fmt: skip


def _related(graph: Graph) -> Iterator[Edges]:
    """Yield `related_to` by tightness: a walk follows the tight ones alone.

    How many there are of each is told by those around the sampled memories.
    """
    sizes = {concept.slug: concept.memories for concept in graph.concepts}
    by_kind: dict[str, dict[str, list[str]]] = {"tight": {}, "loose": {}}
    for slug, beside in graph.beside.items():
        for other, weight in beside.related_to.items():
            share = share_of(weight or 0, sizes.get(slug, 0), sizes.get(other, 0))
            kind = "tight" if weight is None or share >= LEAST_SHARE else "loose"
            by_kind[kind].setdefault(slug, []).append(other)
    found = {kind: sum(map(len, near.values())) for kind, near in by_kind.items()}
    every = graph.counts.get("related_to", 0)
    for kind, near in by_kind.items():
        part = round(every * found[kind] / max(1, sum(found.values())))
        yield replace(_between(graph, "related_to", kind, near), count=part)


def _between(
    graph: Graph, edge: str, kind: str | None, beside: Mapping[str, Sequence[str]]
) -> Edges:
    """Take the edges between concepts, from those that memories are left by."""
    small = {c.slug: c.memories for c in graph.concepts if c.memories <= graph.hub_cap}
    near: dict[str, set[str]] = defaultdict(set)
    for slug, others in beside.items():
        near[slug].update(other for other in others if other in small)
    groups = sorted({(min(a, b), max(a, b)) for a, others in near.items() for b in others})
    left = {slug for slug, others in near.items() if others}
    return Edges(
        edge, kind, graph.counts.get(edge, 0), len({slug for group in groups for slug in group}),
        sum(not left.isdisjoint(ties.slugs) for ties in graph.ties.values()),
        tuple(groups), tuple(small[a] * small[b] for a, b in groups),
    )  # fmt: skip


def _follows(graph: Graph) -> Edges:
    steps = {(min(k, n), max(k, n)) for k, ties in graph.ties.items() for n in ties.neighbours}
    # Each edge has two ends; the sampled memories stand for all of them.
    ends = sum(len(ties.neighbours) for ties in graph.ties.values())
    count = round(ends / 2 * graph.memories / len(graph.ties)) if graph.ties else 0
    reached = sum(bool(ties.neighbours) for ties in graph.ties.values())
    groups = tuple(sorted(steps))
    return Edges("follows", None, count, 0, reached, groups, (1,) * len(groups))
