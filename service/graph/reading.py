"""What the report reads, the same with either engine; every list is bounded."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from service.graph.edge_kinds import ConceptNeighbours, ConceptSize, MemoryLinks
from service.index.engine import Engine
from service.index.resident.amounts import true_index
from service.index.resident.evidence import newest_places
from service.index.resident.residency import Residency
from service.records import AHEAD_OF_ALL, TRUST_TIERS, Filters, RelatedEdge
from service.store.database import Database, record
from service.store.queries import Query, load_query

NEWEST_KEYS: Final = load_query(__package__, "newest_keys")
COUNT_WITHOUT_VECTOR: Final = load_query(__package__, "count_without_vector")
CONCEPT_SIZES: Final = load_query(__package__, "concept_sizes")
EDGES_BETWEEN_CONCEPTS: Final = load_query(__package__, "edges_between_concepts")
MEMORY_LINKS: Final = load_query(__package__, "memory_links")
BROADER_AND_NARROWER: Final = load_query(__package__, "broader_and_narrower")

_PAGE_CONCEPTS: Final = 5000
_PAGE_IDS: Final = 500
# What a walk goes on to on each side of a concept (related_concepts.surql).
_MOST_RELATED: Final = 20
_EVERY: Final = Filters(include_archived=True, with_ended=True, trust=TRUST_TIERS)


async def newest_keys(
    db: Database, residency: Residency | None, agent: str, most: int
) -> list[str]:
    """Return the ids of an agent's newest memories, in ascending order; of the store if need be."""
    index = await true_index(residency, agent) if residency else None
    if index is not None:
        places = await asyncio.to_thread(newest_places, index, _EVERY, AHEAD_OF_ALL, most)
        if places is not None:
            return sorted(place.id for place in places)
    keys: str = await db.run(NEWEST_KEYS, agent=agent, limit=most)
    return sorted(keys.split("\n")) if keys else []


async def count_without_vector(db: Database, agent: str) -> int:
    """Return how many of an agent's memories have no vector yet."""
    count: int = await db.run(COUNT_WITHOUT_VECTOR, agent=agent)
    return count


async def concept_sizes(db: Database, agent: str) -> list[ConceptSize]:
    """Return an agent's concepts that a memory mentions, by slug."""
    sizes: list[ConceptSize] = []
    after, end = [agent], [f"{agent}\x00"]
    while True:
        page = orjson.loads(await db.run(CONCEPT_SIZES, after=after, end=end, limit=_PAGE_CONCEPTS))
        sizes += [
            ConceptSize(key[1], "declared" if is_declared else kind, memories)
            for key, kind, is_declared, memories in page
            if memories > 0
        ]
        if len(page) < _PAGE_CONCEPTS:
            return sizes
        after = page[-1][0]


async def edges_between_concepts(db: Database, agent: str) -> Mapping[str, int]:
    """Return how many edges `related_to` and `is_a` have; counted by the store."""
    counts: dict[str, int] = await db.run(EDGES_BETWEEN_CONCEPTS, agent=agent)
    return counts


async def memory_links(db: Database, agent: str, keys: Sequence[str]) -> dict[str, MemoryLinks]:
    """Return what each memory is linked to, by its id."""
    ids = [record("memory", key) for key in keys]
    rows = await _rows(db, MEMORY_LINKS, "ids", ids, agent=agent)
    return {
        key: MemoryLinks(tuple(concept[1] for concept in concepts), tuple(neighbours))
        for key, concepts, neighbours in rows
    }


async def concept_neighbours(
    db: Database, engine: Engine, agent: str, slugs: Sequence[str]
) -> dict[str, ConceptNeighbours]:
    """Return the concepts that a walk goes on to from each concept."""
    ahead: dict[str, list[RelatedEdge]] = defaultdict(list)
    behind: dict[str, list[RelatedEdge]] = defaultdict(list)
    for edge in await engine.related_edges(agent, slugs):
        ahead[edge.source].append(edge)
        behind[edge.target].append(edge)
    ids = [record("concept", [agent, slug]) for slug in slugs]
    along_is_a = {key[1]: ends for key, ends in await _rows(db, BROADER_AND_NARROWER, "ids", ids)}
    found = {}
    for slug in slugs:
        heaviest = {edge.target: edge for edge in _heaviest(ahead[slug])}
        heaviest |= {edge.source: edge for edge in _heaviest(behind[slug])}
        weights = {key: None if e.is_declared else e.weight for key, e in heaviest.items()}
        ends = tuple(end for _, end in along_is_a.get(slug, ()))
        found[slug] = ConceptNeighbours(weights, ends)
    return found


def _heaviest(edges: Sequence[RelatedEdge]) -> list[RelatedEdge]:
    """Return the heaviest edges of one side of a concept, ties by the other end."""
    return sorted(edges, key=lambda edge: (-edge.weight, edge.source, edge.target))[:_MOST_RELATED]


async def _rows(
    db: Database, query: Query, name: str, values: Sequence[Any], **params: Any
) -> list[Any]:
    """Ask about values of one name, some hundred at once."""
    rows: list[Any] = []
    for start in range(0, len(values), _PAGE_IDS):
        part = list(values[start : start + _PAGE_IDS])
        rows += await db.run(query, **params, **{name: part})
    return rows
