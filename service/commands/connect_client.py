"""`graph-memory connect` and `disconnect`: a program's sessions are remembered, by one command."""

import asyncio
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import typer

from service.commands.client_keys import LEAST, end_key, key_name, needs_key, with_key
from service.commands.connect import address_of, url_of
from service.commands.connections import (
    CLIENT,
    PYTHON,
    Connection,
    forget,
    missing,
    restore,
    waiting,
)
from service.commands.given_options import web_address
from service.commands.mcp_snippets import ANY, SNIPPETS, snippet
from service.commands.misused import Misused
from service.commands.program import Program
from service.commands.programs import PROGRAMS
from service.commands.spooled import send_captures
from service.commands.terminal import begin, console
from service.errors import InvalidRequest
from service.plurals import how_many
from service.settings import Settings

MCP: Final = "mcp"
_NAMES: Final = ", ".join([*PROGRAMS, MCP])
_DRAIN_SECONDS: Final = 60

Name = Annotated[str, typer.Argument(metavar="PROGRAM", help=f"One of {_NAMES}.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")]


@dataclass(frozen=True, slots=True)
class Step:
    """Something that is done, and what is told of it beforehand."""

    told: str
    do: Callable[[], None]


def connect_command(
    name: Name,
    url: Annotated[
        str | None, typer.Option(help="Where the service is. Default: what the settings say.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="Whose memory. Default: the key's own agent.")
    ] = None,
    whose: Annotated[
        str, typer.Option("--for", help=f"With mcp: one of {', '.join(SNIPPETS)}.")
    ] = ANY,
    *,
    slot: Annotated[
        bool, typer.Option("--slot", help="OpenClaw: in its memory slot, too.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Let a program's sessions be remembered: its plugin, and a key of its own where keys are."""
    settings = begin()
    url = address_of(settings) if url is None else web_address(url)
    if name == MCP:
        _connect_mcp(settings, Connection(url, agent=agent), whose, dry_run=dry_run)
        return
    program = find_program(name)
    program.find()
    connection, coming = _wanted(program, url, agent), program.coming(slot=slot)
    steps = _steps(settings, program, connection)
    _carry_out([*steps, *(_run(program, words) for words in coming)], dry_run=dry_run)
    if not dry_run:
        console.print(_after(program), highlight=False)


def disconnect_command(
    name: Name,
    url: Annotated[str | None, typer.Option(help="With mcp: as it was connected.")] = None,
    *,
    dry_run: DryRun = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also where captures wait that would be lost.")
    ] = False,
) -> None:
    """Take a program's plugin, its key and all that was written for it away again."""
    settings = begin()
    if name == MCP:
        _disconnect_mcp(
            settings, url_of(settings) if url is None else web_address(url), dry_run=dry_run
        )
        return
    program = find_program(name)
    connection = Connection.read(program)
    if connection is None and not program.is_installed():
        console.print(f"{program.title} is not connected.", highlight=False)
        return
    if not dry_run:
        _send_waiting(program, connection)
    if (left := len(waiting(program))) and not force and not dry_run:
        msg = (
            f"What the service did not get yet of {program.title}: {how_many(left, 'capture')}. "
            "Start it and try again, or lose that with --force."
        )
        raise InvalidRequest(msg)
    found = connection or Connection(url_of(settings))
    _carry_out(_steps_back(settings, program, found), dry_run=dry_run)
    if program.again and not dry_run:
        console.print(program.again, highlight=False)


def find_program(name: str) -> Program:
    """Return a program by its name; raises Misused."""
    if name not in PROGRAMS:
        raise Misused(f"{name!r} is none of {_NAMES}.")
    return PROGRAMS[name]


def _wanted(program: Program, url: str, agent: str | None) -> Connection:
    """Return how a program is to reach the service, and what is there before."""
    before = Connection.read(program)
    # Whether they can be read is asked before anything is done.
    program.read_settings()
    if before is not None:
        told = before if before.url == url else replace(before, url=url, key=None, key_id=None)
        return replace(told, agent=agent or before.agent)
    file = program.settings_file
    text = file.read_bytes().decode() if file.exists() else None
    return Connection(url, agent=agent, settings=text, made=missing(program))


def _steps(settings: Settings, program: Program, connection: Connection) -> list[Step]:
    """Return what is done before the program's own command is run."""
    made, agents = [connection], _needed(settings, program, connection)
    before = Connection.read(program)

    def make_key() -> None:
        made[0] = asyncio.run(with_key(settings, program.name, connection, agents))

    def write() -> None:
        try:
            made[0].write(program, sys.executable)
        except OSError:
            # A new key that is written nowhere would be good for ever, and nobody had it.
            if agents:
                asyncio.run(end_key(settings, made[0].url, made[0].key_id, None))
            raise

    steps = []
    if agents:
        named = f"agent {agents[0]}" if len(agents) == 1 else f"agents {', '.join(agents)}"
        told = f"make the key {key_name(program.name)!r}: {', '.join(LEAST)}, {named} alone"
        steps.append(Step(told, make_key))
    python = f", {PYTHON}" if program.script else ""
    told = f"write {program.own}/ (0700): {CLIENT} (0600: address, key){python}, and later spool/ "
    steps.append(Step(told + "with what could not be sent yet", write))
    if before and before.key_id and (agents or connection.key_id is None):
        # Once there is another: where none can be made, the program goes on with what it has.
        steps.append(_end_key(settings, before))
    return steps


def _end_key(settings: Settings, connection: Connection) -> Step:
    def end() -> None:
        asyncio.run(end_key(settings, connection.url, connection.key_id, None))

    return Step(f"end the key {connection.key_id}", end)


def _needed(settings: Settings, program: Program, connection: Connection) -> list[str]:
    """Return whose memories a key has to be made for; nobody's where the one there is good."""
    if connection.key is None and not asyncio.run(needs_key(connection, [connection.agent])):
        # Nobody needs one here: the program's own command, which is slow, is not asked.
        return []
    agents = [connection.agent] if connection.agent else list(program.agents())
    agents = agents or [settings.agent]
    return agents if asyncio.run(needs_key(connection, agents)) else []


def _steps_back(settings: Settings, program: Program, connection: Connection) -> list[Step]:
    steps = [_run(program, words) for words in program.going()]
    steps.append(Step(program.left, lambda: restore(program, connection)))
    if connection.key_id:
        steps.append(_end_key(settings, connection))
    steps.append(Step(f"remove {program.own}", lambda: forget(program)))
    return steps


def _run(program: Program, words: Sequence[str]) -> Step:
    told = f"run `{program.command} {shlex.join(words)}`, which writes {program.written}"
    return Step(told, lambda: _run_quietly(program, words))


def _run_quietly(program: Program, words: Sequence[str]) -> None:
    program.run(*words)


def _carry_out(steps: Sequence[Step], *, dry_run: bool) -> None:
    for step in steps:
        typer.echo(f"{'would ' if dry_run else ''}{step.told}")
        if not dry_run:
            step.do()


def _after(program: Program) -> str:
    then = f" {program.then}" if program.then else ""
    return (
        f"{program.title} is connected: the next session begins warm.{then} "
        f"`graph-memory doctor {program.name}` looks whether all is well."
    )


def _send_waiting(program: Program, connection: Connection | None) -> None:
    """Let what waits be sent, as long as that goes on."""
    script, end = program.script, time.monotonic() + _DRAIN_SECONDS
    if script is None:
        if connection is not None:
            asyncio.run(send_captures(program, connection))
        return
    if not waiting(program) or not script.is_file():
        return
    before = len(waiting(program)) + 1
    while before > len(waiting(program)) > 0 and time.monotonic() < end:
        before = len(waiting(program))
        asyncio.run(_drain(script, program))


async def _drain(script: Path, program: Program) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-s", "-S", "-E", "-B", str(script), program.name, str(program.home),
        "drain", stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    await process.wait()


def _connect_mcp(
    settings: Settings, connection: Connection, program: str, *, dry_run: bool
) -> None:
    """Print what a client of MCP wants to be told; nothing is written but a key."""
    if program not in SNIPPETS:
        raise Misused(f"--for: {program!r} is none of {', '.join(SNIPPETS)}.")
    if asyncio.run(needs_key(connection, [connection.agent])):
        typer.echo(f"{'would ' if dry_run else ''}make the key {key_name(MCP)!r}", err=True)
        if not dry_run:
            agents = [connection.agent or settings.agent]
            connection = asyncio.run(with_key(settings, MCP, connection, agents))
    elif connection.agent and connection.key is None:
        msg = (
            "--agent: no key is asked for there, and without one nothing that is written holds a "
            "program to an agent. Make a key first (`graph-memory keys create --name NAME`), or "
            f"let the program start `graph-memory mcp --agent {connection.agent}`."
        )
        raise InvalidRequest(msg)
    written, where = snippet(program, connection.url, connection.key)
    typer.echo(written)
    console.print(where, highlight=False, markup=False, soft_wrap=True)


def _disconnect_mcp(settings: Settings, url: str, *, dry_run: bool) -> None:
    """End the keys that `connect mcp` made on this machine."""
    if dry_run:
        typer.echo(f"would end the keys {key_name(MCP)!r}")
        return
    if not asyncio.run(end_key(settings, url, None, key_name(MCP))):
        raise typer.Exit(1)
    console.print("Keys of MCP clients have ended.", highlight=False)
