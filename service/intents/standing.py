"""Standing intents as they are stored, and said."""

import logging
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any, Final

from service.access.caller import Caller
from service.access.origins import tier_of
from service.errors import NotAsThingsStand, ServiceError
from service.index.engine import Engine
from service.index.evidence import Question
from service.intents.matching import Intent, coming_up, never_said
from service.records import QUARANTINED
from service.sanitise.sanitiser import Sanitiser
from service.store.database import Database, record
from service.store.queries import load_query
from service.store.remembered import remembered
from service.threads import read_texts

log = logging.getLogger(__name__)

LIST: Final = load_query(__package__, "list")
OPEN: Final = load_query(__package__, "open")
PUT: Final = load_query(__package__, "put")
FIRE: Final = load_query(__package__, "fire")
DELETE: Final = load_query(__package__, "delete")
FORGET_DONE: Final = load_query(__package__, "forget_done")

# All that are open are looked at for each question of a session that asks.
MOST: Final = 1000
# What is sent again says the same of; a quarantine stays.
_SAID: Final = (
    "when", "text", "scope", "due", "cooldown_hours", "fires", "origin", "client", "key",
)  # fmt: skip


class TooManyIntents(NotAsThingsStand):
    """The agent has as many standing intents as it may have."""


async def intend(
    db: Database, sanitiser: Sanitiser, intent: Intent, agent: str, sender: Caller
) -> tuple[Intent, tuple[str, ...]]:
    """Store an intent as its sender's; returns it as stored, and what its sender should know.

    One that its sender has already, and that may still be said, is that one: who had no answer
    sends it again. Beyond 1,000 of an agent those that are said no more are forgotten. Raises
    TextRefused, and TooManyIntents for more that may still be said.
    """
    texts = {"text": intent.text} | {f"when/{n}": one for n, one in enumerate(intent.when)}
    characters = sum(map(len, texts.values()))
    screened = await read_texts(characters, sanitiser.screen, texts, sender.origin)
    tier = QUARANTINED if screened.is_quarantined else tier_of(sender.origin)
    stored = Intent(
        **{
            **asdict(intent), "id": secrets.token_hex(8), "text": screened.texts["text"],
            "when": tuple(screened.texts[f"when/{n}"] for n in range(len(intent.when))),
            "origin": sender.origin, "trust_tier": tier,
            "expires_at": intent.expires_at or intent.usual_end,
        }
    )  # fmt: skip
    row = {**asdict(stored), "when": list(stored.when), "agent": agent}
    row |= {"client": sender.client, "key": sender.key}
    known = await _known(db, agent, row, names_end=intent.expires_at is not None)
    if known is not None:
        return known, (*screened.warnings, *never_said(known))
    await _make_room(db, agent, intent.created_at)
    del row["id"]
    await db.run(PUT, id=record("intent", [agent, stored.id]), row=row)
    return stored, (*screened.warnings, *never_said(stored))


async def _known(
    db: Database, agent: str, row: dict[str, Any], *, names_end: bool
) -> Intent | None:
    """Return the intent that a row says again, if its sender has it and it may be said yet."""
    for one in await db.run(LIST, agent=agent, after="", limit=MOST):
        old = Intent.from_row(one)
        ends = row["expires_at"] if names_end else old.usual_end
        is_same = all(one.get(name) == row[name] for name in _SAID)
        if is_same and old.expires_at == ends and old.is_open(row["created_at"]):
            return old
    return None


async def _make_room(db: Database, agent: str, now: datetime) -> None:
    if await _is_full(db, agent):
        await db.run(FORGET_DONE, agent=agent, now=now)
    if await _is_full(db, agent):
        msg = f"Agent {agent!r} has {MOST:,} standing intents: delete some with DELETE /intents."
        raise TooManyIntents(msg)


async def _is_full(db: Database, agent: str) -> bool:
    return len(await db.run(LIST, agent=agent, after="", limit=MOST)) >= MOST


async def list_intents(db: Database, agent: str, after: str, limit: int) -> list[Intent]:
    """Return an agent's intents behind an id, in the order of their ids."""
    return _intents(await db.run(LIST, agent=agent, after=after, limit=limit))


async def due_intents(db: Database, agent: str, scope: str | None, now: datetime) -> list[Intent]:
    """Return those of a project, and of none, whose date has come, the first due first."""
    due = [one for one in await _open(db, agent, scope, now) if one.is_due(now)]
    return sorted(due, key=lambda one: (one.due or now, one.id))


async def find_intents(
    db: Database, engine: Engine, agent: str, scope: str | None, text: str, now: datetime
) -> list[Intent]:
    """Return what is to be said as a text comes up; nothing is counted."""
    standing = await _open(db, agent, scope, now)
    if not any(one.when for one in standing):
        return []
    question = await read_texts(len(text), Question.read, text, None)
    concepts = {concept.id[1] for concept in await engine.concepts_named([agent], question)}
    return await read_texts(len(text), coming_up, standing, text, concepts, now)


async def say(
    db: Database, engine: Engine, agent: str, scope: str | None, text: str, now: datetime
) -> list[Intent]:
    """Return what is to be said as a text comes up, and count it as said."""
    found = await find_intents(db, engine, agent, scope, text, now)
    said = await fire(db, agent, [one.id for one in found], now)
    return [one for one in found if one.id in said]


async def fire(db: Database, agent: str, keys: Iterable[str], now: datetime) -> set[str]:
    """Count intents as said; returns those that nobody has said meanwhile.

    None of a store that takes nothing; the log says why then. What stands beside them is told.
    """
    ids = [record("intent", [agent, key]) for key in keys]
    try:
        return set(await db.run(FIRE, ids=ids, now=now)) if ids else set()
    except ServiceError as error:
        log.warning("intents are not said: %s", error.logged)
        return set()


async def forget(db: Database, agent: str, key: str) -> bool:
    """Delete an intent; returns whether there was one."""
    return bool(await db.run(DELETE, id=record("intent", [agent, key])))


async def _open(db: Database, agent: str, scope: str | None, now: datetime) -> list[Intent]:
    # Most agents have none, and each question of a session asks: 1.2 ms of its CPU.
    has_any = await remembered(db, "intent", [agent], partial(_have_any, db))
    if not has_any[agent]:
        return []
    return _intents(await db.run(OPEN, agent=agent, scope=scope, now=now))


async def _have_any(db: Database, agents: Sequence[str]) -> dict[str, bool]:
    return {one: bool(await db.run(LIST, agent=one, after="", limit=1)) for one in agents}


def _intents(rows: Sequence[dict[str, Any]]) -> list[Intent]:
    return [Intent.from_row(row) for row in rows]
