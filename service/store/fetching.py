"""Memories by id, as they are stored."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final

from service.records import Filters, Memory, Place
from service.store.database import Database, record
from service.store.queries import load_query

FETCH_NEWEST: Final = load_query(__package__, "fetch_newest")
FETCH_NEWEST_OF_KIND: Final = load_query(__package__, "fetch_newest_of_kind")
FETCH: Final = load_query(__package__, "fetch")
FETCH_VISIBLE: Final = load_query(__package__, "fetch_visible")


async def fetch(
    db: Database, agents: Sequence[str], key: str, scopes: Sequence[str] | None = None
) -> Memory | None:
    """Return a memory that is of these agents and scopes, of any scope with None.

    Another's does not leave the store: it would take longer to say that it is unknown.
    """
    rows = await db.run(FETCH, id=record("memory", key), agents=list(agents), scopes=scopes)
    return Memory.from_row(rows[0]) if rows else None


async def fetch_visible(db: Database, keys: Sequence[str], filters: Filters) -> dict[str, Memory]:
    """Return by id those of the memories that pass the filters now."""
    if not keys:
        return {}
    ids = [record("memory", key) for key in keys]
    rows = await db.run(FETCH_VISIBLE, ids=ids, **filters.params())
    return {row["id"]: Memory.from_row(row) for row in rows}


async def fetch_newest(db: Database, filters: Filters, before: Place, limit: int) -> list[Memory]:
    """Return the newest that pass, from a place on: those of several agents agent by agent.

    The index has the moments of each; asked for several at once the store sorts all that they have.
    """
    found: list[Memory] = []
    params = {"before": before.micros, "before_id": record("memory", before.id), "limit": limit}
    [kind] = kinds if len(kinds := filters.kinds or ()) == 1 else [None]
    has_archived = filters.include_archived or filters.with_sources
    for agent in filters.agents:
        params |= replace(filters, agents=(agent,)).params()
        if kind is None or has_archived:
            rows = await db.run(FETCH_NEWEST, **params)
        else:
            rows = await db.run(FETCH_NEWEST_OF_KIND, agent=agent, kind=kind, **params)
        found = newest_first([*found, *map(Memory.from_row, rows)])[:limit]
    return found


def newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """Return memories in the order of their places, downwards."""
    return sorted(memories, key=attrgetter("occurred_at", "id"), reverse=True)
