"""The door: what comes from another host's name, another page or in another form stays outside."""

import asyncio
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.access.addresses import UNIX
from service.access.headers import (
    Named,
    check_headers,
    check_url,
    needs_key,
    read_headers,
    without_keys,
)
from service.errors import ServiceError, Stopping
from service.settings import Settings
from service.web.problems import TOLD, problem

_EXPOSED: Final = ("X-Request-ID", "Retry-After", "Location", "X-Job", "Mcp-Session-Id")
# Those that MCP sends with each message beside the usual ones.
_OF_MCP: Final = ("Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name")
_BROKEN_OFF: Final = (
    "The request was broken off, and what it was to write may be written or not: send it again."
)


class Door:
    """Refuses before anything is read: 400, 403, 415, 421 or 501; CORS for origins that are named.

    Notes in `request.state.needs_key` what may come from another machine.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        origins = settings.allowed_origins
        self.named = Named.of(settings.host, settings.allowed_hosts, origins)
        # Not told by the request: what names no server's address must not pass for a socket's.
        self.is_unix = settings.host.startswith(UNIX)
        self.app = app
        if origins:
            self.app = CORSMiddleware(
                app, allow_origins=sorted(self.named.origins), expose_headers=_EXPOSED,
                allow_methods=("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
                allow_headers=("Authorization", "Content-Type", "X-Request-ID", *_OF_MCP),
            )  # fmt: skip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer why not; also one that is broken off, as at the end."""
        if scope["type"] != "http" or getattr(scope["app"].state, "is_private", False):
            await self.app(scope, receive, send)
            return
        has_begun = False

        async def told(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in TOLD.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            self._check(scope)
        except ServiceError as error:
            asked = Request({**scope, "path": without_keys(scope["path"])})
            await problem(asked, error)(scope, receive, told)
            return
        try:
            await self.app(scope, receive, told)
        except asyncio.CancelledError:
            # Else uvicorn would answer 500, as for a defect.
            if not has_begun:
                await problem(Request(scope), Stopping(_BROKEN_OFF))(scope, receive, told)
            raise

    def _check(self, scope: Scope) -> None:
        """Raise what check_headers and check_url do."""
        headers = read_headers(scope["headers"])
        check_headers(headers, self.named, is_unix=self.is_unix)
        check_url(scope["path"], scope["query_string"].decode("latin-1"))
        address = scope["client"][0] if scope.get("client") else None
        state = scope.setdefault("state", {})
        state["needs_key"] = needs_key(headers, address, is_unix=self.is_unix)
