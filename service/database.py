"""The one door to SurrealDB, and the only importer of its driver: connect, run a named query.

Measured traps that this file answers (core 3.2.4): `query()` hides the error of a later
statement, so `query_raw` is used and every status checked; two writers on one full-text index
conflict, so writes stand in one line and are tried again; `None` must arrive as NONE.
"""

import asyncio
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from surrealdb import AsyncSurreal, RecordID
from surrealdb.data.types.null import NullType
from surrealdb.errors import NotAllowedError, SurrealError

from service.errors import (
    InvalidRequest,
    QueryFailed,
    StaleRead,
    StoreInUse,
    StoreNotWritable,
    StoreRefused,
    StoreUnavailable,
    WriteConflict,
)
from service.queries import Query, load_query

log = logging.getLogger(__name__)

SCHEMA_VERSION: Final = 1
_VECTORS_MARK: Final = "-- vectors:"
# 0.01 + 0.02 + … + 0.64 s: the longest wait of a writer before its conflict is reported.
_WRITE_ATTEMPTS: Final = 8
# A document is one transaction, however long: a write may take ten times as long as a read.
_WRITE_PATIENCE: Final = 10.0
# What a writing query throws when the store is no longer as it was read.
_STALE: Final = "stale read"

GET_META = load_query(__package__, "get_meta")
SET_META = load_query(__package__, "set_meta")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """Where the store is and who we are there."""

    url: str
    user: str | None = None
    password: str | None = None
    namespace: str = "graph_memory"
    name: str = "memory"
    timeout_seconds: float = 30.0

    @property
    def folder(self) -> Path | None:
        """The folder of an embedded store; None for a server."""
        embedded = self.url.startswith("surrealkv://")
        return Path(self.url.removeprefix("surrealkv://")) if embedded else None


def record(table: str, key: str | list[Any]) -> RecordID:
    """Name one record, as a value for a bound variable."""
    return RecordID(table, key)


def plain(value: Any) -> Any:
    """Turn what the driver returns into plain values: a record id becomes its key."""
    if isinstance(value, RecordID):
        return plain(value.id)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, datetime):
        # The driver's own datetime type carries nanoseconds and is refused by orjson.
        moment = value.astimezone(UTC)
        return datetime.combine(moment.date(), moment.timetz())
    if isinstance(value, NullType):
        return None
    return value


class Database:
    """One connection to a SurrealDB store, embedded or remote, that heals by itself."""

    def __init__(self, address: StoreAddress) -> None:
        self.address = address
        self._client: Any = None
        self._connecting = asyncio.Lock()
        self._writing = asyncio.Lock()

    async def open(self, schema: str) -> None:
        """Connect and apply `schema`; a store that cannot be used raises CannotStart.

        A server that is merely away raises StoreUnavailable.
        """
        await self._connected()
        stored = await self._stored_version()
        if stored is not None and stored > SCHEMA_VERSION:
            msg = (
                f"The store has schema version {stored}, this program knows {SCHEMA_VERSION}: "
                "start the newer program, or give another MEMORY_DATA_DIR."
            )
            raise StoreRefused(msg)
        await self.apply(schema.split(_VECTORS_MARK, maxsplit=1)[0])
        await self.set_meta("schema", {"version": SCHEMA_VERSION})

    async def define_vector_index(self, schema: str, dimensions: int) -> None:
        """Apply the vector part of `schema` for vectors of this length; idempotent."""
        part = schema.split(_VECTORS_MARK)[1].partition("\n")[2]
        await self.apply(part.replace("{dimensions}", str(int(dimensions))))

    async def close(self) -> None:
        """Close the connection; the embedded engine flushes and gives up its lock."""
        async with self._writing:
            client, self._client = self._client, None
            if client is not None:
                await _close(client)

    async def run(self, query: Query, **params: Any) -> Any:
        """Run one named query and return the result of its last statement, as plain values.

        A writing query waits for its turn and is tried again on a conflict. Raises
        StoreUnavailable (no answer), WriteConflict (lost to another writer again and again),
        InvalidRequest (a value the schema refuses). A failed transaction leaves nothing behind.
        """
        if params.keys() != query.takes:
            msg = f"query {query.name} takes {sorted(query.takes)}, got {sorted(params)}"
            raise TypeError(msg)
        if not query.writes:
            return plain((await self._execute(query.text, params))[-1])
        async with self._writing:
            answers = await self._execute_again(query.text, params, _WRITE_PATIENCE)
            return plain(answers[-1])

    async def apply(self, statements: str) -> None:
        """Run definitions that take no variables."""
        async with self._writing:
            await self._execute_again(statements, {})

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

    async def _stored_version(self) -> int | None:
        try:
            return (await self.meta("schema")).get("version")
        except QueryFailed:
            return None  # a new store has no tables yet

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
        answer = await self._ask(text, params, seconds)
        if _is_anonymous(answer):
            # The driver reopened a cut socket by itself, without signing in; nothing ran.
            await self._drop(self._client)
            answer = await self._ask(text, params, seconds)
        if answer.get("error"):
            raise _named_failure([answer["error"]])
        statements = answer["result"]
        failures = [s for s in statements if s["status"] != "OK"]
        if failures:
            raise _named_failure(failures)
        return [s["result"] for s in statements]

    async def _ask(self, text: str, params: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        client = await self._connected()
        try:
            async with asyncio.timeout(seconds):
                answer: dict[str, Any] = await client.query_raw(text, dict(params))
        except TimeoutError as error:
            msg = f"The database did not answer within {seconds:g} s."
            raise StoreUnavailable(msg) from error
        except (SurrealError, OSError) as error:
            await self._drop(client)
            raise StoreUnavailable(f"The database connection was lost ({error}).") from error
        return answer

    async def _connected(self) -> Any:
        if self._client is None:
            async with self._connecting:
                if self._client is None:
                    self._client = await _connect(self.address)
        return self._client

    async def _drop(self, client: Any) -> None:
        """Forget a broken connection, so that the next query opens a new one."""
        if self._client is client:
            self._client = None
            await _close(client)


async def _connect(address: StoreAddress) -> Any:
    folder = address.folder
    if folder is not None:
        _make_folder(folder)
    try:
        async with asyncio.timeout(address.timeout_seconds):
            client = AsyncSurreal(address.url)
            await client.connect()
            if folder is None and address.user:
                await client.signin({"username": address.user, "password": address.password or ""})
            await client.use(address.namespace, address.name)
    except NotAllowedError as error:
        msg = (
            "The database refused the user: check MEMORY_DATABASE_USER and "
            "MEMORY_DATABASE_PASSWORD."
        )
        raise StoreRefused(msg) from error
    except (SurrealError, OSError, TimeoutError, RuntimeError) as error:
        raise _failure_to_connect(address, error) from error
    return client


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        msg = (
            f"The store's folder {folder} cannot be written ({error.strerror}): "
            "give another MEMORY_DATA_DIR."
        )
        raise StoreNotWritable(msg) from error


def _failure_to_connect(address: StoreAddress, error: Exception) -> Exception:
    if address.folder is None:
        return StoreUnavailable(f"No database answers at {address.url} ({error}).")
    if "already locked" in str(error):
        return StoreInUse(
            f"Another process holds the store in {address.folder}: stop it, or give another "
            "MEMORY_DATA_DIR."
        )
    return StoreRefused(f"The store in {address.folder} cannot be opened ({error}).")


def _named_failure(failures: list[dict[str, Any]]) -> Exception:
    """Choose the cause among failed statements and name it.

    In a failed transaction every statement reports a failure; the cause is the first that says
    more than that it was not executed. The kinds are the server's own (`details.kind`).
    """
    kinds = [(f.get("details") or {}).get("kind") for f in failures]
    texts = [str(f.get("result") or f.get("message") or f) for f in failures]
    if "TransactionConflict" in kinds or any("can be retried" in t for t in texts):
        return WriteConflict("Other writers changed the same memories; send it again.")
    if any(f"An error occurred: {_STALE}" == t for t in texts):
        return StaleRead()
    causes = [t for t, kind in zip(texts, kinds, strict=True) if kind != "NotExecuted"] or texts
    if re.match(r"Found .* for field|Couldn't coerce value", causes[0]):
        return InvalidRequest(f"The store refused a value: {causes[0]}")
    return QueryFailed(f"The database refused a query: {causes[0]}")


def _is_anonymous(answer: Mapping[str, Any]) -> bool:
    error = answer.get("error") or {}
    return error.get("kind") == "NotAllowed" and "Anonymous" in str(error.get("message"))


async def _close(client: Any) -> None:
    try:
        await client.close()
    except (SurrealError, OSError, RuntimeError) as error:
        log.debug("closing the database connection: %s", error)
