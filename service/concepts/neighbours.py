"""One step along the graph's edges: typed calls of the queries here."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from service.database import Database, record
from service.fields import title_of
from service.queries import load_query
from service.records import Concept, ConceptId, Related

CONCEPTS_OF_MEMORIES: Final = load_query(__package__, "concepts_of_memories")
MEMORIES_OF_CONCEPTS: Final = load_query(__package__, "memories_of_concepts")
RELATED_CONCEPTS: Final = load_query(__package__, "related_concepts")
BEFORE_AND_AFTER: Final = load_query(__package__, "before_and_after")

# A person said so: as tight as two concepts that stand together four times out of five.
_DECLARED_SHARE: Final = 0.8


async def concepts_of_memories(
    db: Database, keys: Iterable[str], caps: Mapping[str, int]
) -> dict[str, tuple[str, tuple[Concept, ...]]]:
    """Return each memory's title and the concepts that it can link by.

    `caps` gives for each agent the number of memories above which a concept links nothing; one
    that stands in a single memory links nothing either.
    """
    rows = await db.run(CONCEPTS_OF_MEMORIES, ids=[record("memory", key) for key in keys])
    return {
        row["id"]: (
            title_of(row["title"], row["beginning"]),
            tuple(
                concept
                for concept in map(_concept, row["concepts"])
                if 1 < concept.memories <= caps.get(concept.id[0], 0)
            ),
        )
        for row in rows
    }


async def memories_of_concepts(
    db: Database, concepts: Iterable[ConceptId]
) -> dict[ConceptId, list[str]]:
    """Return the ids of the memories that reference each concept, in ascending order."""
    ids = [record("concept", list(key)) for key in concepts]
    rows = await db.run(MEMORIES_OF_CONCEPTS, ids=ids) if ids else []
    return {(row["id"][0], row["id"][1]): sorted(row["memories"]) for row in rows}


async def related_concepts(
    db: Database, concepts: Sequence[Concept], edges: Iterable[str]
) -> dict[ConceptId, list[Related]]:
    """Return the concepts beside each one, along `related_to` and `is_a` as `edges` allows."""
    allowed, by_id = set(edges), {concept.id: concept for concept in concepts}
    if not by_id or not allowed & {"related_to", "is_a"}:
        return {}
    rows = await db.run(RELATED_CONCEPTS, ids=[record("concept", list(key)) for key in by_id])
    found: dict[ConceptId, list[Related]] = {}
    for row in rows:
        key = (row["id"][0], row["id"][1])
        near: list[Related] = []
        if "related_to" in allowed:
            near += [
                Related(_concept(r), "related_to", _share(r, by_id[key])) for r in row["related"]
            ]
        if "is_a" in allowed:
            near += [Related(_concept(r), "is_a", _DECLARED_SHARE) for r in row["isa"]]
        found[key] = sorted(near, key=lambda r: (-r.share, r.concept.id))
    return found


async def before_and_after(
    db: Database, keys: Iterable[str]
) -> dict[str, tuple[list[str], list[str]]]:
    """Return the ids of the memories just before and just after each one."""
    ids = [record("memory", key) for key in keys]
    rows = await db.run(BEFORE_AND_AFTER, ids=ids) if ids else []
    return {row["id"]: (sorted(row["before"]), sorted(row["after"])) for row in rows}


def _concept(row: Mapping[str, Any]) -> Concept:
    return Concept((row["id"][0], row["id"][1]), row["name"], row["memories"])


def _share(row: Mapping[str, Any], other: Concept) -> float:
    """Return in which share of the more frequent one's memories both stand."""
    if row["is_declared"]:
        return _DECLARED_SHARE
    frequent = max(1, int(row["memories"]), other.memories)
    return min(1.0, float(row["weight"]) / frequent)
