"""Projects and sessions that memory is switched off for: none is listened to, none is told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from service.errors import NotAsThingsStand
from service.store.database import Database, record
from service.store.queries import load_query
from service.store.remembered import remembered

SWITCHED_OFF: Final = load_query(__package__, "switched_off")
SWITCH_OFF: Final = load_query(__package__, "switch_off")
SWITCH_ON: Final = load_query(__package__, "switch_on")
LIST_OFF: Final = load_query(__package__, "list_off")

MOST: Final = 1000


class SwitchedOff(NotAsThingsStand):
    """Memory is switched off for this project or session."""


class TooManyOptOuts(NotAsThingsStand):
    """The agent has switched off as many projects and sessions as it may."""


# An agent, a scope and a session that something is kept of or told to.
Told = tuple[str, str | None, str | None]


@dataclass(frozen=True, slots=True)
class OptOut:
    """A project, by its scope, or a session that memory is switched off for; one of both."""

    agent: str
    scope: str | None = None
    session: str | None = None

    @property
    def id(self) -> Any:
        """The record that it stands in."""
        return record("opt_out", [self.agent, self.scope or "", self.session or ""])


async def refuse_switched_off(
    db: Database, agent: str, scope: str | None, session: str | None
) -> None:
    """Raise SwitchedOff where memory is switched off for this project or this session."""
    await refuse_any_switched_off(db, [(agent, scope, session)])


async def refuse_any_switched_off(db: Database, places: Iterable[Told]) -> None:
    """Raise SwitchedOff where it is for any of these agents, scopes and sessions."""
    for refusal in (await refusals(db, places)).values():
        raise refusal


async def refusals(db: Database, places: Iterable[Told]) -> dict[Told, SwitchedOff]:
    """Return which of these agents, scopes and sessions memory is switched off for, and why."""
    asked = {
        (agent, scope, session): (OptOut(agent, scope=scope), OptOut(agent, session=session))
        for agent, scope, session in dict.fromkeys(places)
    }
    off = await _off(db, [one for own in asked.values() for one in own if one.scope or one.session])
    return {
        place: _refusal(next(one for one in own if one in off))
        for place, own in asked.items()
        if not off.isdisjoint(own)
    }


def _refusal(off: OptOut) -> SwitchedOff:
    what, way = ("project", off.scope) if off.scope else ("session", off.session)
    msg = (
        f"Memory is switched off for the {what} {way!r}: nothing is kept of it or told to it. "
        f"DELETE /opt-outs?{what}=… switches it on."
    )
    return SwitchedOff(msg)


async def _off(db: Database, asked: Sequence[OptOut]) -> set[OptOut]:
    """Return those that are switched off. To ask the store took a fifteenth of a search."""
    is_off = await remembered(db, "opt_out", asked, partial(_read_off, db)) if asked else {}
    return {one for one in asked if is_off[one]}


async def _read_off(db: Database, asked: Sequence[OptOut]) -> dict[OptOut, bool]:
    rows = await db.run(SWITCHED_OFF, ids=[one.id for one in asked])
    off = {OptOut(row["agent"], row.get("scope"), row.get("in_session")) for row in rows}
    return {one: one in off for one in asked}


async def switch_off(db: Database, opt_out: OptOut) -> None:
    """Switch memory off; said again it changes nothing. Raises TooManyOptOuts beyond 1,000."""
    if await _off(db, [opt_out]):
        return
    if len(await list_off(db, OptOut(opt_out.agent), MOST)) >= MOST:
        msg = f"Agent {opt_out.agent!r} has {MOST:,} opt-outs: take some back with DELETE."
        raise TooManyOptOuts(msg)
    await db.run(
        SWITCH_OFF, id=opt_out.id, agent=opt_out.agent, scope=opt_out.scope,
        in_session=opt_out.session, now=datetime.now(UTC),
    )  # fmt: skip


async def switch_on(db: Database, opt_out: OptOut) -> None:
    """Switch memory on again; where it is, nothing happens."""
    await db.run(SWITCH_ON, id=opt_out.id)


async def list_off(db: Database, after: OptOut, limit: int) -> list[dict[str, Any]]:
    """Return what an agent has switched off, by names: sessions, then projects, behind `after`."""
    rows: list[dict[str, Any]] = await db.run(
        LIST_OFF, agent=after.agent, scope=after.scope or "", in_session=after.session or "",
        limit=limit,
    )  # fmt: skip
    return rows
