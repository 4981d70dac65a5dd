"""Decisions are memories of this kind: searchable and linked like all others."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from service.decisions.holding import DECISION, take_place
from service.errors import InvalidRequest
from service.links.change import Change
from service.memories.screening import Pushed
from service.memories.storing import find, store_one
from service.store.database import Database, record
from service.store.queries import load_query
from service.writing.pipeline import Pipeline, Synced, commit

LIST: Final = load_query(__package__, "list")
SUPERSEDING: Final = load_query(__package__, "superseding")


async def decide(pipeline: Pipeline, pushed: Pushed, superseded: str | None) -> tuple[str, Synced]:
    """Store a decision; the one whose place it takes holds no longer, while this one stands.

    Sent again it is the same decision, unless that one was superseded meanwhile. Raises
    MemoryNotFound and InvalidRequest for what cannot be superseded, before anything is written.
    """
    db = pipeline.db
    await _refuse_others(db, pushed.agent, superseded)
    key, synced = await store_one(pipeline, pushed)
    other = record("memory", superseded) if superseded else None
    if await db.run(SUPERSEDING, id=record("memory", key), superseded=other):
        again = replace(pushed, occurred_at=datetime.now(UTC))
        key, synced = await store_one(pipeline, again)
    if superseded is not None and superseded != key:
        taking = partial(take_place, superseding=key, superseded=superseded)
        await commit(pipeline, Change(pushed.agent, in_turn=taking))
    return key, synced


async def _refuse_others(db: Database, agent: str, superseded: str | None) -> None:
    if superseded is not None:
        old = await find(db, [agent], superseded)
        if old.kind != DECISION:
            raise InvalidRequest(f"/supersedes: {superseded!r} is a {old.kind}, no decision.")


async def list_decisions(db: Database, agent: str, **filters: Any) -> list[dict[str, Any]]:
    """Return decisions, the newest first; `filters` are the others of list.surql."""
    rows: list[dict[str, Any]] = await db.run(LIST, agent=agent, **filters)
    return rows
