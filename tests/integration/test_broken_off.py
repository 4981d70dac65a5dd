"""Who is broken off while the store is asked: it is heard of, and the store stays usable."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from surrealdb.connections.async_ws import AsyncWsSurrealConnection
from surrealdb.errors import ConnectionUnavailableError

from service.index.resident.residency import Residency
from service.store.address import StoreAddress
from service.store.database import Database
from service.store.queries import Query
from tests.servers.surreal_server import SurrealServer
from tests.stores.open_store import INDEX_BYTES
from tests.stores.template import SCHEMA, lay_store

pytestmark = pytest.mark.anyio

# To end takes a few turns of the event loop.
_PATIENCE_SECONDS = 10


def reading(text: str) -> Query:
    return Query("reading", text, frozenset(), writes=False)


@asynccontextmanager
async def opened(address: StoreAddress) -> AsyncIterator[Database]:
    db = Database(address)
    try:
        await db.open(SCHEMA)
        yield db
    finally:
        await db.close()


@asynccontextmanager
async def following(folder: Path) -> AsyncIterator[asyncio.Task[None]]:
    """Follow the feed of a server, which is looked at again and again."""
    lay_store(folder / "store")
    async with SurrealServer(f"surrealkv://{folder / 'store'}") as server:
        root = server.credentials
        async with opened(StoreAddress(server.url, root.user, root.password)) as db:
            task = asyncio.create_task(Residency(db, INDEX_BYTES, None).follower.run())
            yield task
            while not task.done():
                task.cancel()
                await asyncio.sleep(0.01)


async def test_who_is_cancelled_as_an_answer_comes_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = AsyncWsSurrealConnection._route_frame
    async with following(tmp_path) as task:

        def routed(self: AsyncWsSurrealConnection, data: Any) -> None:
            route(self, data)
            monkeypatch.undo()
            task.cancel()

        monkeypatch.setattr(AsyncWsSurrealConnection, "_route_frame", routed)
        await asyncio.wait([task], timeout=_PATIENCE_SECONDS)
        assert task.cancelled()


async def test_who_is_cancelled_while_a_broken_connection_is_closed_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = AsyncWsSurrealConnection.close
    async with following(tmp_path) as task:

        async def failing(*_: Any, **__: Any) -> Any:
            raise ConnectionUnavailableError("broken")

        async def closing(self: AsyncWsSurrealConnection) -> None:
            monkeypatch.undo()
            asyncio.get_running_loop().call_soon(task.cancel)
            await close(self)

        monkeypatch.setattr(AsyncWsSurrealConnection, "_send", failing)
        monkeypatch.setattr(AsyncWsSurrealConnection, "close", closing)
        await asyncio.wait([task], timeout=_PATIENCE_SECONDS)
        assert task.cancelled()


async def test_a_flush_that_is_broken_off_leaves_the_store_usable(tmp_path: Path) -> None:
    async with opened(StoreAddress(f"surrealkv://{tmp_path / 'store'}")) as db:
        asked = asyncio.create_task(db.run(reading("SLEEP 300ms; RETURN 1")))
        await asyncio.sleep(0.05)
        flushing = asyncio.create_task(db.flush())
        await asyncio.sleep(0.05)
        flushing.cancel()
        await asyncio.wait([flushing])
        assert flushing.cancelled()
        assert await db.run(reading("RETURN 2")) == 2
        assert await asked == 1
        await db.flush()
        assert await db.run(reading("RETURN 3")) == 3
