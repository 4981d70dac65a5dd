"""Ranked memory ids by one signal each, from SurrealDB's own indexes and edges."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.concepts.neighbours import concepts_of_memories, memories_of_concepts
from service.database import Database, record
from service.embedder import Vector
from service.queries import load_query
from service.records import Filters, Scored
from service.search.concept_votes import Seed, vote
from service.words import query_words

BY_TEXT: Final = load_query(__package__, "by_text")
BY_VECTOR: Final = load_query(__package__, "by_vector")
BY_VECTOR_EXACTLY: Final = load_query(__package__, "by_vector_exactly")
VISIBLE: Final = load_query(__package__, "visible")

# Every memory that is filtered is read: taken in slices from the top until enough have passed.
_SLICE: Final = 100


async def by_text(db: Database, text: str, filters: Filters, limit: int) -> list[Scored]:
    """Return the memories whose words match best (BM25)."""
    words = query_words(text)
    if not words:
        return []
    rows = await db.run(BY_TEXT, words=words, limit=limit, **filters.params())
    return [Scored(row["id"], row["score"]) for row in rows]


async def by_vector(
    db: Database, vector: Vector, filters: Filters, limit: int
) -> tuple[list[Scored], int]:
    """Return the memories nearest in meaning, by cosine, and how many near ones were filtered out.

    The HNSW index knows no filters: when too few of its nearest pass them, every memory that
    does pass is compared exactly, so that a rare scope loses nothing.
    """
    numbers = vector.tolist()
    found = await db.run(BY_VECTOR, vector=numbers, **filters.params())
    visible = set(found["visible"])
    filtered = len(found["near"]) - len(visible)
    if len(visible) < min(limit, len(found["near"])):
        rows = await db.run(BY_VECTOR_EXACTLY, vector=numbers, limit=limit, **filters.params())
        return [Scored(row["id"], row["score"]) for row in rows], filtered
    near = sorted((row["distance"], row["id"]) for row in found["near"] if row["id"] in visible)
    return [Scored(key, 1.0 - distance) for distance, key in near[:limit]], filtered


async def by_concepts(
    db: Database, seeds: Sequence[Scored], filters: Filters, limit: int, caps: Mapping[str, int]
) -> list[Scored]:
    """Return the memories that share concepts with the seeds, the rarer the better.

    `caps` gives for each agent the number of memories from which on a concept links nothing.
    """
    concepts = await concepts_of_memories(db, [seed.id for seed in seeds], caps)
    known = [
        Seed(seed.id, concepts[seed.id][0], seed.score, concepts[seed.id][1])
        for seed in seeds
        if seed.id in concepts
    ]
    wanted = sorted({concept.id for seed in known for concept in seed.concepts})
    votes = vote(known, await memories_of_concepts(db, wanted))
    return await keep_visible(db, votes, filters, limit)


async def keep_visible(
    db: Database, ranking: Sequence[Scored], filters: Filters, limit: int
) -> list[Scored]:
    """Return the first `limit` of a ranking that pass the filters, in its order."""
    kept: list[Scored] = []
    for start in range(0, len(ranking), _SLICE):
        part = ranking[start : start + _SLICE]
        ids = [record("memory", hit.id) for hit in part]
        visible = set(await db.run(VISIBLE, ids=ids, **filters.params()))
        kept += [hit for hit in part if hit.id in visible]
        if len(kept) >= limit:
            break
    return kept[:limit]
