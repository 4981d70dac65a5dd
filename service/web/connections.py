"""Connections: how many may be open, and how long one may keep the service waiting.

uvicorn bounds neither: it waits for headers without end, and for a client that takes no answer.
"""

import asyncio
import sys
from typing import ClassVar, Final

import uvicorn
from starlette.types import ASGIApp

from service.settings import Settings

if sys.platform == "win32":
    from uvicorn.protocols.http.h11_impl import H11Protocol as HttpProtocol
else:
    import resource

    from service.web.upgrades import PlainHttp as HttpProtocol

# A client that asks on a connection just closed is told nothing, and may not ask again itself. So
# theirs end first: httpx keeps one 5 s, as uvicorn does, Go's client 90, Caddy 120.
_KEPT_SECONDS: Final = 150
# What is closed with words still unsent gets so long to read them.
_FAREWELL_SECONDS: Final = 5.0
# Files that are no connections: the store's, clients' sockets, libraries.
_OTHER_FILES: Final = 256
# Of so few open files, some must be connections all the same.
_FEWEST: Final = 64
_TOO_LATE: Final = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TOO_MANY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n"
    b"connection: close\r\n\r\n"
)


class Connections:
    """The open connections of one service; `refused` counts those it ended, by reason.

    `headers`: no request came in time. `many`: too many were open, and this one was silent.
    `unread`: its client did not take the answer.
    """

    def __init__(self, settings: Settings) -> None:
        self.most = settings.max_connections
        self.header_seconds = settings.header_timeout_seconds
        self.unread_seconds = settings.body_timeout_seconds
        self.refused = {"headers": 0, "many": 0, "unread": 0}
        # Those that have been silent longest come first.
        self._open: dict[TimedProtocol, None] = {}

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: "TimedProtocol") -> None:
        """Take in a new connection; one too many costs the one that has been silent longest."""
        self.touch(connection)
        if len(self._open) <= self.most:
            return
        self.refused["many"] += 1
        silent = (one for one in self._open if not one.is_busy and one is not connection)
        next(silent, connection).end(_TOO_MANY)

    def touch(self, connection: "TimedProtocol") -> None:
        """Note that a connection begins to be silent."""
        self._open.pop(connection, None)
        self._open[connection] = None

    def remove(self, connection: "TimedProtocol") -> None:
        """Forget a connection that is closed."""
        self._open.pop(connection, None)


class TimedProtocol(HttpProtocol):
    """uvicorn's HTTP, with an end to waiting for a request's headers and for a client's reading.

    How long a body may take is the business of `body_room`, which answers as a problem.
    """

    bounds: ClassVar[Connections]
    _looking: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _silent_since: float = 0.0
    # Between a request and the next, which need not come.
    _is_kept: bool = False

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._silent_since = self.loop.time()
        self._look_in(self.bounds.header_seconds)
        self.bounds.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End all waiting."""
        self.bounds.remove(self)
        for timer in (self._looking, self._unread):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Begin to wait for the rest of a request's headers, if these are its first."""
        if self._is_kept:
            self._is_kept = False
            self._silent_since = self.loop.time()
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Keep the connection for a next request, unless a part of this one is still to come."""
        self._silent_since = self.loop.time()
        self._is_kept = not self.cycle.more_body
        self.bounds.touch(self)
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.bounds.unread_seconds, self._cut_off)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def end(self, words: bytes) -> None:
        """Close the connection after some last words."""
        if self.transport.is_closing():
            return
        self.transport.write(words)
        self.transport.close()
        if self._unread is not None:
            self._unread.cancel()
        self._unread = self.loop.call_later(_FAREWELL_SECONDS, self.transport.abort)

    def _look_in(self, seconds: float) -> None:
        self._looking = self.loop.call_later(seconds, self._look)

    def _look(self) -> None:
        """End a silence that is too long; look again later otherwise."""
        seconds = self.bounds.header_seconds
        left = self._silent_since + seconds - self.loop.time()
        if self.is_busy or self._is_kept:
            self._look_in(seconds)
        elif left > 0:
            self._look_in(left)
        else:
            self.bounds.refused["headers"] += 1
            self.end(_TOO_LATE)

    def _cut_off(self) -> None:
        self.bounds.refused["unread"] += 1
        self.transport.abort()


def configure(app: ASGIApp, connections: Connections) -> uvicorn.Config:
    """Return what uvicorn needs to serve the app within these bounds; takes more files if it can.

    Most systems allow 1,024 open files unasked, and far more to who asks.
    """
    allowed = max(_FEWEST, _allowed_files() - _OTHER_FILES)
    connections.most = min(connections.most, allowed)
    protocol = type("BoundProtocol", (TimedProtocol,), {"bounds": connections})
    return uvicorn.Config(
        app,
        http=protocol,
        lifespan="on",
        log_config=None,
        access_log=False,
        # Who asks is whoever connected: what a header says of it needs a key (service/web/door.py).
        proxy_headers=False,
        timeout_keep_alive=_KEPT_SECONDS,
        timeout_graceful_shutdown=10,
    )


def _allowed_files() -> int:
    """Raise the limit of open files to what is allowed, and return it."""
    if sys.platform == "win32":
        return 2**31
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 2**31
