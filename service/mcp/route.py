"""The door of /mcp: JSON-RPC of the Model Context Protocol, in both of its eras.

What a tool does goes through this service's own HTTP contract, in the name of whoever sent the
message: keys, walls, quotas and the audit hold for it as for every other request.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter, FastAPI, Request, Response

from service.mcp.loading import load_http, load_offers
from service.settings import Settings

if TYPE_CHECKING:
    from service.mcp.over_http import HttpServer


class Mcp:
    """Serves MCP from the first message on; raises CannotStart for an unknown chosen tool."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        self._app = app
        self._chosen = settings.mcp_tools
        self._most_bytes = settings.max_request_bytes
        self._loading = asyncio.Lock()
        self._server: HttpServer | None = None
        self._running: asyncio.Task[None] | None = None
        if self._chosen:
            # A name that there is not is told at the start.
            load_offers(self._chosen)

    async def server(self) -> "HttpServer":
        """Return the server; the first call loads and starts it."""
        async with self._loading:
            if self._server is None:
                self._server = await asyncio.to_thread(
                    load_http, self._app, self._chosen, self._most_bytes
                )
                self._running = asyncio.create_task(self._server.run())
        return self._server

    async def close(self) -> None:
        """End all sessions."""
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    mcp = app.state.parts[Mcp] = Mcp(app, app.state.parts[Settings])
    try:
        yield
    finally:
        await mcp.close()


router = APIRouter(lifespan=_lifespan)


class _Spoken(Response):
    """The answer of the MCP server, which writes it itself."""

    def __init__(self, server: "HttpServer") -> None:
        super().__init__()
        self._server = server

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer."""
        await self._server.answer(scope, receive, send)


_ROUTE: Final = SimpleNamespace(path="/mcp")


# No GET: the server says nothing unasked, so that nobody has to hold a stream open for it.
@router.route("/mcp", methods=["POST", "DELETE"], include_in_schema=False)
@router.route("/mcp/", methods=["POST", "DELETE"], include_in_schema=False)
async def speak(request: Request) -> Response:
    """Answer a message, or end a session."""
    # What counts and audits requests knows from it that it was let in.
    request.scope["route"] = _ROUTE
    mcp: Mcp = request.app.state.parts[Mcp]
    return _Spoken(await mcp.server())
