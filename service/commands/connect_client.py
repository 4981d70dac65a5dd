"""`graph-memory connect` and `disconnect`: a program's sessions are remembered, by one command."""

import asyncio
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import typer

from service.client.endpoints import AsyncGraphMemory
from service.client.errors import ClientError, Problem
from service.commands.connect import connect, url_of
from service.commands.connections import (
    CLIENT,
    Connection,
    forget,
    missing,
    restore,
    waiting,
)
from service.commands.mcp_snippets import ANY, SNIPPETS, snippet
from service.commands.programs import PROGRAMS, Program
from service.commands.terminal import begin, console
from service.errors import InvalidRequest, ServiceError
from service.settings import Settings

MCP: Final = "mcp"
_NAMES: Final = ", ".join([*PROGRAMS, MCP])
_REFUSALS: Final = frozenset({401, 403})
_DRAIN_SECONDS: Final = 60
_LEAST: Final = ("read", "write")

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
    dry_run: DryRun = False,
) -> None:
    """Let a program's sessions be remembered: its plugin, and a key of its own where keys are."""
    settings = begin()
    url = (url or url_of(settings)).rstrip("/")
    if name == MCP:
        _connect_mcp(settings, Connection(url, agent=agent), whose, dry_run=dry_run)
        return
    program = find_program(name)
    program.find()
    connection = _wanted(program, url, agent)
    needs_key = asyncio.run(_needs_key(connection))
    _carry_out(_steps(settings, program, connection, needs_key=needs_key), dry_run=dry_run)
    if not dry_run:
        console.print(_after(program), highlight=False)


def disconnect_command(
    name: Name,
    *,
    dry_run: DryRun = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also where captures wait that would be lost.")
    ] = False,
) -> None:
    """Take a program's plugin, its key and all that was written for it away again."""
    settings = begin()
    if name == MCP:
        asyncio.run(_end_key(settings, None, _key_name(MCP)))
        console.print("Keys of MCP clients have ended.", highlight=False)
        return
    program = find_program(name)
    connection = Connection.read(program)
    if connection is None and not program.has_plugin():
        console.print(f"{program.title} is not connected.", highlight=False)
        return
    if not dry_run:
        _send_waiting(program)
    if (left := len(waiting(program))) and not force and not dry_run:
        msg = (
            f"{left} captures of {program.title} wait for the service: start it and try again, or "
            "lose them with --force."
        )
        raise InvalidRequest(msg)
    found = connection or Connection(url_of(settings))
    _carry_out(_steps_back(settings, program, found), dry_run=dry_run)


def find_program(name: str) -> Program:
    """Return a program by its name; raises InvalidRequest."""
    if name not in PROGRAMS:
        raise InvalidRequest(f"{name!r} is none of {_NAMES}.")
    return PROGRAMS[name]


def _wanted(program: Program, url: str, agent: str | None) -> Connection:
    """Return how a program is to reach the service, and what is there before."""
    before = Connection.read(program)
    # Whether they can be read is asked before anything is done.
    program.read_settings()
    if before is not None:
        same = before.url == url
        return replace(
            before, url=url, agent=agent or before.agent, key=before.key if same else None
        )
    file = program.settings_file
    text = file.read_bytes().decode() if file.exists() else None
    return Connection(url, agent=agent, settings=text, made=missing(program))


async def _needs_key(connection: Connection) -> bool:
    """Return whether the service asks for a key that the connection has not.

    Raises InvalidRequest where no service answers.
    """
    try:
        async with AsyncGraphMemory(connection.url, key=connection.key) as memory:
            await memory.list_clients(agent=connection.agent)
    except Problem as problem:
        if problem.status not in _REFUSALS:
            raise
        return True
    except ClientError as error:
        msg = f"No service answers on {connection.url}: start it first ({error.detail})"
        raise InvalidRequest(msg) from error
    return False


def _steps(
    settings: Settings, program: Program, connection: Connection, *, needs_key: bool
) -> list[Step]:
    made = [connection]

    def make_key() -> None:
        made[0] = asyncio.run(_with_key(settings, program.name, made[0]))

    steps = []
    if needs_key:
        agent = connection.agent or settings.agent
        told = f"make the key {_key_name(program.name)!r}: {', '.join(_LEAST)}, agent {agent} alone"
        steps.append(Step(told, make_key))
    steps.append(
        Step(
            f"write {program.own}/ (0700): {CLIENT} (0600: address, key), python, and later spool/ "
            "with what could not be sent yet",
            lambda: made[0].write(program, sys.executable),
        )
    )
    if not program.has_plugin():
        steps += [_run(program, words) for words in program.add]
    return steps


def _steps_back(settings: Settings, program: Program, connection: Connection) -> list[Step]:
    def end_key() -> None:
        asyncio.run(_end_key(settings, connection.key_id, None))

    steps = [_run(program, words) for words in program.remove if program.has_plugin()]
    steps.append(
        Step(
            f"remove {program.cache}, and what is left empty in {program.home}",
            lambda: restore(program, connection),
        )
    )
    if connection.key_id:
        steps.append(Step(f"end the key {connection.key_id}", end_key))
    steps.append(Step(f"remove {program.own}", lambda: forget(program)))
    return steps


def _run(program: Program, words: Sequence[str]) -> Step:
    told = f"run `{program.command} {' '.join(words)}`, which writes {program.settings_file} and "
    return Step(f"{told}{program.home / 'plugins'}", lambda: _run_quietly(program, words))


def _run_quietly(program: Program, words: Sequence[str]) -> None:
    program.run(*words)


def _carry_out(steps: Sequence[Step], *, dry_run: bool) -> None:
    for step in steps:
        typer.echo(f"{'would ' if dry_run else ''}{step.told}")
        if not dry_run:
            step.do()


def _after(program: Program) -> str:
    trust = (
        " Codex asks once whether you trust its hooks: say yes, or /hooks later."
        if program.name == "codex"
        else ""
    )
    return (
        f"{program.title} is connected: the next session begins warm.{trust} "
        f"`graph-memory doctor {program.name}` looks whether all is well."
    )


async def _with_key(settings: Settings, name: str, connection: Connection) -> Connection:
    """Return the connection with a new key that is good for its agent's memories alone."""
    agent = connection.agent or settings.agent
    try:
        async with connect(settings) as memory:
            made = await memory.create_key(_key_name(name), scopes=list(_LEAST), agents=[agent])
    except (ServiceError, ClientError) as error:
        msg = f"A key is needed, and none could be made: {error.detail}"
        raise InvalidRequest(msg) from error
    return replace(connection, key=made["key"], key_id=made["id"])


async def _end_key(settings: Settings, key: str | None, name: str | None) -> None:
    """End a key, or those of a name; where it may not, that is said and the rest goes on."""
    try:
        async with connect(settings) as memory:
            keys = [key] if key else []
            if name is not None:
                listed = (await memory.list_keys(limit=1000))["keys"]
                keys = [
                    one["id"] for one in listed if one["name"] == name and not one["revoked_at"]
                ]
            for one in keys:
                await memory.revoke_key(one)
    except (ServiceError, ClientError) as error:
        told = f"The key could not be ended: {error.detail} `graph-memory keys revoke` does it."
        console.print(told, highlight=False, markup=False)


def _key_name(program: str) -> str:
    return f"{program} on {platform.node()}"[:100]


def _send_waiting(program: Program) -> None:
    """Let what waits be sent, as long as that goes on."""
    script, end = program.plugin / "scripts" / "hook.py", time.monotonic() + _DRAIN_SECONDS
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
        raise InvalidRequest(f"--for: {program!r} is none of {', '.join(SNIPPETS)}.")
    if asyncio.run(_needs_key(connection)):
        typer.echo(f"{'would ' if dry_run else ''}make the key {_key_name(MCP)!r}", err=True)
        if not dry_run:
            connection = asyncio.run(_with_key(settings, MCP, connection))
    written, where = snippet(program, connection.url, connection.key)
    typer.echo(written)
    console.print(where, highlight=False, markup=False, soft_wrap=True)
