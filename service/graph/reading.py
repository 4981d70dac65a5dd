"""What the report reads from the store, the same with either engine; every list is bounded."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from service.graph.edge_kinds import ConceptNeighbours, ConceptSize, MemoryLinks
from service.store.database import Database, record
from service.store.queries import Query, load_query

NEWEST_KEYS: Final = load_query(__package__, "newest_keys")
COUNT_WITHOUT_VECTOR: Final = load_query(__package__, "count_without_vector")
CONCEPT_SIZES: Final = load_query(__package__, "concept_sizes")
EDGES_BETWEEN_CONCEPTS: Final = load_query(__package__, "edges_between_concepts")
MEMORY_LINKS: Final = load_query(__package__, "memory_links")
MEMORIES_OF_CONCEPTS: Final = load_query(__package__, "memories_of_concepts")
CONCEPT_NEIGHBOURS: Final = load_query(__package__, "concept_neighbours")

_PAGE_CONCEPTS: Final = 5000
_PAGE_IDS: Final = 500


async def newest_keys(db: Database, agent: str, most: int) -> list[str]:
    """Return the ids of an agent's newest memories, in ascending order."""
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


async def memories_of(db: Database, agent: str, slugs: Sequence[str]) -> dict[str, list[str]]:
    """Return the ids of the memories that mention each concept, in ascending order."""
    found: dict[str, set[str]] = {slug: set() for slug in slugs}
    rows = await _rows(db, MEMORIES_OF_CONCEPTS, "keys", [[agent, slug] for slug in slugs])
    for key, concepts in rows:
        for _, slug in concepts:
            if slug in found:
                found[slug].add(key)
    return {slug: sorted(keys) for slug, keys in found.items()}


async def concept_neighbours(
    db: Database, agent: str, slugs: Sequence[str]
) -> dict[str, ConceptNeighbours]:
    """Return the concepts that a walk goes on to from each concept."""
    found = {slug: await db.run(CONCEPT_NEIGHBOURS, agent=agent, slug=slug) for slug in slugs}
    return {
        slug: ConceptNeighbours(
            {
                other: None if is_declared else weight
                for other, weight, is_declared in one["related"]
            },
            tuple(other[1] for other in one["is_a"]),
        )
        for slug, one in found.items()
    }


async def _rows(
    db: Database, query: Query, name: str, values: Sequence[Any], **params: Any
) -> list[Any]:
    """Ask about values of one name, some hundred at once."""
    rows: list[Any] = []
    for start in range(0, len(values), _PAGE_IDS):
        part = list(values[start : start + _PAGE_IDS])
        rows += await db.run(query, **params, **{name: part})
    return rows
