"""The MCP server over streamable HTTP; each message asks the service as its own sender."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import DEFAULT_MAX_REQUEST_BODY_SIZE
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager as Manager
from mcp.server.transport_security import TransportSecuritySettings

from service.access.caller import caller
from service.client.endpoints import AsyncGraphMemory
from service.client.passing import App, Scope, pass_on
from service.client.sessions import PlaceOptions
from service.mcp.held_sessions import HeldSessions
from service.mcp.offered.offer import Offer
from service.mcp.server import Connect, MemoryServer

# Of clients that speak revisions before 2026-07-28: each holds some kB until it is silent so long.
_MOST_SESSIONS: Final = 2_000
_MOST_OF_A_KEY: Final = 200
_IDLE_SECONDS: Final = 1_800.0
_SESSION: Final = b"mcp-session-id"
_UNKNOWN: Final = 404
_UNNAMED: Final = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_NAME_CHARACTERS: Final = 50


class HttpServer:
    """Serves /mcp for as long as `run` does."""

    def __init__(self, app: App, offers: tuple[Offer, ...], most_bytes: int) -> None:
        logging.getLogger("mcp").setLevel(logging.WARNING)
        self._manager = Manager(
            MemoryServer(offers, _connect_to(app), PlaceOptions()).build(),
            session_idle_timeout=_IDLE_SECONDS,
            max_sessions=_MOST_SESSIONS,
            max_request_body_size=min(most_bytes, DEFAULT_MAX_REQUEST_BODY_SIZE),
            # The door has looked at Host and Origin (service/web/door.py).
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._begun = asyncio.Event()
        self._held = HeldSessions(_MOST_OF_A_KEY)

    async def run(self) -> None:
        """Hold the sessions, until it is cancelled."""
        async with self._manager.run():
            self._begun.set()
            await asyncio.Event().wait()

    async def answer(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer a request. A session is its key's own: to another key's it is unknown."""
        await self._begun.wait()
        key = caller().key or "local"
        # None of these is a secret: it says whose a session is.
        token = AccessToken(token="", client_id=key, scopes=[])
        # Blanks around a value are no part of it (RFC 9110, 5.5); uvicorn leaves those behind it.
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        asked = {**scope, "user": AuthenticatedUser(token), "headers": headers}
        session, heard = _session_in(headers), _Heard(send)
        if session:
            self._held.use(key, session)
        await self._manager.handle_request(asked, receive, heard.send)
        if session and (heard.status == _UNKNOWN or scope["method"] == "DELETE"):
            self._held.end(key, session)
        elif not session and heard.session:
            for old in self._held.begin(key, heard.session):
                await self._end(old, asked)

    async def _end(self, session: str, asked: Scope) -> None:
        """End a session as its client does."""
        headers = [(_SESSION, session.encode())]
        await self._manager.handle_request(
            {**asked, "method": "DELETE", "headers": headers}, _no_body, _Heard(None).send
        )


class _Heard:
    """Passes an answer on, and keeps its status and the session that it names."""

    def __init__(self, send: Any) -> None:
        self._send = send
        self.status = 0
        self.session: str | None = None

    async def send(self, message: Any) -> None:
        """Pass a message on; to nobody where nobody waits for it."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.session = _session_in(message["headers"])
        if self._send is not None:
            await self._send(message)


def _session_in(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    found = (value.decode("latin-1") for name, value in headers if name.lower() == _SESSION)
    return next(found, None)


async def _no_body() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def client_name(context: ServerRequestContext[Any, Any]) -> str | None:
    """Return what the client calls itself, as the product of a User-Agent; None for no name."""
    params = context.session.client_params
    name = params.client_info.name if params and params.client_info else ""
    return _UNNAMED.sub("-", name).strip("-")[:_MOST_NAME_CHARACTERS] or None


def _connect_to(app: App) -> Connect:
    @asynccontextmanager
    async def connect(context: ServerRequestContext[Any, Any]) -> AsyncIterator[AsyncGraphMemory]:
        request: Any = context.request
        async with pass_on(app, request.scope, client_name(context)) as memory:
            yield memory

    return connect
