"""`graph-memory serve`: the service alone, until it is stopped."""

import asyncio
import logging
import os
import socket
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.access.addresses import UNIX
from service.app import create_app
from service.commands.misspelt import given_names, misspelt
from service.commands.terminal import begin
from service.compiled import INTERPRETED, is_compiled
from service.errors import CannotStart, ServiceError
from service.settings import Settings
from service.settling import settle
from service.web.connections import configure

log = logging.getLogger(__name__)

# sun_path of Linux, without the byte that ends it.
_LONGEST_PATH_BYTES: Final = 107
_PROBE_SECONDS: Final = 2


def command() -> None:
    """Start the service alone; settings come from MEMORY_… variables and .env."""
    settings = begin()
    for name, near in misspelt(given_names()).items():
        log.warning("%s is no setting, and nothing reads it; there is %s", name, near)
    listening = _listen(settings)
    app = create_app(settings)
    starting = _Starting(app, _url_of(listening))
    config = configure(starting, app.state.bounds.connections)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except SystemExit:
        raise starting.failure or SystemExit(1) from None


class _Starting:
    """The app as uvicorn starts it: a failed start is kept here, to be told in one line.

    Uvicorn itself would print the whole traceback, and not say where it listens.
    """

    def __init__(self, app: ASGIApp, url: str) -> None:
        self.app = app
        self.url = url
        self.failure: Exception | None = None

    def ended(self) -> None:
        """Leave no socket's path behind: uvicorn raises the signal that ended it once more."""
        if self.url.startswith(UNIX):
            Path(self.url.removeprefix(UNIX)).unlink(missing_ok=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass requests on; watch over the start."""
        if scope["type"] != "lifespan":
            # The door has answered what is broken off; uvicorn would log it as a defect.
            with suppress(asyncio.CancelledError):
                await self.app(scope, receive, send)
            return

        async def tell(message: Message) -> None:
            if message["type"] == "lifespan.startup.complete":
                settle()
                log.info("listening on %s", self.url)
                if not is_compiled():
                    log.warning(INTERPRETED)
            else:
                self.ended()
                # Of a failure Starlette tells while it handles it.
                _log_defect(sys.exc_info()[1])
            await send({"type": message["type"]})

        try:
            await self.app(scope, receive, tell)
        except (ServiceError, OSError) as error:
            self.failure = error


def _log_defect(error: BaseException | None) -> None:
    """Log what nobody foresaw: uvicorn, which is told no more than that it failed, would not."""
    if isinstance(error, Exception) and not isinstance(error, ServiceError | OSError):
        log.critical("ended by a defect", exc_info=error)


def _listen(settings: Settings) -> socket.socket:
    """Take the address before anything else is opened; raises CannotStart for a taken one."""
    if settings.host.startswith(UNIX):
        return _listen_on_path(settings.host.removeprefix(UNIX))
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With its protocol named, answers are not held back 40 ms for more to send (TCP_NODELAY).
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except (OSError, TypeError) as error:  # the latter for a name that has no ASCII form
        reason = getattr(error, "strerror", "no name of a host")
        msg = (
            f"Cannot listen on {settings.host}:{settings.port} ({reason}): "
            "stop what runs there, or set another MEMORY_PORT or MEMORY_HOST."
        )
        raise CannotStart(msg) from error
    listening.listen(2048)
    return listening


def _listen_on_path(path: str) -> socket.socket:
    """Listen on a Unix socket that its user alone may open; one without a listener is replaced."""
    # Without a path the system invents a name, which every user of the machine may connect to.
    if not 0 < len(os.fsencode(path)) <= _LONGEST_PATH_BYTES:
        msg = f"MEMORY_HOST: a socket's path has 1 to {_LONGEST_PATH_BYTES} bytes, not {path!r}."
        raise CannotStart(msg)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if _is_answered(path):
        raise CannotStart(f"Another process listens on {path}: stop it, or set MEMORY_HOST.")
    # With any other mask the socket would be open to others for a moment.
    mask = os.umask(0o177)
    try:
        listening.bind(path)
    except OSError as error:
        msg = f"Cannot listen on {path} ({error.strerror}): set MEMORY_HOST to another path."
        raise CannotStart(msg) from error
    finally:
        os.umask(mask)
    listening.listen(2048)
    return listening


def _is_answered(path: str) -> bool:
    """Return whether somebody listens there; the socket of a process that is gone is removed."""
    if not (os.path.lexists(path) and stat.S_ISSOCK(os.lstat(path).st_mode)):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_SECONDS)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            Path(path).unlink()
            return False
        except OSError:
            # Too busy to take one more, or another user's: somebody is there.
            return True
    return True


def _url_of(listening: socket.socket) -> str:
    if listening.family == socket.AF_UNIX:
        return f"{UNIX}{listening.getsockname()}"
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
