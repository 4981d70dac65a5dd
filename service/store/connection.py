"""The one client of a store: opened when needed, let go when broken, made anew to flush."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from service.errors import ServiceError
from service.store.address import StoreAddress
from service.store.connecting import connect, disconnect
from service.store.engine_memory import EngineMemory


class Connection:
    """At most one client at a time: an embedded store has one lock."""

    def __init__(self, address: StoreAddress, memory: EngineMemory) -> None:
        self._address = address
        self._memory = memory
        self._client: Any = None
        self._connecting = asyncio.Lock()
        self._opening: asyncio.Task[None] | None = None
        # How many use it now.
        self._users = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def client(self) -> Any:
        """Return the client, opened if need be; raises CannotStart or StoreUnavailable.

        Whoever waits may give up, as a look at the health does after 3 s. The opening goes on:
        broken off, it would hold the lock of an embedded store as long as the process lives.
        """
        while self._client is None:
            if self._opening is None:
                self._opening = asyncio.create_task(self._open())
                self._opening.add_done_callback(_heard)
            await asyncio.shield(self._opening)
        return self._client

    @asynccontextmanager
    async def used(self) -> AsyncIterator[Any]:
        """Yield the client, which is not made anew meanwhile."""
        client = await self.client()
        if not self._users:
            self._memory.asked()
        self._users += 1
        self._idle.clear()
        try:
            yield client
        finally:
            self._users -= 1
            if not self._users:
                self._memory.answered()
                self._idle.set()

    async def renew(self) -> None:
        """Close the client once nobody uses it, and open another; raises what opening raises.

        Who asks meanwhile waits.
        """
        async with self._connecting:
            client, self._client = self._client, None
            try:
                await self._idle.wait()
            except asyncio.CancelledError:
                # Forgotten, it would hold the lock of an embedded store as long as the process.
                self._client = client
                raise
            if client is not None:
                await disconnect(client)
        await self.client()

    async def drop(self, client: Any) -> None:
        """Forget a broken client, so that the next query opens a new one."""
        if self._client is client:
            self._client = None
            await disconnect(client)

    async def close(self) -> None:
        """Close the client; the embedded engine flushes and gives up its lock."""
        if self._opening is not None:
            with suppress(ServiceError):
                await asyncio.shield(self._opening)
        client, self._client = self._client, None
        if client is not None:
            await disconnect(client)

    async def _open(self) -> None:
        try:
            async with self._connecting:
                if self._client is None:
                    self._client = await connect(self._address)
                    self._memory.begin()
        finally:
            self._opening = None


def _heard(opening: asyncio.Task[None]) -> None:
    """Take note of a failure that nobody waits for any more."""
    if not opening.cancelled():
        opening.exception()
