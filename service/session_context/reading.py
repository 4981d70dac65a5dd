"""What a session context is made of, read by whichever engine there is: no embedding, no model."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from service.index.engine import Engine
from service.intents.standing import due_intents
from service.kinds import AUTOMATIC, IN_PASSING, OUTDATED
from service.records import Filters, Memory
from service.session_context.sections import CONSTRAINT, Found
from service.store.database import Database
from service.store.queries import load_query
from service.working_memory.texts import Place, WorkingMemory, read_some

HOT: Final = load_query(__package__, "hot")

# What is neither told by a section of its own nor a summary of what is.
_RULES: Final = ("preference", "decision")
_OTHER_KINDS: Final = ("note", "fact", "entity", "observation", "daily_log", "summary")
# The owner's, an agent's and the service's own; nobody else's words steer a session.
_ORIGINS: Final = ("owner", "agent", "system")
_TRUST: Final = ("trusted",)
# Each is unpacked, 20 microseconds: so many are read as may stand in the context.
_MOST_RULES: Final = 40
_MOST_DECISIONS: Final = 12
_MOST_PREFERENCES: Final = 24
_MOST_OTHERS: Final = 40
# What somebody left is told so long beside handoffs that nobody wrote.
_STILL_TOLD: Final = timedelta(days=7)
# Of what was said in passing there may be as much as of what was said to be kept.
_WIDER: Final = 2


async def find_all(
    engine: Engine, db: Database, place: Place, without: tuple[str, ...] = ()
) -> Found:
    """Read what a session at this place should know, but for the ids in `without`."""
    asked = Filters(
        (place.agent,), project=place.scope or "", trust=_TRUST, origins=_ORIGINS, without=without
    )
    # The database reads while the index in RAM answers.
    aside = asyncio.gather(
        _focus(db, place),
        due_intents(db, place.agent, place.scope, datetime.now(UTC)),
        db.run(HOT, agent=place.agent, scopes=[place.scope, ""] if place.scope else [""]),
    )
    # Of the project itself; the agent's own is not the next best.
    handoffs = await _handoffs(engine, replace(asked, scope=place.scope))
    constraints = await _latest(engine, replace(asked, tags=(CONSTRAINT,)), _RULES, _MOST_RULES)
    decisions = await _surest(engine, asked, "decision", _MOST_DECISIONS)
    preferences = await _surest(engine, asked, "preference", _MOST_PREFERENCES)
    others = await _latest(engine, asked, _OTHER_KINDS, _MOST_OTHERS)
    focus, intents, hot = await aside
    return Found(
        handoffs, focus, constraints, tuple(intents), decisions,
        preferences, await _fetched(engine, asked, [row["memory"] for row in hot]), others,
    )  # fmt: skip


async def _handoffs(engine: Engine, asked: Filters) -> tuple[Memory, ...]:
    """Return the last handoff, and behind one that nobody wrote the last that somebody did.

    A session of one question leaves one too: it displaces nothing that was written for the next.
    """
    last = await _latest(engine, asked, ("handoff",), 1)
    if not any(AUTOMATIC in one.tags for one in last):
        return last
    since = last[0].occurred_at - _STILL_TOLD
    written = replace(asked, without_automatic=True, since=since)
    return (*last, *await _latest(engine, written, ("handoff",), 1))


async def _latest(
    engine: Engine, asked: Filters, kinds: tuple[str, ...], limit: int
) -> tuple[Memory, ...]:
    filters = replace(asked, kinds=kinds)
    return await _fetched(engine, filters, await engine.latest(filters, limit))


async def _surest(engine: Engine, asked: Filters, kind: str, limit: int) -> tuple[Memory, ...]:
    """Return the latest of a kind, those that were said in passing behind the others."""
    found = await _latest(engine, asked, (kind,), _WIDER * limit)
    return tuple(sorted(found, key=lambda one: IN_PASSING in one.tags)[:limit])


async def _fetched(engine: Engine, asked: Filters, keys: Sequence[str]) -> tuple[Memory, ...]:
    """Return memories in the order of their ids, once each, as far as they may be told and hold."""
    found = await engine.fetch(tuple(keys), asked) if keys else {}
    told = (found[key] for key in dict.fromkeys(keys) if key in found)
    return tuple(one for one in told if OUTDATED not in one.tags)


async def _focus(db: Database, place: Place) -> tuple[WorkingMemory, ...]:
    places = [replace(place, session=None), *([place] if place.session else [])]
    found = await read_some(db, places)
    return tuple(one for one in found if one.trust_tier in _TRUST and one.origin in _ORIGINS)
