"""`graph-memory serve`: the service alone, until it is stopped."""

import logging
import socket

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.app import create_app
from service.commands.terminal import begin
from service.errors import CannotStart, ServiceError
from service.settings import Settings
from service.web.connections import configure

log = logging.getLogger(__name__)


def command() -> None:
    """Start the service alone; settings come from MEMORY_… variables and .env."""
    settings = begin()
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass requests on; watch over the start."""
        if scope["type"] != "lifespan":
            await self.app(scope, receive, send)
            return

        async def tell(message: Message) -> None:
            if message["type"] == "lifespan.startup.complete":
                log.info("listening on %s", self.url)
            await send({"type": message["type"]})

        try:
            await self.app(scope, receive, tell)
        except (ServiceError, OSError) as error:
            self.failure = error


def _listen(settings: Settings) -> socket.socket:
    """Take the port before anything else is opened; raises CannotStart for a taken one."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With its protocol named, answers are not held back 40 ms for more to send (TCP_NODELAY).
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        msg = (
            f"Cannot listen on {settings.host}:{settings.port} ({error.strerror}): "
            "stop what runs there, or set MEMORY_PORT."
        )
        raise CannotStart(msg) from error
    listening.listen(2048)
    return listening


def _url_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
