"""What the report reads from the store, the same with either engine; every list is bounded."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import orjson

from service.graph.edges import Beside, ConceptSize, Ties
from service.graph.measures import Floats, unit
from service.store.database import Database, record
from service.store.queries import Query, load_query
from service.store.vector_forms import FLOAT_BYTES, read_vector

NEWEST_KEYS: Final = load_query(__package__, "newest_keys")
WAITING_COUNT: Final = load_query(__package__, "waiting_count")
CONCEPT_SIZES: Final = load_query(__package__, "concept_sizes")
EDGES_BETWEEN_CONCEPTS: Final = load_query(__package__, "edges_between_concepts")
TIES_OF_MEMORIES: Final = load_query(__package__, "ties_of_memories")
MENTIONING: Final = load_query(__package__, "mentioning")
CONCEPTS_BESIDE: Final = load_query(__package__, "concepts_beside")
VECTORS: Final = load_query(__package__, "vectors")

_PAGE_CONCEPTS: Final = 5000
_PAGE_IDS: Final = 500
# 2,000 vectors of 2,560 dimensions are 20 MB as bytes, and five times that as lists on their way.
_PAGE_VECTORS: Final = 2000


async def newest_keys(db: Database, agent: str, most: int) -> list[str]:
    """Return the ids of an agent's newest memories, in ascending order."""
    found: str = await db.run(NEWEST_KEYS, agent=agent, limit=most)
    return sorted(found.split("\n")) if found else []


async def waiting_count(db: Database, agent: str) -> int:
    """Return how many of an agent's memories have no vector yet."""
    count: int = await db.run(WAITING_COUNT, agent=agent)
    return count


async def concept_sizes(db: Database, agent: str) -> list[ConceptSize]:
    """Return an agent's concepts that a memory mentions, by slug."""
    found: list[ConceptSize] = []
    after, end = [agent], [f"{agent}\x00"]
    while True:
        page = orjson.loads(await db.run(CONCEPT_SIZES, after=after, end=end, limit=_PAGE_CONCEPTS))
        found += [
            ConceptSize(key[1], "declared" if is_declared else kind, memories)
            for key, kind, is_declared, memories in page
            if memories > 0
        ]
        if len(page) < _PAGE_CONCEPTS:
            return found
        after = page[-1][0]


async def edges_between_concepts(db: Database, agent: str) -> Mapping[str, int]:
    """Return how many edges `related_to` and `is_a` have; counted by the store."""
    counts: dict[str, int] = await db.run(EDGES_BETWEEN_CONCEPTS, agent=agent)
    return counts


async def ties_of(db: Database, agent: str, keys: Sequence[str]) -> dict[str, Ties]:
    """Return what each memory is tied to."""
    rows = await _rows(db, TIES_OF_MEMORIES, [record("memory", key) for key in keys], agent=agent)
    return {
        key: Ties(tuple(concept[1] for concept in concepts), tuple(neighbours))
        for key, concepts, neighbours in rows
    }


async def mentioning(db: Database, agent: str, slugs: Sequence[str]) -> dict[str, list[str]]:
    """Return the ids of the memories that mention each concept, in ascending order."""
    rows = await _rows(db, MENTIONING, [record("concept", [agent, slug]) for slug in slugs])
    return {key[1]: sorted(keys) for key, keys in rows}


async def beside(db: Database, agent: str, slugs: Sequence[str]) -> dict[str, Beside]:
    """Return the concepts that a walk goes on to from each concept."""
    rows = await _rows(db, CONCEPTS_BESIDE, [record("concept", [agent, slug]) for slug in slugs])
    return {
        key[1]: Beside(
            {one[1]: None if is_declared else weight for one, weight, is_declared in related},
            tuple(one[1] for one in isa),
        )
        for key, related, isa in rows
    }


async def pages_of_vectors(
    db: Database, keys: Sequence[str], facts: Mapping[str, Any]
) -> AsyncIterator[tuple[list[str], Floats]]:
    """Yield the unit vectors of memories page by page, those that fit `facts` (meta:embedding)."""
    dimensions = facts.get("dimensions", 0)
    for start in range(0, len(keys), _PAGE_VECTORS):
        ids = [record("embedding", key) for key in keys[start : start + _PAGE_VECTORS]]
        rows = await db.run(VECTORS, ids=ids, fingerprint=facts.get("fingerprint"))
        fit = [(key, stored) for key, stored in rows if _is_whole(stored, dimensions)]
        if fit:
            yield (
                [key for key, _ in fit],
                unit(np.stack([read_vector(stored) for _, stored in fit])),
            )


def _is_whole(stored: bytes | list[float], dimensions: int) -> bool:
    return len(stored) == dimensions * (FLOAT_BYTES if isinstance(stored, bytes) else 1)


async def _rows(db: Database, query: Query, ids: Sequence[Any], **params: Any) -> list[Any]:
    found: list[Any] = []
    for start in range(0, len(ids), _PAGE_IDS):
        found += await db.run(query, ids=list(ids[start : start + _PAGE_IDS]), **params)
    return found
