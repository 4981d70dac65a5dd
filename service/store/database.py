"""The one door to SurrealDB: connect, run a named query.

Measured traps that this file answers (core 3.2.4): `query()` hides the error of a later
statement, so `query_raw` is used and every status checked; two writers on one full-text index
conflict, so writes stand in one line and are tried again; `None` must arrive as NONE.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

from service.errors import (
    QueryFailed,
    ServiceError,
    StaleRead,
    StoreFull,
    StoreRefused,
    StoreUnavailable,
    WriteConflict,
)
from service.records import Commit
from service.store.address import StoreAddress
from service.store.connecting import OPENING_PATIENCE
from service.store.connection import Connection
from service.store.driver import RecordID, SurrealError, encode_each
from service.store.engine_memory import EngineMemory
from service.store.failures import is_anonymous, named_failure
from service.store.feed_entries import row_changes, tables_in
from service.store.plain import plain
from service.store.queries import Query, check_params, checked, load_query
from service.store.room import Room
from service.store.schema import (
    IndexOf,
    definitions_of,
    index_definition,
    refuse_newer,
    schema_facts,
)
from service.store.upgrade import upgrade
from service.store.write_log import FORGET_SNAPSHOT, LAST_LOGGED, SNAPSHOT, Write, WriteLog
from service.store.written_records import RecordKey, Row, WrittenRecords

log = logging.getLogger(__name__)

# 0.01 + 0.02 + … + 0.64 s: a writer's longest wait before its conflict is reported.
_WRITE_ATTEMPTS: Final = 8
_WRITE_PATIENCE: Final = 10.0  # a document is one transaction, however long
# One statement builds an index over all rows: very long for 100,000 vectors.
BUILDING_PATIENCE: Final = 1000.0
_PART_ROWS: Final = 1000
_MOST_ROWS_AT_ONCE: Final = 200  # are encoded in 5 ms; 4,000 sections take 200
CHANGES = load_query(__package__, "changes")
# Tables of commits in one look at the feed: the database itself ends near 1,000.
_FEED_PAGE: Final = 500
GET_META = load_query(__package__, "get_meta")
SET_META = load_query(__package__, "set_meta")


def record(table: str, key: str | list[Any]) -> RecordID:
    """Name one record, as a value for a bound variable; the driver's checks would cost twice it."""
    return RecordID._unchecked(table, key)


class Database:
    """One connection to a SurrealDB store, embedded or remote, that heals by itself."""

    def __init__(self, address: StoreAddress) -> None:
        self.address = address
        self._writing = asyncio.Lock()
        self.room = Room(address)
        self.memory = EngineMemory()
        self._connection = Connection(address, self.memory)
        self.last_write = time.monotonic()
        self.is_busy = asyncio.Event()  # with a write: this process has time for other things
        self.written = WrittenRecords()
        self.write_log = WriteLog()
        self.clock_ms: int | None = None  # of the last look at its feed, since 1970
        # Awaited after each write, before anybody is told of it.
        self.after_write: Callable[[], Awaitable[None]] | None = None

    async def open(self, schema: str) -> None:
        """Connect and apply `schema`; a store that cannot be used raises CannotStart.

        A server that is away raises StoreUnavailable. Of a store that notes these definitions,
        what somebody removed by hand comes back with their next change.
        """
        await self._connection.client()
        stored = await self._schema_facts()
        refuse_newer(stored, self.address.setting)
        await upgrade(self, stored)
        definitions = definitions_of(schema, is_shared=self.address.folder is None)
        facts = schema_facts(definitions)
        if stored != facts:
            # An index that is new is built here, over all rows.
            try:
                await self.apply(definitions, OPENING_PATIENCE)
            except QueryFailed as error:
                msg = "The store does not take the schema in MEMORY_SCHEMA_FILE"
                raise StoreRefused(msg, said=error.said) from error
            await self.set_meta("schema", facts)
        if self.address.folder:
            self.write_log.resume(await self.run(LAST_LOGGED), await self.meta(SNAPSHOT))
        elif await self.meta(SNAPSHOT):
            # A server has the folder of an embedded store: no log tells what it writes there.
            await self.run(FORGET_SNAPSHOT, id=record("meta", SNAPSHOT))

    async def define_index(
        self, schema: str, index: IndexOf, patience: float = 1, dimensions: int = 0
    ) -> None:
        """Apply one of the last parts of `schema`, idempotent; over stored rows with patience."""
        await self.apply(index_definition(schema, index, dimensions), patience)

    async def close(self) -> None:
        """Close the connection; the embedded engine flushes and gives up its lock."""
        async with self._writing:
            await self._connection.close()

    async def run(self, query: Query, **params: Any) -> Any:
        """Run one named query and return the result of its last statement, as plain values.

        A writing query waits for its turn, is tried again on a conflict, and leaves nothing behind
        when it fails. Raises StoreUnavailable (no answer), WriteConflict (lost to another writer
        again and again), InvalidRequest (a value the schema refuses).
        """
        check_params(query, params)
        if not query.writes:
            return plain((await self._execute(query.text, params))[-1])
        answer = await self.write(query, params)
        await self.taken_in()
        return answer

    async def run_in_parts(self, query: Query, **params: Any) -> None:
        """Run a writing query again and again, until it wrote fewer rows than its `limit`.

        Others write in between: 370,000 rows in one transaction kept them waiting for minutes.
        """
        written = _PART_ROWS
        while written == _PART_ROWS:
            written = await self.run(query, limit=_PART_ROWS, **params)

    async def taken_in(self) -> None:
        """Wait until whoever keeps a copy of the store has taken in what was written."""
        if self.after_write:
            await self.after_write()

    async def write(self, query: Query, params: dict[str, Any]) -> Any:
        """Run one writing query, as `run` does; its caller sees to it that it is `taken_in`."""
        async with self._writing:
            records, rows, params = await self._prepared(query, params)
            # Other programs follow a server's feed; an embedded store is this process's alone.
            text = query.text if self.address.folder else checked(query.text)
            text, params = await self.write_log.logged(text, params, records, self._write)
            self.is_busy.set()
            tell = partial(self.written.doubt, records)  # given up, it may have happened
            try:
                answers = await self._write(text, params, _WRITE_PATIENCE)
                tell = partial(self.written.add, records, rows)
            finally:
                self.is_busy.clear()
                tell()
            self.last_write = time.monotonic()
            if self.address.must_flush():
                await self.flush()
        return plain(answers[-1])

    async def _prepared(
        self, query: Query, params: dict[str, Any]
    ) -> tuple[frozenset[RecordKey], Mapping[RecordKey, Row], dict[str, Any]]:
        """Return what a write names and tells, and its values; many are encoded in a thread."""
        if sum(len(v) for v in params.values() if isinstance(v, list)) <= _MOST_ROWS_AT_ONCE:
            return *self.written.told_by(query, params), params
        try:
            told = await asyncio.to_thread(self.written.told_by, query, params)
            return *told, dict(await asyncio.to_thread(encode_each, params))
        except ValueError as error:
            raise QueryFailed("The driver cannot send a value", said=str(error)) from error

    @asynccontextmanager
    async def at_rest(self) -> AsyncIterator[Write]:
        """Let nobody write meanwhile but by what this gives: (text, params, patience)."""
        async with self._writing:
            yield self._write

    async def flush(self) -> None:
        """Let an embedded engine write out and give back what it holds: only closing it does that.

        Who asks meanwhile waits, for 30 ms or, with a long log, a few seconds (decision 0012).
        """
        try:
            await self._connection.renew()
        except ServiceError as error:
            log.warning("the store was flushed but does not open: %s", error.logged)

    async def apply(self, statements: str, patience: float = 1) -> None:
        """Run definitions that take no variables; `patience` times the usual wait."""
        async with self._writing:
            await self._write(statements, {}, patience)

    async def recover(self) -> None:
        """Make the store ready for writes after a full disk; raises StoreFull if it still is."""
        async with self._writing:
            await self._make_room()
            self.room.full = None

    async def changes(self, since: int) -> tuple[list[Commit], bool]:
        """Return what was committed since a stamp, that one included, and whether there is more."""
        text = CHANGES.text.replace("{since}", str(int(since)))
        answers = await self._execute(text.replace("{limit}", str(_FEED_PAGE)), {})
        entries, self.clock_ms = answers[-2], int(answers[-1])
        commits = [Commit(entry["versionstamp"], row_changes(entry)) for entry in entries]
        # The limit counts tables of commits: the last commit of a full page may be cut short.
        has_more = sum(map(tables_in, entries)) >= _FEED_PAGE
        return (commits[:-1] if has_more else commits), has_more

    async def meta(self, key: str | list[Any]) -> dict[str, Any]:
        """Return the stored facts under `key`; empty when there are none."""
        row = await self.run(GET_META, id=record("meta", key))
        return row or {}

    async def set_meta(self, key: str | list[Any], facts: Mapping[str, Any]) -> None:
        """Replace the stored facts under `key`."""
        await self.run(SET_META, id=record("meta", key), facts=dict(facts))

    async def ping(self) -> None:
        """Raise StoreUnavailable unless the store answers."""
        await self._execute("RETURN 1", {})

    async def _schema_facts(self) -> dict[str, Any]:
        try:
            return await self.meta("schema")
        except QueryFailed:
            return {}  # a new store has no tables yet

    async def _write(self, text: str, params: Mapping[str, Any], patience: float) -> list[Any]:
        """Run what writes; a full disk is named, and kept until a write succeeds."""
        try:
            await self._make_room()
            answers = await self._execute_again(text, params, patience)
        except (StoreFull, QueryFailed) as error:
            raise await self.room.failure_of(error) from error
        self.room.full = None
        return answers

    async def _make_room(self) -> None:
        """Raise StoreFull before the engine sees a write without room; reopen a torn store."""
        if self.room.must_reopen():
            await self.flush()
            await self._connection.client()
            self.room.reopened()

    async def _execute_again(
        self, text: str, params: Mapping[str, Any], patience: float = 1.0
    ) -> list[Any]:
        for attempt in range(_WRITE_ATTEMPTS):
            try:
                return await self._execute(text, params, patience)
            except StaleRead:
                raise
            except WriteConflict:
                if attempt == _WRITE_ATTEMPTS - 1:
                    raise
                await asyncio.sleep(0.01 * 2**attempt)
        raise AssertionError

    async def _execute(
        self, text: str, params: Mapping[str, Any], patience: float = 1.0
    ) -> list[Any]:
        """Run `text` and return each statement's result; any statement's failure is raised."""
        seconds = self.address.timeout_seconds * patience
        # The driver may have reopened a cut socket by itself, without signing in: nothing ran.
        if is_anonymous(answer := await self._ask(text, params, seconds)):
            await self._connection.drop(await self._connection.client())
            answer = await self._ask(text, params, seconds)
        if answer.get("error"):
            raise named_failure([answer["error"]])
        statements = answer["result"]
        failures = [s for s in statements if s["status"] != "OK"]
        if failures:
            raise named_failure(failures)
        return [s["result"] for s in statements]

    async def _ask(self, text: str, params: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        async with self._connection.used() as client:
            try:
                async with asyncio.timeout(seconds):
                    answer: dict[str, Any] = await client.query_raw(text, dict(params))
            except TimeoutError as error:
                msg = f"The database gave no answer in {seconds:g} s."
                raise StoreUnavailable(msg) from error
            except (SurrealError, OSError) as error:
                await self._connection.drop(client)
                msg = "The database connection was lost"
                raise StoreUnavailable(msg, said=str(error)) from error
            except ValueError as error:
                raise QueryFailed("The driver cannot read the answer", said=str(error)) from error
            return answer
