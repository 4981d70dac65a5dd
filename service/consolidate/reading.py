"""What consolidation reads from the store: typed calls of the queries here."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import orjson

from service.consolidate.grouping import Old, Place, Room, Wall, summary_key
from service.consolidate.likeness import Matrix, find_leaders
from service.drafts.drafts import digest
from service.graph.reading import pages_of_vectors
from service.links import stored
from service.records import CONSOLIDATION
from service.store.database import Database, record
from service.store.queries import load_query

OLD_MEMORIES: Final = load_query(__package__, "old_memories")
MEMBERS: Final = load_query(__package__, "members")
ROOMS: Final = load_query(__package__, "rooms")
LIKENESSES: Final = load_query(__package__, "likenesses")

# What is compacted: raw logs. Notes, decisions, facts and the like were written to be kept.
KINDS: Final = ("daily_log", "observation")
_PAGE_IDS: Final = 500
# Four letters of English are about a token, and so is a little more than one of Korean or Chinese.
_BYTES_OF_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class Member:
    """A memory of a plan as it is now: its state, and why it can join no summary, if so.

    `into` is the summary it is part of.
    """

    id: str
    state: str
    fault: str | None
    into: str | None


async def old_memories(db: Database, agent: str, scope: str | None, before: datetime) -> list[Old]:
    """Return the memories that may be consolidated, in the order in which summaries tell them."""
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        found = await db.run(OLD_MEMORIES, agent=agent, scope=scope, before=before, kind=kind)
        rows += orjson.loads(found)
    return sorted(map(_old, rows), key=lambda old: old.order)


async def members(db: Database, keys: Sequence[str]) -> dict[str, Member]:
    """Return the memories that exist among `keys`, as far as a plan is compared with them."""
    rows: list[dict[str, Any]] = []
    for page in _pages(keys):
        rows += orjson.loads(await db.run(MEMBERS, ids=[record("memory", key) for key in page]))
    return {row["id"]: _member(row) for row in rows}


async def concepts_of(db: Database, keys: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the concepts (slugs) that each memory references."""
    found: dict[str, frozenset[str]] = {}
    for page in _pages(keys):
        found |= await stored.linked_concepts(db, page)
    return found


async def rooms(db: Database, agent: str, places: Iterable[Place]) -> dict[Place, list[Room]]:
    """Return the summaries that these groups have, in the order of their parts."""
    found: dict[Place, list[Room]] = {}
    asked, part = list(places), 0
    while asked:
        keys = {summary_key(agent, place, part): place for place in asked}
        rows: dict[str, Room] = {}
        for page in _pages(list(keys)):
            for row in await db.run(ROOMS, ids=[record("memory", key) for key in page]):
                tokens = row["bytes"] // _BYTES_OF_TOKEN
                rows[row["id"]] = Room(row["id"], row["sources"], tokens, row["is_closed"])
        asked = [place for key, place in keys.items() if key in rows]
        for key, place in keys.items():
            if key in rows:
                found.setdefault(place, []).append(rows[key])
        part += 1
    return found


async def find_clusters(db: Database, agent: str, olds: Sequence[Old]) -> dict[str, str]:
    """Return for each near-duplicate the memory it is like; across no wall.

    Memories that have no vector yet are like none.
    """
    facts = await db.meta("embedding")
    refs: list[str] = await db.run(LIKENESSES, agent=agent)
    led = await _vectors(db, [ref.partition(":")[2] for ref in refs], facts)
    walls = await _walls(db, led)
    leaders: dict[str, str] = {}
    by_wall: dict[Wall, list[str]] = {}
    for old in olds:
        by_wall.setdefault(old.wall, []).append(old.id)
    for wall, keys in sorted(by_wall.items(), key=str):
        vectors = await _vectors(db, keys, facts)
        if not vectors:
            continue
        known = sorted(key for key in led if walls.get(key) == wall)
        width = len(next(iter(vectors.values())))
        leaders |= await asyncio.to_thread(
            find_leaders, list(vectors), np.stack(list(vectors.values())), known,
            np.stack([led[key] for key in known]) if known else np.zeros((0, width), np.float32),
        )  # fmt: skip
    return leaders


async def _walls(db: Database, keys: Iterable[str]) -> dict[str, Wall]:
    memories = await stored.memories_by_id(db, keys)
    return {key: Wall(one.scope, one.trust_tier, one.sensitivity) for key, one in memories.items()}


async def _vectors(
    db: Database, keys: Sequence[str], facts: Mapping[str, Any]
) -> dict[str, Matrix]:
    found: dict[str, Matrix] = {}
    async for page, rows in pages_of_vectors(db, keys, facts):
        found |= dict(zip(page, rows, strict=True))
    return {key: found[key] for key in keys if key in found}


def _old(row: Mapping[str, Any]) -> Old:
    occurred_at = datetime.fromisoformat(row["occurred_at"])
    source = row.get("source") or {}
    return Old(
        id=row["id"],
        wall=Wall(row.get("scope"), row["trust_tier"], row["sensitivity"]),
        occurred_at=occurred_at,
        order=(occurred_at, source.get("uri") or "", source.get("line_start") or 0, row["id"]),
        line=row.get("chain") or f"{row['source_kind']}:",
        state=_state(row),
        tokens=row["bytes"] // _BYTES_OF_TOKEN,
    )


def _state(row: Mapping[str, Any]) -> str:
    """Return a hash of all that a summary takes from a memory."""
    source = row.get("source") or {}
    names = ("content_hash", "kind", "scope", "trust_tier", "sensitivity", "occurred_at",
             "importance", "title")  # fmt: skip
    values = [str(row.get(name)) for name in names]
    place = [str(source.get(name)) for name in ("uri", "line_start")]
    return digest(*values, *place, *row["tags"])


def _member(row: Mapping[str, Any]) -> Member:
    faults = {
        "is a summary itself": row["source_kind"] == CONSOLIDATION,
        "was consolidated": row.get("consolidated_into"),
        "was archived": row.get("archived_at"),
        "was pinned": row.get("pinned"),
        "is quarantined": row["trust_tier"] == "quarantined",
        "was given a time to expire": row.get("valid_from") or row.get("valid_until"),
        f"is of kind {row['kind']} now": row["kind"] not in KINDS,
    }
    fault = next((fault for fault, holds in faults.items() if holds), None)
    return Member(row["id"], _state(row), fault, row.get("consolidated_into"))


def _pages(keys: Sequence[str]) -> Iterable[Sequence[str]]:
    return (keys[start : start + _PAGE_IDS] for start in range(0, len(keys), _PAGE_IDS))
