"""The feed of a store that this process alone writes to: what it wrote, as it is now."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from itertools import count
from typing import Any, Final
from uuid import uuid4

import orjson

from service.index.resident.graph import EDGE_TABLES
from service.index.resident.stamps import StampRefused
from service.records import Commit, RowChange
from service.store.database import Database, record
from service.store.queries import load_query
from service.store.snapshot_log import (
    forget_snapshot,
    logged_since,
    valid_snapshot,
)
from service.store.written_records import Reader, RecordKey, Row

CURRENT_ROWS: Final = load_query(__package__, "current_rows")

_TABLES: Final = ("memory", "concept", "embedding", *EDGE_TABLES)
# What a memory that goes takes along, and no writer names.
_HANGING: Final = ("references", "follows")
# In one query: 500 rows are read on the event loop in 10 ms.
_PAGE_RECORDS: Final = 500


class OwnWrites:
    """Tells what this process wrote since it was asked last, in no order: rows as they are now.

    What the writer told of a row is as good as reading it; half of a load's reading was that.

    Nothing of it depends on a clock, and nothing can be missed: another program cannot open the
    store of this one.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._news = db.written.reader()
        self._looks = count(1)
        # How often the log had been forgotten when the last stamp was given.
        self._forgotten = 0

    async def mark(self) -> Reader:
        """Return a place before everything that is written from now on."""
        return self._db.written.reader()

    def unread(self, keys: Iterable[str]) -> set[str]:
        """Return those of the memories that were written since they were read."""
        return {key for key in keys if self._news.awaits(("memory", key))}

    def waiting(self) -> list[Row] | None:
        """Return the rows of memories that were written since; None where they must be read."""
        rows = self._news.waiting("memory")
        known = [row for row in rows if row is not None]
        is_whole = len(known) == len(rows) and not self._db.written.has_doubts
        return known if is_whole else None

    async def since(self, mark: Reader) -> AsyncGenerator[list[Commit]]:
        """Yield what was written since a mark, all in one; what nobody takes in is told again."""
        taken = mark.take()
        if not taken:
            return
        is_taken_in = False
        try:
            yield [await self._read(taken)]
            is_taken_in = True
        finally:
            mark.done(taken if not is_taken_in else ())

    async def begin(self) -> None:
        """Do nothing: what is written is noted from the start."""

    def news(self) -> AsyncGenerator[list[Commit]]:
        """Yield what was written since it was asked for last."""
        return self.since(self._news)

    def lose(self) -> None:
        """Do nothing: what could not be taken in is told again."""

    async def stamp(self) -> dict[str, Any]:
        """Return a token, and a number in the log: what is written from now on stands behind it.

        Raises StampRefused while a write may happen yet that was given up.
        """
        async with self._db.at_rest():
            if self._db.written.has_doubts:
                msg = "a write was given up lately and may happen yet"
                raise StampRefused(msg)
            self._db.write_log.is_on = True
            self._forgotten = self._db.write_log.forgotten
            return {"token": uuid4().hex, "number": self._db.write_log.number}

    async def since_stamp(self, stamp: Mapping[str, Any]) -> Reader:
        """Return a reader of what the log names behind a stamp, if it is that of the valid one."""
        reader = self._db.written.reader()
        logged = await logged_since(self._db, stamp["number"])
        # Asked afterwards: with another snapshot what stands behind this stamp leaves the log.
        if await valid_snapshot(self._db) != stamp["token"]:
            msg = "it is of another store, or of another moment than the log of this one"
            raise StampRefused(msg)
        # What earlier processes logged counts towards what is too much.
        self._db.write_log.records = max(self._db.write_log.records, len(logged))
        # Deleted and come back, a memory lost what hung on it: no entry names that, but its vector.
        back = [key for table, key in logged if table == "embedding"]
        reader.add({*logged, *((table, key) for table in _HANGING for key in back)})
        return reader

    async def publish(self, stamp: Mapping[str, Any]) -> None:
        """Let the log begin behind the last stamp.

        Raises StampRefused where the log was forgotten since: it lacks what was written then.
        """
        async with self._db.at_rest() as write:
            if self._db.write_log.forgotten != self._forgotten:
                msg = "what was written meanwhile is not logged: too much, or an index is made anew"
                raise StampRefused(msg)
            await self._db.write_log.publish(write, stamp["token"], stamp["number"])

    async def forget(self) -> None:
        """Log nothing until there is a snapshot again."""
        await forget_snapshot(self._db)

    async def _read(self, taken: Mapping[RecordKey, Row | None]) -> Commit:
        """Return what was written: rows that were told, and the others as they are now."""
        told = {key: row for key, row in taken.items() if row and _still_holds(key[0], row, taken)}
        changes = [RowChange(table, _listed(key), row) for (table, key), row in told.items()]
        keys = [one for one in taken if one not in told and one[0] in _TABLES]
        for start in range(0, len(keys), _PAGE_RECORDS):
            wanted: dict[str, list[Any]] = {table: [] for table in _TABLES}
            for table, key in keys[start : start + _PAGE_RECORDS]:
                wanted[table].append(_listed(key))
            ids = {table: [record(table, key) for key in found] for table, found in wanted.items()}
            rows = await self._db.run(CURRENT_ROWS, **ids)
            rows["concept"] = orjson.loads(rows["concept"])
            for table, found in wanted.items():
                changes += _changes(table, found, rows)
        return Commit(next(self._looks), tuple(changes))


def _still_holds(table: str, row: Row, taken: Mapping[RecordKey, Row | None]) -> bool:
    """Say whether a row is as it was told: a memory that goes leaves those after it, unnamed."""
    earlier = row["earlier"] if table == "follows" else ()
    return all(taken.get(("memory", key), row) is not None for key in earlier)


def _listed(key: Any) -> Any:
    return list(key) if isinstance(key, tuple) else key


def _changes(
    table: str, keys: Iterable[Any], rows: dict[str, list[dict[str, Any]]]
) -> Iterable[RowChange]:
    """Return what became of records: their row, or that they are gone."""
    by_key = {str(row["id"]): row for row in rows[table]}
    return [RowChange(table, key, by_key.get(str(key))) for key in keys]
