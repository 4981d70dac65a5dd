"""Decisions are memories of this kind: searchable and linked like all others."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

from service.decisions.holding import DECISION, take_place
from service.errors import FieldError, InvalidRequest
from service.links.change import Change
from service.memories.screening import Pushed
from service.memories.storing import find, store_one
from service.store.database import Database, record
from service.store.queries import load_query
from service.writing.pipeline import Pipeline, Synced, commit

SUPERSEDED_BY: Final = load_query(__package__, "superseded_by")
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
            what = f"{superseded!r} is a {old.kind}: send the id of one that GET /decisions lists"
            raise InvalidRequest(f"/supersedes: {what}.", (FieldError("/supersedes", what),))


async def superseded_by(db: Database, keys: Sequence[str]) -> dict[str, list[str]]:
    """Return by id which decisions took the place of each one, none that is quarantined."""
    found: dict[str, list[str]] = {key: [] for key in keys}
    ids = [record("memory", key) for key in keys]
    for superseded, superseding in await db.run(SUPERSEDED_BY, ids=ids) if ids else ():
        found[superseded].append(superseding)
    return {key: sorted(others) for key, others in found.items()}
