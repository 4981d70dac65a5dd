"""The store's side of a snapshot: which one is valid, and what was written since it was taken."""

from typing import Final

from service.store.database import Database
from service.store.queries import load_query
from service.store.write_log import SNAPSHOT
from service.store.written_records import RecordKey

LOGGED_SINCE: Final = load_query(__package__, "logged_since")


async def valid_snapshot(db: Database) -> str | None:
    """Return the token of the snapshot that the log goes on from; None without one."""
    token: str | None = (await db.meta(SNAPSHOT)).get("token")
    return token


async def logged_since(db: Database, number: int) -> set[RecordKey]:
    """Return the records that the entries of the log behind this one name."""
    entries = await db.run(LOGGED_SINCE, number=number)
    every = (one for entry in entries for one in entry)
    return {(table, tuple(key) if isinstance(key, list) else key) for table, key in every}


async def forget_snapshot(db: Database) -> None:
    """Call no snapshot valid, and log nothing until there is one: entries name what is deleted."""
    async with db.at_rest() as write:
        if db.write_log.is_on:
            await db.write_log.forget(write)
