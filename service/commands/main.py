"""The command `graph-memory`: serve, ingest --once, consolidate, reembed, switch-engine, graph."""

import asyncio
import logging
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer
import uvicorn
from pydantic import ValidationError
from pydantic_settings import SettingsError
from rich.console import Console
from rich.logging import RichHandler
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.app import create_app
from service.commands.consolidate import consolidate_once, print_outcome, read_age
from service.commands.graph import ask_for_report, print_report
from service.commands.ingest import ingest_once, summary
from service.commands.reembed import reembed as reembed_store
from service.commands.switch_engine import switch_engine as switch_store
from service.errors import ServiceError
from service.settings import Settings

app = typer.Typer(
    help="Self-hosted memory for AI agents.", no_args_is_help=True, pretty_exceptions_enable=False
)
graph = typer.Typer(help="Look at the graph of the running service.", no_args_is_help=True)
app.add_typer(graph, name="graph")
console = Console(stderr=True)
log = logging.getLogger(__name__)


def main() -> None:
    """Run the command, and end without the interpreter's own ending.

    Threads of the embedded engine are still there when the store is closed. One that calls into an
    interpreter which ends aborts the process, though all is done (surrealdb-embedded 3.0.0b10).
    """
    try:
        app()
    except SystemExit as ended:
        code = ended.code
    else:
        code = 0
    if not isinstance(code, int):
        code = int(code is not None)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@app.command()
def serve() -> None:
    """Start the service alone; settings come from MEMORY_… variables and .env."""
    settings = _settings()
    _log_to_terminal(settings)
    listening = _listen(settings)
    starting = _Starting(create_app(settings), _url_of(listening))
    config = uvicorn.Config(
        starting, lifespan="on", log_config=None, access_log=False, timeout_graceful_shutdown=10
    )
    with _one_line():
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except SystemExit:
            raise starting.failure or SystemExit(1) from None


@app.command()
def ingest(
    paths: Annotated[list[Path] | None, typer.Argument(help="Default: MEMORY_SOURCES.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Scan once and stop (the default).")] = True,
) -> None:
    """Scan folders once: through the running service, or on the store itself when none runs."""
    del once
    settings = _settings()
    _log_to_terminal(settings)
    with _one_line():
        counts = asyncio.run(ingest_once(settings, paths or [], console))
    for line in summary(counts):
        typer.echo(line)
    if counts.failed:
        sys.exit(1)


@app.command()
def consolidate(
    older_than: Annotated[
        str, typer.Option(help="Age of a log from which it is compacted: 12h, 3d, 2w.")
    ] = "3d",
    execute: Annotated[
        bool, typer.Option("--execute", help="Do it; without this nothing is changed.")
    ] = False,
    agent: Annotated[str | None, typer.Option(help="Default: MEMORY_AGENT.")] = None,
    scope: Annotated[str | None, typer.Option(help="Only logs of this scope.")] = None,
) -> None:
    """Compact old logs into summaries: shows the plan, and with --execute carries it out."""
    settings = _settings()
    _log_to_terminal(settings)
    with _one_line():
        wish = {"agent": agent or settings.agent, "older_than_days": read_age(older_than)}
        wish |= {"scope": scope} if scope else {}
        shown, done = asyncio.run(consolidate_once(settings, wish, console, execute=execute))
    print_outcome(shown, done, Console())


@app.command()
def reembed() -> None:
    """Have every memory embedded anew by the configured model; the service must be stopped."""
    settings = _settings()
    _log_to_terminal(settings)
    started = time.perf_counter()
    with _one_line():
        count = asyncio.run(reembed_store(settings, console))
    typer.echo(f"Embedded {count} memories in {time.perf_counter() - started:.1f}s")


@app.command()
def switch_engine() -> None:
    """Make the store fit MEMORY_SEARCH_ENGINE; the service must be stopped."""
    settings = _settings()
    _log_to_terminal(settings)
    started = time.perf_counter()
    with _one_line():
        count = asyncio.run(switch_store(settings, console))
    engine = settings.search_engine
    if count is None:
        typer.echo(f"The store fits the {engine} engine already")
    else:
        took_seconds = time.perf_counter() - started
        typer.echo(f"Switched {count} vectors to the {engine} engine in {took_seconds:.1f}s")


@graph.command()
def report(
    agent: Annotated[str | None, typer.Option(help="Default: MEMORY_AGENT.")] = None,
) -> None:
    """Tell whether the graph is worth it on your memories; asks the running service."""
    settings = _settings()
    with _one_line(), console.status("Measuring the graph"):
        found = ask_for_report(settings, agent or settings.agent)
    print_report(found, Console())


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


@contextmanager
def _one_line() -> Iterator[None]:
    """End with one line, not a traceback, when what is wrong lies outside of the program."""
    try:
        yield
    except ServiceError as error:
        _stop(error.detail)
    except OSError as error:
        _stop(f"{error.filename}: {error.strerror}." if error.filename else str(error))


def _settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "MEMORY_" + "_".join(map(str, first["loc"])).upper()
        _stop(f"{name}: {first['msg'].removeprefix('Value error, ')}")
    except SettingsError as error:
        # The field is named in its text alone: `error parsing value for field "places" from …`.
        name = str(error).partition('"')[2].partition('"')[0]
        _stop(f'MEMORY_{name.upper()}: must be JSON, for example {{"journal/**": "daily_log"}}.')


def _listen(settings: Settings) -> socket.socket:
    """Take the port before anything else is opened; a taken one ends here."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With its protocol named, answers are not held back 40 ms for more to send (TCP_NODELAY).
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        _stop(
            f"Cannot listen on {settings.host}:{settings.port} ({error.strerror}): "
            "stop what runs there, or set MEMORY_PORT."
        )
    listening.listen(2048)
    return listening


def _url_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _log_to_terminal(settings: Settings) -> None:
    """Log in colours to a terminal, and to a file or pipe in whole lines with their time."""
    rich = RichHandler(console=console, show_path=False, rich_tracebacks=False)
    is_terminal = console.is_terminal
    logging.basicConfig(
        level=settings.log_level.upper(),
        format="%(message)s" if is_terminal else "%(asctime)s %(levelname)s %(message)s",
        handlers=[rich if is_terminal else logging.StreamHandler()],
        force=True,
    )
    # A failed start is told by us.
    logging.getLogger("uvicorn.error").addFilter(
        lambda entry: not entry.getMessage().startswith("Application startup failed")
    )
    for chatty in ("httpx", "httpcore", "websockets", "surrealdb", "uvicorn.error"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _stop(reason: str) -> NoReturn:
    console.print(f"graph-memory: {reason}", style="red", soft_wrap=True, markup=False)
    sys.exit(1)
