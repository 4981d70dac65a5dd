"""`graph-memory doctor`: what keeps a program's sessions from being remembered, and what to do."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from service.client.answers import SearchAnswer
from service.client.endpoints import AsyncGraphMemory
from service.client.errors import ClientError, Problem, TimedOut
from service.client.options import Project
from service.client.sessions import SeenClient
from service.commands.connect import place_of
from service.commands.connect_client import MCP, Name, find_program
from service.commands.connections import Connection, waiting
from service.commands.doctor_mcp import tools_at
from service.commands.here import FILE, find_place, read_file
from service.commands.program import Program
from service.commands.terminal import begin, printable
from service.errors import InvalidRequest
from service.plurals import how_many
from service.projects.identity import identify
from service.settings import Settings

_SECONDS: Final = 10.0
_MOST_PROJECTS: Final = 1000
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
# A hook comes before the line of its turn is written.
_SLACK_SECONDS: Final = 120
_WHY_NOT_TOLD: Final = "GET /health/ready says why to a key that is good for admin"
_BY: Final = ("and asks for no key", "and the key is good")
_GOOD, _BAD, _ODD = "ok", "wrong", "look"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was looked at: `ok`, `wrong`, or worth a look; with what to do about it."""

    what: str
    state: str
    told: str


def command(
    name: Name,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Findings as JSON.")] = False,
) -> None:
    """Find what is wrong with a connected program; ends with 1 where anything is."""
    settings = begin()
    findings = asyncio.run(_all(settings, name))
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in findings], indent=2))
    for one in () if as_json else findings:
        colour = {_GOOD: "green", _BAD: "red"}.get(one.state, "yellow")
        typer.secho(f"{one.state:>5}  ", fg=colour, nl=False)
        typer.echo(printable(f"{one.what}: {one.told}"))
    if any(one.state == _BAD for one in findings):
        raise typer.Exit(1)


async def _all(settings: Settings, name: str) -> list[Finding]:
    program = None if name == MCP else find_program(name)
    connection = Connection.read(program) if program else None
    found = _installed(program, connection) if program else []
    url, socket = (connection.url, None) if connection else place_of(settings)
    told = connection or Connection(url)
    where = settings.host if socket else url
    key = told.key or (settings.api_key.get_secret_value() if settings.api_key else None)
    told = replace(told, key=key)
    async with AsyncGraphMemory(url, key=key, timeout_seconds=_SECONDS, transport=socket) as memory:
        found += [one async for one in _of_service(memory, told, program, where)]
    if program is None and any(one.what == "service" and one.state == _GOOD for one in found):
        found.append(await _mcp(settings, key, where))
    return found


async def _mcp(settings: Settings, key: str | None, where: str) -> Finding:
    url, socket = place_of(settings)
    try:
        tools = await tools_at(url, key, _SECONDS, socket)
    except ValueError as error:
        return Finding("mcp", _BAD, f"{where}/mcp: {error}")
    told = f"{how_many(len(tools), 'tool')} at {where}/mcp: {', '.join(tools)}"
    return Finding("mcp", _GOOD, f"{told}. `graph-memory connect mcp --for …` says what to write.")


def _installed(program: Program, connection: Connection | None) -> list[Finding]:
    """Look at what lies on this machine."""
    found = []
    try:
        found.append(Finding("program", _GOOD, program.run("--version").splitlines()[-1]))
    except InvalidRequest as error:
        found.append(Finding("program", _BAD, error.detail))
    again = f"run `graph-memory connect {program.name}`"
    try:
        is_installed = program.is_installed()
    except InvalidRequest as error:
        return [*found, Finding("settings", _BAD, error.detail)]
    if not is_installed or connection is None:
        found.append(Finding("plugin", _BAD, f"it is not connected: {again}."))
    elif off := program.what_is_off() or program.what_is_old():
        found.append(Finding("plugin", _BAD, off))
    else:
        found.append(Finding("plugin", _GOOD, "installed"))
    return found + _left_behind(program)


def _left_behind(program: Program) -> list[Finding]:
    found = []
    if count := len(waiting(program)):
        waits = how_many(count, "capture waits", "captures wait")
        told = f"{waits} until the service can be reached and takes what was said."
        found.append(Finding("waiting", _ODD, told))
    failure = program.own / "last-failure"
    if failure.is_file():
        since = "" if count else " (nothing waits any more)"
        found.append(Finding("last failure", _ODD, failure.read_text("utf-8").strip() + since))
    return found


async def _of_service(
    memory: AsyncGraphMemory, connection: Connection, program: Program | None, where: str
) -> AsyncIterator[Finding]:
    """Look at the service as the program reaches it; without it there is no more to look at."""
    try:
        page = await memory.list_clients(agent=connection.agent)
    except Problem as problem:
        yield _refused(problem, where, program)
        return
    except ClientError as error:
        told = f"none answers on {where}: start it with ./scripts/run."
        if isinstance(error, TimedOut):
            told = f"what listens on {where} gives no answer in {_SECONDS:.0f} s: look at its log."
        # What answers and is another program has no cause beneath it.
        yield Finding("service", _BAD, told if error.__cause__ else error.detail)
        return
    yield Finding("service", _GOOD, f"answers on {where}, {_BY[bool(connection.key)]}")
    async for one in _model(memory):
        yield one
    yield await _project(memory, connection.agent, program)
    if program:
        seen = [one for one in page["clients"] if one["client"] == program.name]
        yield _hooks(program, seen[0] if seen else None)
    yield await _canary(memory, connection.agent)


def _refused(problem: Problem, url: str, program: Program | None) -> Finding:
    if problem.status == _UNAUTHORIZED:
        # A program has a key of its own; what asks here else is this command.
        again = "connect again, with an admin's as" if program else "set a good one as"
        told = f"{url} does not know the key, or was shown none: {again} MEMORY_API_KEY."
        return Finding("key", _BAD, told)
    if problem.status == _FORBIDDEN:
        return Finding("key", _BAD, f"it is not good enough: {problem.detail}")
    return Finding("service", _BAD, f"{url} answered: {problem.detail}")


async def _model(memory: AsyncGraphMemory) -> AsyncIterator[Finding]:
    try:
        ready = await memory.ready()
    except ClientError as error:
        told = f"the service is not ready: {error.detail} What GET /health/ready gives says why."
        yield Finding("model", _BAD, told)
        return
    status = str(ready.get("status"))
    warnings = ready.get("warnings") or []
    if status not in {"ready", "ok"}:
        # A connected program's key is good for read and write, and only an admin's is told why.
        why = " ".join(ready.get("reasons") or ()) or f"{_WHY_NOT_TOLD}."
        yield Finding("model", _BAD, f"the service is {status}: {why}")
    elif not warnings:
        yield Finding("model", _GOOD, "store and embedding model fit each other")
    if warnings:
        yield Finding("warnings", _ODD, " ".join(map(str, warnings)))


async def _project(memory: AsyncGraphMemory, agent: str | None, program: Program | None) -> Finding:
    """Tell which project the folder that sessions are in is for the service."""
    folder = (program.workspace if program else None) or Path.cwd()
    try:
        place = find_place(None, None, folder)
    except InvalidRequest as error:
        return Finding("project", _ODD, error.detail)
    project = place.get("project") or read_file(folder).project
    if not project:
        told = (
            f"{folder} is in no git repository: its path alone tells it apart. A name in {FILE} "
            "(project = …) is better."
        )
        return Finding("project", _ODD, told)
    if not isinstance(project, dict):
        return Finding("project", _GOOD, str(project))
    told = json.dumps(project, ensure_ascii=False)
    before = await _called_before(memory, agent, project)
    if before is None:
        return Finding("project", _GOOD, told)
    moved = f"POST /projects/move takes the memories of {before} along"
    return Finding("project", _ODD, f"{told}; the folder was {before}: if it was renamed, {moved}.")


async def _called_before(
    memory: AsyncGraphMemory, agent: str | None, project: Project
) -> str | None:
    """Return which project of another remote a folder was: one that was renamed begins anew."""
    this = identify(**project)
    try:
        page = await memory.list_projects(agent=agent, limit=_MOST_PROJECTS)
    except ClientError:
        # A key may be good for the memories alone.
        return None
    others = (one for one in page["projects"] if this.root in one["roots"] and one["origins"])
    return next((o["scope"] for o in others if this.origin not in {None, *o["origins"]}), None)


def _hooks(program: Program, seen: SeenClient | None) -> Finding:
    wrote = _last_written(program)
    if seen is None or seen["last_hook_at"] is None:
        told = f"none ever came: {program.hint}."
        return Finding("hooks", _BAD if wrote else _ODD, told)
    hooked = datetime.fromisoformat(seen["last_hook_at"])
    if seen["warning"]:
        # It ends with "run the doctor", which is what runs.
        what = seen["warning"].rpartition(": ")[0]
        return Finding("hooks", _BAD, f"{what}: {program.hint}.")
    # Hooks that came while the service was away left what they had.
    is_late = wrote and wrote - hooked.timestamp() > _SLACK_SECONDS and not waiting(program)
    if wrote and is_late:
        written = datetime.fromtimestamp(wrote, UTC)
        told = f"the last came at {hooked:%Y-%m-%d %H:%M}, but a session went on at {written:%H:%M}"
        return Finding("hooks", _BAD, f"{told}: it began before the plugin, or its hooks are off.")
    event = f" ({seen['last_event']})" if seen["last_event"] else ", of no known event,"
    told = f"{seen['hooks']} came, the last{event} at {hooked:%Y-%m-%d %H:%M} UTC"
    return Finding("hooks", _GOOD, f"{told}; {seen['injections']} were told something.")


def _last_written(program: Program) -> float | None:
    """Return when a session wrote to its transcript last, of those of this week."""
    if not program.transcripts:
        return None
    times = [_changed(path) for path in program.home.glob(program.transcripts)]
    return max((at for at in times if at > time.time() - 7 * 86_400), default=None)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


async def _canary(memory: AsyncGraphMemory, agent: str | None) -> Finding:
    """Store a memory, recall it and forget it again; one that stays is told beside the rest."""
    word = f"canary{secrets.token_hex(6)}"
    whose: Any = {"agent": agent} if agent else {}
    key, left = None, ""
    try:
        stored = await memory.store_memory(f"The doctor's word is {word}.", scope=word, **whose)
        key = stored["id"]
        answer = await memory.search(word, scope=word, limit=1, **whose)
    except ClientError as error:
        told = f"it could not be stored and recalled: {error.detail}"
        found = Finding("canary", _BAD, told)
    else:
        found = _recalled(answer, key)
    finally:
        if key is not None:
            left = await _forget(memory, key, agent)
    if left:
        return Finding("canary", _BAD, f"{found.told} {left}" if found.state == _BAD else left)
    return found


async def _forget(memory: AsyncGraphMemory, key: str, agent: str | None) -> str:
    """Forget the canary; returns what is to be told where it could not be."""
    try:
        await memory.delete_memory(key, agent=agent)
    except ClientError as error:
        again = f"`graph-memory forget {key}` tries again."
        return f"it was stored as {key} and could not be forgotten: {error.detail} {again}"
    return ""


def _recalled(answer: SearchAnswer, key: str) -> Finding:
    if [one["id"] for one in answer["results"]] != [key]:
        return Finding("canary", _BAD, "what was stored was not found again.")
    missing = answer["receipt"]["missing_signals"]
    if missing:
        told = f"stored, recalled, forgotten, but without {', '.join(missing)}: is the embedder on?"
        return Finding("canary", _ODD, told)
    return Finding("canary", _GOOD, "stored, recalled, forgotten")
