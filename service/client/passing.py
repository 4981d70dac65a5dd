"""Asks in the name of somebody else: within a process, or for a program that speaks by a pipe."""

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx

from service.client.endpoints import AsyncGraphMemory

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]

_WITHIN: Final = "http://127.0.0.1"
# What says who asks, and as which of their requests.
_PASSED: Final = frozenset({"authorization", "user-agent"})
# A scan or a large transcript; whoever waits for a tool gives up long before.
_TIMEOUT_SECONDS: Final = 120.0


class _Named(httpx.AsyncBaseTransport):
    """Sends by another's transport, which stays open, with headers of its own."""

    def __init__(self, transport: httpx.AsyncBaseTransport, headers: dict[str, str]) -> None:
        self._transport = transport
        self._headers = headers

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send it."""
        request.headers.update(self._headers)
        return await self._transport.handle_async_request(request)


@asynccontextmanager
async def pass_on(app: App, scope: Scope, client: str | None) -> AsyncIterator[AsyncGraphMemory]:
    """Yield a client of an app in this process, which asks as whoever sent a request to it.

    What is asked goes the way of every request. It is not counted once more as one of the sender's
    (`is_passed_on`), for the request that it is asked for was. `client` is what the sender calls
    itself.
    """
    sent = {name.decode("latin-1").lower(): value for name, value in scope["headers"]}
    headers = {name: value.decode("latin-1") for name, value in sent.items() if name in _PASSED}
    if request_id := scope.get("state", {}).get("request_id"):
        headers["x-request-id"] = request_id
    if client:
        headers["user-agent"] = client

    async def passed(own: Scope, receive: Any, send: Any) -> None:
        state = {"is_passed_on": True}
        await app({**own, "client": scope.get("client"), "state": state}, receive, send)

    transport = httpx.ASGITransport(passed, raise_app_exceptions=False)
    async with AsyncGraphMemory(
        _WITHIN, transport=_Named(transport, headers), timeout_seconds=_TIMEOUT_SECONDS
    ) as memory:
        yield memory


class Remote:
    """A service at a URL, asked with a key for several programs over the same connections."""

    def __init__(
        self, url: str, key: str | None, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.url = url
        self._key = key
        self._transport = transport or httpx.AsyncHTTPTransport(verify=not url.startswith("http:"))

    @asynccontextmanager
    async def connect(self, client: str | None) -> AsyncIterator[AsyncGraphMemory]:
        """Yield a client that asks as the program of this name."""
        headers = {"user-agent": client} if client else {}
        async with AsyncGraphMemory(
            self.url, key=self._key, transport=_Named(self._transport, headers),
            timeout_seconds=_TIMEOUT_SECONDS,
        ) as memory:  # fmt: skip
            yield memory

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.aclose()
