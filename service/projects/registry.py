"""Which scope a project's memories have: resolved once, for reading and writing alike."""

from datetime import UTC, datetime
from typing import Any, Final

from service.projects.identity import Identity, Known, scope_of
from service.store.database import Database, record
from service.store.queries import load_query

KNOWN_KEYS: Final = load_query(__package__, "known_keys")
PUT: Final = load_query(__package__, "put")
LIST: Final = load_query(__package__, "list")


async def find_scope(db: Database, agent: str, identity: Identity) -> str:
    """Return the scope of a project's memories, known or not; nothing is written."""
    rows = await db.run(KNOWN_KEYS, keys=_records(agent, identity))
    return scope_of(identity, {row["key"]: Known(row["scope"], row["has_origin"]) for row in rows})


async def register(db: Database, agent: str, identity: Identity) -> str:
    """Return the scope of a project's memories, and note what is known of the project now."""
    scope = await find_scope(db, agent, identity)
    await db.run(
        PUT, id=record("project", [agent, scope]), keys=_records(agent, identity), agent=agent,
        scope=scope, origins=_some(identity.origin), roots=_some(identity.root),
        name=identity.name, now=datetime.now(UTC),
    )  # fmt: skip
    return scope


async def list_projects(db: Database, agent: str, after: str, limit: int) -> list[dict[str, Any]]:
    """Return an agent's projects behind a scope, in the order of their scopes."""
    rows: list[dict[str, Any]] = await db.run(LIST, agent=agent, after=after, limit=limit)
    return rows


def _records(agent: str, identity: Identity) -> list[Any]:
    return [record("project_key", [agent, key]) for key in identity.keys]


def _some(value: str | None) -> list[str]:
    return [value] if value else []
