"""Memories by id, for whoever has found which ones matter."""

from collections.abc import Sequence
from typing import Final

from service.database import Database, record
from service.queries import load_query
from service.records import Memory

FETCH: Final = load_query(__package__, "fetch")


async def fetch(db: Database, keys: Sequence[str]) -> list[Memory]:
    """Return the memories with these ids, in this order; those that do not exist are left out."""
    if not keys:
        return []
    rows = await db.run(FETCH, ids=[record("memory", key) for key in keys])
    by_id = {row["id"]: Memory.from_row(row) for row in rows}
    return [by_id[key] for key in keys if key in by_id]
