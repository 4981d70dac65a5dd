"""Decisions are memories of this kind: searchable and linked like all others."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from service.access.caller import Caller
from service.errors import InvalidRequest
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, store_one
from service.records import Memory
from service.store.database import Database, record
from service.store.queries import load_query
from service.writing.pipeline import Pipeline, Synced

LIST: Final = load_query(__package__, "list")
SUPERSEDING: Final = load_query(__package__, "superseding")
SUPERSEDE: Final = load_query(__package__, "supersede")

_KIND: Final = "decision"
_MOMENT: Final = timedelta(microseconds=1)


async def decide(
    pipeline: Pipeline, pushed: Pushed, superseded: str | None, sender: Caller
) -> tuple[str, Synced]:
    """Store a decision; the one whose place it takes holds no longer from now on.

    Sent again it is the same decision, unless that one was superseded meanwhile. Raises
    MemoryNotFound and InvalidRequest for what cannot be superseded, before anything is written.
    """
    old = await _to_supersede(pipeline.db, pushed.agent, superseded)
    key, synced = await store_one(pipeline, pushed)
    if await pipeline.db.run(SUPERSEDING, id=record("memory", key)):
        again = replace(pushed, occurred_at=datetime.now(UTC))
        key, synced = await store_one(pipeline, again)
    if old is not None and old.id != key:
        await pipeline.db.run(
            SUPERSEDE, id=record("memory", key), superseded=record("memory", old.id)
        )
        now = datetime.now(UTC)
        if old.valid_until is None or old.valid_until > now:
            await change_memory(pipeline, old, {"valid_until": now - _MOMENT}, sender)
    return key, synced


async def _to_supersede(db: Database, agent: str, key: str | None) -> Memory | None:
    if key is None:
        return None
    old = await find(db, [agent], key)
    if old.kind != _KIND:
        raise InvalidRequest(f"/supersedes: {key!r} is a {old.kind}, no decision.")
    return old


async def list_decisions(db: Database, agent: str, **filters: Any) -> list[dict[str, Any]]:
    """Return decisions, the newest first; `filters` are the others of list.surql."""
    rows: list[dict[str, Any]] = await db.run(LIST, agent=agent, **filters)
    return rows
