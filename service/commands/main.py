"""The command `graph-memory`: every command is a file of this room and a line here."""

import logging
import os
import sys

import typer

from service.commands import (
    archive,
    ask,
    audit,
    connect_client,
    consolidate,
    decision,
    doctor,
    forget,
    graph,
    handoff,
    ingest,
    keys,
    mcp,
    observe,
    recall,
    reembed,
    reflect,
    search,
    serve,
    session_context,
    show,
    store,
    switch_engine,
    sync_files,
    trust,
    working_memory,
)
from service.commands.terminal import one_line
from service.store.private_files import keep_new_files_private

app = typer.Typer(
    help="Self-hosted memory for AI agents.", no_args_is_help=True, pretty_exceptions_enable=False
)
app.command("serve")(serve.command)
app.command("audit")(audit.command)
app.command("ingest")(ingest.command)
app.command("consolidate")(consolidate.command)
app.command("reembed")(reembed.command)
app.command("switch-engine")(switch_engine.command)
app.command("search")(search.command)
app.command("recall")(recall.command)
app.command("ask")(ask.command)
app.command("store")(store.command)
app.command("show")(show.command)
app.command("forget")(forget.command)
app.command("archive")(archive.command)
app.command("reflect")(reflect.command)
app.command("sync-files")(sync_files.command)
app.command("observe")(observe.command)
app.command("session-context")(session_context.command)
app.command("connect")(connect_client.connect_command)
app.command("disconnect")(connect_client.disconnect_command)
app.command("doctor")(doctor.command)
app.command("mcp")(mcp.command)
app.add_typer(handoff.commands, name="handoff")
app.add_typer(working_memory.commands, name="working-memory")
app.add_typer(decision.commands, name="decision")
app.add_typer(graph.commands, name="graph")
app.add_typer(keys.commands, name="keys")
app.add_typer(trust.commands, name="trust")


def main() -> None:
    """Run the command, and end without the interpreter's own ending.

    Threads of the embedded engine are still there when the store is closed. One that calls into an
    interpreter which ends aborts the process, though all is done (surrealdb-embedded 3.0.0b10).
    """
    keep_new_files_private()
    try:
        with one_line():
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
