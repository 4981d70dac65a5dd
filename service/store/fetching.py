"""Memories by id, as they are stored."""

from collections.abc import Sequence
from typing import Final

from service.records import Filters, Memory
from service.store.database import Database, record
from service.store.queries import load_query

FETCH: Final = load_query(__package__, "fetch")
FETCH_VISIBLE: Final = load_query(__package__, "fetch_visible")


async def fetch(db: Database, keys: Sequence[str]) -> list[Memory]:
    """Return the memories with these ids, in this order; those that do not exist are left out."""
    if not keys:
        return []
    rows = await db.run(FETCH, ids=[record("memory", key) for key in keys])
    by_id = {row["id"]: Memory.from_row(row) for row in rows}
    return [by_id[key] for key in keys if key in by_id]


async def fetch_visible(db: Database, keys: Sequence[str], filters: Filters) -> dict[str, Memory]:
    """Return by id those of the memories that pass the filters now."""
    if not keys:
        return {}
    ids = [record("memory", key) for key in keys]
    rows = await db.run(FETCH_VISIBLE, ids=ids, **filters.params())
    return {row["id"]: Memory.from_row(row) for row in rows}
