"""Recurrences as they are stored: in which sessions an error, or the same words, came up."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from service.drafts.ids import digest
from service.store.database import Database, record
from service.store.queries import load_query

NOTE: Final = load_query(__package__, "note")
LIST: Final = load_query(__package__, "list")

Kind = Literal["error", "statement"]
# Names of the last ones are kept; more than this many say no more than that it goes on.
MOST_SESSIONS: Final = 50
_MOST: Final = 100


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something that came up in a session: an error by its signature, a statement by its memory."""

    kind: Kind
    key: str
    text: str
    command: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Recurrence:
    """What came up, in how many sessions, first and last."""

    key: str
    text: str
    command: str | None
    sessions: int
    first_at: datetime
    last_at: datetime


async def note(
    db: Database, agent: str, scope: str | None, session: str, sightings: Sequence[Sighting]
) -> None:
    """Note what came up in a session; the same again in the same session changes nothing."""
    if sightings:
        rows = [_row(agent, scope, one) for one in sightings]
        await db.run(
            NOTE, rows=rows, agent=agent, scope=scope or "", in_session=session,
            most=MOST_SESSIONS,
        )  # fmt: skip


async def list_recurrences(
    db: Database, agent: str, scopes: Sequence[str], kind: Kind, since: datetime, least: int
) -> list[Recurrence]:
    """Return what came up since a moment and in at least so many sessions, the most often first.

    At most a hundred. What came up in a project and beside it, or in two that became one, is one.
    """
    rows: list[dict[str, Any]] = await db.run(
        LIST, agent=agent, scopes=list(scopes), kind=kind, since=since
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["key"], []).append(row)
    every = [_merged(some) for some in found.values()]
    often = [one for one in every if one.sessions >= least]
    return sorted(often, key=lambda one: (-one.sessions, one.key))[:_MOST]


def _merged(rows: Sequence[dict[str, Any]]) -> Recurrence:
    """Return rows of one key, the last first, as one."""
    sessions = {session for row in rows for session in row["sessions"]}
    return Recurrence(
        rows[0]["key"], rows[0]["text"], rows[0]["command"], len(sessions),
        min(row["first_at"] for row in rows), max(row["last_at"] for row in rows),
    )  # fmt: skip


def _row(agent: str, scope: str | None, one: Sighting) -> dict[str, Any]:
    return {
        "id": record("recurrence", digest(agent, scope or "", one.kind, one.key)),
        "kind": one.kind, "key": one.key, "text": one.text, "command": one.command, "at": one.at,
    }  # fmt: skip
