"""What consolidation reads from the store: typed calls of the queries here."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import orjson

from service.consolidate.grouping import Candidate, Capacity, GroupKey, Wall, summary_key
from service.consolidate.near_duplicates import find_leaders
from service.consolidate.summary.refs import leader_of
from service.drafts.ids import digest
from service.drafts.stored_memory import StoredMemory
from service.links import stored
from service.names.subjects import concept_of_summary
from service.records import CONSOLIDATION
from service.store.database import Database, record
from service.store.queries import load_query
from service.store.vector_forms import Matrix
from service.store.vector_pages import pages_of_vectors
from service.text.tokens import estimate_tokens_of_bytes

CANDIDATES: Final = load_query(__package__, "candidates")
MEMBERS: Final = load_query(__package__, "members")
CAPACITIES: Final = load_query(__package__, "capacities")
NEAR_DUPLICATE_REFS: Final = load_query(__package__, "near_duplicate_refs")
DECLARED_NAMES: Final = load_query(__package__, "declared_names")

# What is compacted: raw logs. Notes, decisions, facts and the like were written to be kept.
KINDS: Final = ("daily_log", "observation")
_PAGE_IDS: Final = 500
_FIRST_PARTS: Final = 2
# The fault of a summary that has no other: it joins none, and takes more.
IS_SUMMARY: Final = "is a summary itself"
# The fields that put a memory away, with the fault that each is: it joins none and takes none.
PUT_AWAY: Final = {
    "archived_at": "was archived", "pinned": "was pinned",
    "valid_from": "was given a time to expire", "valid_until": "was given a time to expire",
}  # fmt: skip
# In the place of a summary that was deleted or taken back, while later parts of its group stand.
_GONE: Final = Capacity(0, 0, is_closed=True)
# What a summary takes from a memory. Their order is part of the hash that stored plans hold.
_STATE_FIELDS: Final = (
    "content_hash",
    "kind",
    "scope",
    "trust_tier",
    "sensitivity",
    "occurred_at",
    "importance",
    "title",
)


@dataclass(frozen=True, slots=True)
class Member:
    """A memory of a plan as it is now.

    `state` is as that of a candidate, `fault` why it can join no summary (None if it can), `into`
    the summary that it is a source of.
    """

    id: str
    state: str
    fault: str | None
    into: str | None


async def candidates(
    db: Database, agent: str, scope: str | None, before: datetime
) -> list[Candidate]:
    """Return the memories that may be consolidated, in the order in which they stand in one."""
    pages = [
        await db.run(CANDIDATES, agent=agent, scope=scope, before=before, kind=kind)
        for kind in KINDS
    ]
    return await asyncio.to_thread(_read_candidates, pages)


async def members(db: Database, keys: Sequence[str]) -> dict[str, Member]:
    """Return the memories among `keys` that exist, by id."""
    rows: list[dict[str, Any]] = []
    for page in _pages(keys):
        rows += orjson.loads(await db.run(MEMBERS, ids=[record("memory", key) for key in page]))
    return {row["id"]: _member(row) for row in rows}


async def concepts_of(db: Database, keys: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the concepts (slugs) that each memory references."""
    concepts: dict[str, frozenset[str]] = {}
    for page in _pages(keys):
        concepts |= await stored.linked_concepts(db, page)
    return concepts


async def capacities(
    db: Database, agent: str, groups: Iterable[GroupKey]
) -> dict[GroupKey, list[Capacity]]:
    """Return the capacities of the summaries that these groups have, in the order of their parts.

    The ids of summaries follow from group and part. Two parts of all groups are looked at, then
    twice as many of those that had one of them, and so on. What is gone between others is closed.
    """
    capacities_of: dict[GroupKey, list[Capacity]] = {}
    left, first, count = list(groups), 0, _FIRST_PARTS
    while left:
        places = await asyncio.to_thread(_places, agent, left, range(first, first + count))
        found = await _capacities_at(db, places)
        for (group, part), capacity in sorted(found.items(), key=lambda one: one[0][1]):
            known = capacities_of.setdefault(group, [])
            known += [_GONE] * (part - len(known)) + [capacity]
        left = list({group for group, _ in found})
        first, count = first + count, 2 * count
    return capacities_of


def _places(
    agent: str, groups: Iterable[GroupKey], parts: Sequence[int]
) -> dict[str, tuple[GroupKey, int]]:
    """Return the ids that the summaries of groups have, each with its group and part."""
    return {summary_key(agent, group, part): (group, part) for group in groups for part in parts}


async def _capacities_at(
    db: Database, places: Mapping[str, tuple[GroupKey, int]]
) -> dict[tuple[GroupKey, int], Capacity]:
    """Return the capacities of those summaries that exist, by group and part."""
    found: dict[tuple[GroupKey, int], Capacity] = {}
    for page in _pages(list(places)):
        for row in await db.run(CAPACITIES, ids=[record("memory", key) for key in page]):
            group, part = places[row["id"]]
            # One that was moved with its project keeps its id, and is another wall's. The groups of
            # that wall do not meet it here: to find it there, plans would have to look by wall and
            # ref, which no index knows, and number parts across walls.
            is_closed = any(row[name] for name in PUT_AWAY) or _wall(row) != group.wall
            tokens = estimate_tokens_of_bytes(row["bytes"])
            found[group, part] = Capacity(row["sources"], tokens, is_closed)
    return found


async def find_clusters(
    db: Database, agent: str, candidates: Sequence[Candidate]
) -> dict[str, str]:
    """Return for each near-duplicate the leader of its cluster; none spans a wall.

    Memories that have no vector yet are in no cluster.
    """
    facts = await db.meta("embedding")
    refs: list[str] = await db.run(NEAR_DUPLICATE_REFS, agent=agent)
    known = await _vectors(db, [leader_of(ref) for ref in refs], facts)
    walls = await _walls(db, known)
    by_wall: dict[Wall, list[str]] = {}
    for candidate in candidates:
        by_wall.setdefault(candidate.wall, []).append(candidate.id)
    leaders: dict[str, str] = {}
    for wall, keys in sorted(by_wall.items(), key=str):
        vectors = await _vectors(db, keys, facts)
        if not vectors:
            continue
        known_here = sorted(key for key in known if walls.get(key) == wall)
        dimensions = len(next(iter(vectors.values())))
        leaders |= await asyncio.to_thread(
            find_leaders,
            list(vectors),
            _matrix(list(vectors.values()), dimensions),
            known_here,
            _matrix([known[key] for key in known_here], dimensions),
        )
    return leaders


def _matrix(rows: Sequence[Matrix], dimensions: int) -> Matrix:
    return np.stack(rows) if rows else np.zeros((0, dimensions), np.float32)


async def _walls(db: Database, keys: Iterable[str]) -> dict[str, Wall]:
    memories = await stored.memories_by_id(db, keys)
    return {key: Wall(one.scope, one.trust_tier, one.sensitivity) for key, one in memories.items()}


async def _vectors(
    db: Database, keys: Sequence[str], facts: Mapping[str, Any]
) -> dict[str, Matrix]:
    """Return the vectors that there are, in the order of `keys`."""
    vectors: dict[str, Matrix] = {}
    async for page, rows in pages_of_vectors(db, keys, facts):
        vectors |= dict(zip(page, rows, strict=True))
    return {key: vectors[key] for key in keys if key in vectors}


def _read_candidates(pages: Iterable[str]) -> list[Candidate]:
    rows = [row for page in pages for row in orjson.loads(page)]
    return sorted(map(_candidate, rows), key=lambda candidate: candidate.order)


def _candidate(row: Mapping[str, Any]) -> Candidate:
    occurred_at = datetime.fromisoformat(row["occurred_at"])
    source = row.get("source") or {}
    return Candidate(
        id=row["id"],
        wall=_wall(row),
        occurred_at=occurred_at,
        order=(occurred_at, source.get("uri") or "", source.get("line_start") or 0, row["id"]),
        line=row.get("chain") or f"{row['source_kind']}:",
        state=_state(row),
        tokens=estimate_tokens_of_bytes(row["bytes"]),
    )


async def declared_names(
    db: Database, memories: Iterable[StoredMemory], refs: Iterable[str]
) -> dict[str, str]:
    """Return by slug how the user calls the declared concepts that summaries are about.

    `memories` are of one agent, whose concepts are meant; `refs` those of summary/refs.py.
    """
    agent = next((one.agent for one in memories), None)
    slugs = sorted({slug for ref in refs if (slug := concept_of_summary(ref))})
    if agent is None or not slugs:
        return {}
    return dict(await db.run(DECLARED_NAMES, ids=[record("concept", [agent, s]) for s in slugs]))


def _wall(row: Mapping[str, Any]) -> Wall:
    return Wall(row.get("scope"), row["trust_tier"], row["sensitivity"])


def _state(row: Mapping[str, Any]) -> str:
    """Return a hash of all that a summary takes from a memory."""
    source = row.get("source") or {}
    values = [str(row.get(name)) for name in _STATE_FIELDS]
    lines = [str(source.get(name)) for name in ("uri", "line_start")]
    return digest(*values, *lines, *row["tags"])


def _member(row: Mapping[str, Any]) -> Member:
    faults = (
        ("was consolidated", row.get("consolidated_into")),
        *((told, row.get(name)) for name, told in PUT_AWAY.items()),
        ("is quarantined", row["trust_tier"] == "quarantined"),
        (IS_SUMMARY, row["source_kind"] == CONSOLIDATION),
        (f"is of kind {row['kind']} now", row["kind"] not in KINDS),
    )
    fault = next((told for told, holds in faults if holds), None)
    return Member(row["id"], _state(row), fault, row.get("consolidated_into"))


def _pages(keys: Sequence[str]) -> Iterable[Sequence[str]]:
    return (keys[start : start + _PAGE_IDS] for start in range(0, len(keys), _PAGE_IDS))
