"""The command graph-memory-embeddings: opens the port and serves until a signal."""

import argparse
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from textwrap import fill

import uvicorn
from pydantic import ValidationError
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource, SettingsError

from embedding_server.app import create_app
from embedding_server.errors import CannotStart
from embedding_server.settings import SECRETS_FOLDER, Settings
from embedding_server.web.connections import configure
from embedding_server.web.door import is_loopback
from embedding_server.web.log_format import configure_logging

logger = logging.getLogger(__name__)

PROGRAM = "graph-memory-embeddings"
# What was admitted when the signal comes is still answered, within this time; what is not finished
# by then gets a 503. A supervisor that kills earlier has to be told to wait (docker-compose.yml).
STOP_SECONDS = 60
# Without a model nothing can be finished; clients that are still sending are not waited for.
FAILED_STOP_SECONDS = 3


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until SIGINT or SIGTERM; end with status 1 and one line if that is not possible."""
    _make_parser().parse_args(arguments)
    try:
        settings = _read_settings()
        _refuse_open_door(settings)
        listener = _open_port(settings)
    except CannotStart as error:
        sys.exit(f"{PROGRAM}: {error}")
    configure_logging(settings)
    _tell_misspelt()
    _share_cores()
    failures: list[str] = []
    is_thread_alive = _serve(settings, listener, failures)
    status = f"{PROGRAM}: {failures[0]}" if failures else 0
    if is_thread_alive:
        _leave_at_once(status)
    sys.exit(status)


def _make_parser() -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=PROGRAM,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Serve embeddings over HTTP as OpenAI does: POST /v1/embeddings,\n"
        "GET /v1/models, GET /health, GET /metrics. It is configured by environment\n"
        "variables or a .env file in the working directory.",
        epilog=_list_settings(),
    )


def _list_settings() -> str:
    lines = ["settings:"]
    for name, knob in Settings.model_fields.items():
        default = "" if knob.default is None else f" [{knob.default}]"
        indent = " " * 6
        lines.append(f"  EMBEDDING_{name.upper()}{default}")
        lines.append(
            fill(knob.description or "", 78, initial_indent=indent, subsequent_indent=indent)
        )
    return "\n".join(lines)


def _read_settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        faults = [
            f"EMBEDDING_{'_'.join(str(part) for part in fault['loc']).upper()}: "
            + fault["msg"].removeprefix("Value error, ")
            for fault in error.errors()
        ]
        raise CannotStart("; ".join(faults)) from error
    except SettingsError as error:
        # Which setting stands in its text alone: `error getting value for field "api_key" from …`.
        _, name, _ = str(error).split('"', 2)
        why = getattr(error.__cause__, "strerror", "it is no text in UTF-8")
        file = SECRETS_FOLDER / f"embedding_{name}"
        raise CannotStart(f"EMBEDDING_{name.upper()}: {file} cannot be read: {why}") from error
    except UnicodeDecodeError as error:
        raise CannotStart(".env is no text in UTF-8: save it as that") from error
    except OSError as error:
        raise CannotStart(f"{error.filename}: {error.strerror}") from error


def _tell_misspelt() -> None:
    """Log what is nearly called as a setting is: nothing reads it, and nothing else says so."""
    settings = [name.upper() for name in Settings.model_fields]
    sources = (EnvSettingsSource(Settings), DotEnvSettingsSource(Settings))
    for given in sorted({name.upper() for source in sources for name in source.env_vars}):
        name = given.removeprefix("EMBEDDING_")
        if name == given or name in settings:
            continue
        for near in get_close_matches(name, settings, 1, 0.8):
            logger.warning(
                "%s is no setting, and nothing reads it; there is EMBEDDING_%s", given, near
            )


def _refuse_open_door(settings: Settings) -> None:
    if settings.api_key is None and not is_loopback(settings.host):
        raise CannotStart(
            f"EMBEDDING_HOST={settings.host} is open to other machines: set EMBEDDING_API_KEY"
        )


def _open_port(settings: Settings) -> socket.socket:
    """Listen at once, so that a taken port is known before a model is loaded for nothing."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
        listener = socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as error:
        # The reason alone: Python appends the address once more.
        reason = str(getattr(error, "strerror", "no name of a host")).partition(" (")[0]
        raise CannotStart(
            f"cannot listen on {settings.host}:{settings.port}: {reason}; "
            "set EMBEDDING_HOST or EMBEDDING_PORT"
        ) from error
    # Connections inherit it. asyncio sets it only on sockets it opened itself, and without it
    # every answer waits 40 ms for the client's delayed acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _share_cores() -> None:
    """Let the threads of a forward pass sleep while they wait for each other.

    By default they spin, which is 5% faster on an idle machine and ruinous beside the service
    that asks: on two busy cores 9 texts a second against 27, and a 95th percentile of 476 ms
    against 15. OpenMP reads the variable when torch is imported, which is later.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _serve(settings: Settings, listener: socket.socket, failures: list[str]) -> bool:
    """Serve until a signal, or until the model turns out not to load.

    Returns whether the model thread still runs.
    """

    def stop(reason: str) -> None:
        failures.append(reason)
        server.config.timeout_graceful_shutdown = FAILED_STOP_SECONDS
        server.should_exit = True

    app = create_app(settings, report_failure=stop)
    config = configure(app)
    config.timeout_graceful_shutdown = STOP_SECONDS
    server = uvicorn.Server(config)
    _end_quietly(server)
    host, port = listener.getsockname()[:2]
    logger.info("Listening on %s:%d; loading %s", host, port, settings.model or "the default model")
    server.run(sockets=[listener])
    return bool(app.state.model.is_thread_alive)


def _end_quietly(server: uvicorn.Server) -> None:
    """Make both signals end the process with status 0.

    uvicorn stops in order on either, and raises the signal again when it is done; what it meets
    then is the function given here.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))


def _leave_at_once(status: str | int) -> None:
    """End although the model thread runs: a download or a load cannot be interrupted.

    The interpreter would wait for the thread, which may take minutes.
    """
    if isinstance(status, str):
        sys.stderr.write(f"{status}\n")
    logging.shutdown()
    sys.stderr.flush()
    os._exit(1 if isinstance(status, str) else 0)
