"""The command `graph-memory`: every command is a file of this room and a line here."""

import logging
import os
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Annotated, Final

import typer

from service.commands.streams import settle_streams
from service.commands.terminal import one_line
from service.settling import start
from service.store.private_files import keep_new_files_private

# The function of each command, or its own commands, by where it is: a room is loaded when it is
# asked for, as some take seconds.
COMMANDS: Final[Mapping[str, str]] = {
    "serve": "serve.command", "audit": "audit.command", "ingest": "ingest.command",
    "consolidate": "consolidate.command", "reembed": "reembed.command",
    "switch-engine": "switch_engine.command", "search": "search.command",
    "recall": "recall.command", "ask": "ask.command", "store": "store.command",
    "show": "show.command", "forget": "forget.command", "archive": "archive.command",
    "reflect": "reflect.command", "sync-files": "sync_files.command",
    "observe": "observe.command", "session-context": "session_context.command",
    "connect": "connect_client.connect_command",
    "disconnect": "connect_client.disconnect_command", "doctor": "doctor.command",
    "mcp": "mcp.command", "handoff": "handoff.commands",
    "working-memory": "working_memory.commands", "decision": "decision.commands",
    "graph": "graph.commands", "keys": "keys.commands", "trust": "trust.commands",
}  # fmt: skip

_VERSION: Final = "--version"
# 128 and the number of SIGINT, as shells say it.
_INTERRUPTED: Final = 130


def app_of(names: Iterable[str]) -> typer.Typer:
    """Return the commands of these names."""
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
    # With a callback one command alone keeps its name.
    app.callback()(_about)
    for name in names:
        room, _, function = COMMANDS[name].partition(".")
        told = getattr(import_module(f"service.commands.{room}"), function)
        if isinstance(told, typer.Typer):
            app.add_typer(told, name=name)
        else:
            app.command(name)(told)
    return app


def _tell_version(*, is_asked: bool) -> None:
    if is_asked:
        # It reads the package's metadata: 20 ms that no other command need wait for.
        typer.echo(import_module("service.version").VERSION)
        raise typer.Exit


def _about(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            _VERSION, callback=_tell_version, is_eager=True, help="Tell the version, and end."
        ),
    ] = False,
) -> None:
    """Self-hosted memory for AI agents."""


def main() -> None:
    """Run the command, and end without the interpreter's own ending.

    Threads of the embedded engine are still there when the store is closed. One that calls into an
    interpreter which ends aborts the process, though all is done (surrealdb-embedded 3.0.0b10).
    """
    settle_streams()
    keep_new_files_private()
    start()
    try:
        with one_line():
            asked = sys.argv[1:2]
            is_one = bool(asked) and asked[0] in {*COMMANDS, _VERSION}
            app_of(COMMANDS.keys() & asked if is_one else COMMANDS)()
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        # While a room is loaded, which takes seconds; typer ends with the same afterwards.
        code = _INTERRUPTED
    else:
        code = 0
    if not isinstance(code, int):
        code = int(code is not None)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
