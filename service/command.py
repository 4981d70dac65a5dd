"""The command `graph-memory`: serve, ingest --once, reembed."""

import asyncio
import logging
import socket
import sys
import time
from pathlib import Path
from typing import Annotated, NoReturn

import typer
import uvicorn
from pydantic import ValidationError
from rich.console import Console
from rich.logging import RichHandler

from service.app import create_app
from service.errors import ServiceError
from service.ingest.command import ingest_once
from service.reembed import reembed as reembed_store
from service.settings import Settings

app = typer.Typer(
    help="Self-hosted memory for AI agents.", no_args_is_help=True, pretty_exceptions_enable=False
)
console = Console(stderr=True)


@app.command()
def serve() -> None:
    """Start the service alone; settings come from MEMORY_… variables and .env."""
    settings = _settings()
    _log_to_terminal(settings)
    listening = _listen(settings)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(settings), log_config=None, access_log=False, timeout_graceful_shutdown=10
        )
    )
    try:
        server.run(sockets=[listening])
    except ServiceError as error:
        _stop(error.detail)
    if not server.started:
        # The lifespan's failure was logged by uvicorn as it ended.
        sys.exit(1)


@app.command()
def ingest(
    paths: Annotated[list[Path] | None, typer.Argument(help="Default: MEMORY_SOURCES.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Scan once and stop (the default).")] = True,
) -> None:
    """Scan folders once: through the running service, or on the store itself when none runs."""
    del once
    settings = _settings()
    _log_to_terminal(settings)
    try:
        failed = asyncio.run(ingest_once(settings, paths or [], console))
    except ServiceError as error:
        _stop(error.detail)
    if failed:
        sys.exit(1)


@app.command()
def reembed() -> None:
    """Have every memory embedded anew by the configured model; the service must be stopped."""
    settings = _settings()
    _log_to_terminal(settings)
    started = time.perf_counter()
    try:
        count = asyncio.run(reembed_store(settings, console))
    except ServiceError as error:
        _stop(error.detail)
    console.print(f"Embedded {count} memories in {time.perf_counter() - started:.1f}s")


def _settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "MEMORY_" + "_".join(map(str, first["loc"])).upper()
        _stop(f"{name}: {first['msg'].removeprefix('Value error, ')}")


def _listen(settings: Settings) -> socket.socket:
    """Take the port before anything else is opened; a taken one ends here."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
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


def _log_to_terminal(settings: Settings) -> None:
    handler = RichHandler(console=console, show_path=False, rich_tracebacks=False)
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(message)s", handlers=[handler], force=True
    )
    for chatty in ("httpx", "httpcore", "websockets", "surrealdb", "uvicorn.error"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _stop(reason: str) -> NoReturn:
    console.print(f"graph-memory: {reason}", style="red", soft_wrap=True, markup=False)
    sys.exit(1)
