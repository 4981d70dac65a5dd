"""Which scope a project's memories have: resolved once, for reading and writing alike."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from service.access.caller import caller, own_scopes
from service.errors import ServiceError, StaleRead
from service.projects.identity import Identity, Known, scope_of
from service.store.database import Database, record
from service.store.queries import load_query
from service.store.remembered import remembered

log = logging.getLogger(__name__)

KNOWN_KEYS: Final = load_query(__package__, "known_keys")
PUT: Final = load_query(__package__, "put")
LIST: Final = load_query(__package__, "list")
IS_KNOWN: Final = load_query(__package__, "is_known")

_SEEN_LATELY: Final = timedelta(hours=1)
# A project is moved meanwhile, or named by another service: each try reads anew.
_READ_ATTEMPTS: Final = 4


async def find_scope(db: Database, agent: str, identity: Identity) -> str:
    """Return the scope of a project's memories, known or not; nothing is written."""
    return scope_of(identity, await _known(db, agent, identity))


async def register(db: Database, agent: str, identity: Identity) -> str:
    """Return the scope of a project's memories, and note what is known of the project now.

    Written is what is new, and once an hour that it was seen.
    """
    for _ in range(_READ_ATTEMPTS - 1):
        with suppress(StaleRead):
            return await _register(db, agent, identity)
    return await _register(db, agent, identity)


async def _register(db: Database, agent: str, identity: Identity) -> str:
    known, now = await _known(db, agent, identity), datetime.now(UTC)
    scope = scope_of(identity, known)
    seen = [one.seen_at for key in identity.keys if (one := known.get(key)) and one.scope == scope]
    if len(seen) == len(identity.keys) and all(at and now - at < _SEEN_LATELY for at in seen):
        return scope
    scopes = [one.scope if (one := known.get(key)) else None for key in identity.keys]
    await db.run(
        PUT, id=record("project", [agent, scope]), keys=_records(agent, identity), known=scopes,
        agent=agent, scope=scope, origins=_some(identity.origin), roots=_some(identity.root),
        name=identity.name, now=now,
    )  # fmt: skip
    return scope


async def register_to_tell(db: Database, agent: str, identity: Identity) -> str:
    """Return the scope as `register` does, also where the store takes nothing: to tell needs none.

    The log says why then. What is written under a scope must be registered. A caller who may only
    read notes nothing: a remote of theirs would make another project of a folder.
    """
    if "write" not in caller().scopes:
        return await find_scope(db, agent, identity)
    try:
        return await register(db, agent, identity)
    except ServiceError as error:
        log.warning("a project is not noted: %s", error.logged)
        return await find_scope(db, agent, identity)


class Registered:
    """The scopes of the projects that one request names, each looked up and noted once."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._scopes: dict[tuple[str, Identity], str] = {}

    async def scope(self, agent: str, identity: Identity) -> str:
        """Return the scope of a project's memories, as `register` does.

        A caller for some scopes notes nothing: a name of theirs would make another's folder a
        project of their scope.
        """
        if (agent, identity) not in self._scopes:
            resolve = register if own_scopes() is None else find_scope
            self._scopes[agent, identity] = await resolve(self._db, agent, identity)
        return self._scopes[agent, identity]


async def _known(db: Database, agent: str, identity: Identity) -> dict[str, Known]:
    # Who gives a key to another project writes a project as well.
    asked = [(agent, key) for key in identity.keys]
    found = await remembered(db, "project", asked, partial(_read_known, db))
    return {key: known for (_, key), known in found.items() if known}


async def _read_known(
    db: Database, asked: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Known | None]:
    rows = await db.run(KNOWN_KEYS, keys=[record("project_key", [*one]) for one in asked])
    known = {row.pop("key"): Known(**row) for row in rows}
    return {one: known.get(one[1]) for one in asked}


async def is_known(db: Database, agent: str, scope: str) -> bool:
    """Return whether any session named the project of a scope."""
    return bool(await db.run(IS_KNOWN, id=record("project", [agent, scope])))


async def list_projects(db: Database, agent: str, after: str, limit: int) -> list[dict[str, Any]]:
    """Return an agent's projects behind a scope, in the order of their scopes."""
    rows: list[dict[str, Any]] = await db.run(LIST, agent=agent, after=after, limit=limit)
    return rows


def _records(agent: str, identity: Identity) -> list[Any]:
    return [record("project_key", [agent, key]) for key in identity.keys]


def _some(value: str | None) -> list[str]:
    return [value] if value else []
