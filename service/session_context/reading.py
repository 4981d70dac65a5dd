"""What a session context is made of, read by whichever engine there is: no embedding, no model."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from service.index.engine import Engine
from service.intents.standing import due_intents
from service.records import Filters, Memory
from service.session_context.sections import CONSTRAINT, Found
from service.store.database import Database
from service.working_memory.texts import Place, WorkingMemory, read

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


async def find_all(
    engine: Engine, db: Database, place: Place, without: tuple[str, ...] = ()
) -> Found:
    """Read what a session at this place should know, but for the ids in `without`."""
    asked = Filters(
        (place.agent,), project=place.scope or "", trust=_TRUST, origins=_ORIGINS, without=without
    )
    # The last handoff of the project itself; the agent's own is not the next best.
    handoffs = await _latest(engine, replace(asked, scope=place.scope), ("handoff",), 1)
    return Found(
        handoffs[0] if handoffs else None,
        await _focus(db, place),
        await _latest(engine, replace(asked, tags=(CONSTRAINT,)), _RULES, _MOST_RULES),
        tuple(await due_intents(db, place.agent, place.scope, datetime.now(UTC))),
        await _latest(engine, asked, ("decision",), _MOST_DECISIONS),
        await _latest(engine, asked, ("preference",), _MOST_PREFERENCES),
        await _latest(engine, asked, _OTHER_KINDS, _MOST_OTHERS),
    )


async def _latest(
    engine: Engine, asked: Filters, kinds: tuple[str, ...], limit: int
) -> tuple[Memory, ...]:
    filters = replace(asked, kinds=kinds)
    keys = await engine.latest(filters, limit)
    found = await engine.fetch(keys, filters)
    return tuple(found[key] for key in keys if key in found)


async def _focus(db: Database, place: Place) -> tuple[WorkingMemory, ...]:
    places = [replace(place, session=None), *([place] if place.session else [])]
    found = [await read(db, one) for one in places]
    return tuple(
        one for one in found if one and one.trust_tier in _TRUST and one.origin in _ORIGINS
    )
