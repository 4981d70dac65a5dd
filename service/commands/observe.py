"""`graph-memory observe`: files of transcripts are read here, and sent in stretches."""

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import UUID

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from service.client.conversations import TranscriptOptions
from service.client.endpoints import AsyncGraphMemory
from service.client.errors import Problem
from service.client.sessions import PlaceOptions
from service.commands.connect import connect
from service.commands.given_options import told_as_json, with_json
from service.commands.here import Agent, Paths, Project, find_place, read_file, switched_off_by
from service.commands.left_out import LeftOut
from service.commands.spans import seconds_of
from service.commands.stretches import lines_of, stretches
from service.commands.terminal import begin, console, printable
from service.errors import InvalidRequest
from service.observe.fold import State, fold
from service.settings import Settings
from service.transcripts.reading import Client, read_text

_HEAD_LINES: Final = 20
_SWITCHED_OFF: Final = "/problems/switched-off"
# What says nothing of one transcript: a wrong key, a service that has enough to do or is not well.
_OF_ALL: Final = frozenset({401, 429, 503})
_FAILED: Final = "failed"


@dataclass(frozen=True, slots=True)
class Transcript:
    """A file of a transcript: which program wrote it, in which session and folder."""

    path: Path
    client: Client
    session: str
    folder: str | None


@with_json
def command(
    paths: Annotated[
        list[Path], typer.Argument(readable=False, help="Files, or folders of *.jsonl.")
    ],
    since: Annotated[str | None, typer.Option(help="Changed within: 24h, 7d, 2w.")] = None,
    agent: Agent = None,
    project: Project = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would keep.")
    ] = False,
) -> None:
    """Read transcripts of Claude Code, Codex and OpenClaw, and keep what is worth it."""
    every = list(_files(paths, seconds_of(since, "--since") if since else None))
    may_be_read = {file: _may_be_read(file) for file in every}
    files = [file for file, may_be in may_be_read.items() if may_be]
    console.print(f"Transcripts to read: {len(files):,}.", highlight=False)
    if off := list(may_be_read.values()).count(False):
        console.print(f"Passed over, as memory is switched off there: {off:,}.", highlight=False)
    failed = list(may_be_read.values()).count(None)
    if dry_run:
        _tell(files)
    else:
        counted = asyncio.run(_send(begin(), files, agent, project))
        failed += counted.pop(_FAILED, 0)
        if not told_as_json(counted):
            typer.echo(f"{counted['stored']:,} stored, {counted['duplicates']:,} were known.")
    if failed:
        console.print(f"Passed over, as they could not be read: {failed:,}.", highlight=False)
        raise typer.Exit(1)


def _files(paths: list[Path], seconds: float | None) -> Iterator[Path]:
    now = time.time()
    for path in paths:
        if not path.exists():
            raise InvalidRequest(f"{path}: there is no such file or folder.")
        if path.is_dir():
            # One that cannot be looked into would be as one without transcripts.
            os.scandir(path).close()
        for file in sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]:
            # A folder may be called so, a link lead nowhere, and a pipe is never at its end.
            if not file.is_file():
                continue
            is_new = seconds is None or now - file.stat().st_mtime <= seconds
            if is_new and not _is_of_sub_agent(file):
                yield file


def _tell(files: list[Path]) -> None:
    """Print what would be kept; nothing is sent."""
    kept: list[dict[str, str]] = []
    for file in files:
        told = describe(file)
        state = State()
        left_out = _left_out(told)
        for offset, text, is_last in stretches(file):
            sent = left_out.of_text(text)
            read = read_text(told.client, sent, offset, is_final=is_last)
            kept += [{"kind": one.kind, "text": one.text} for one in fold(state, read.turns)]
    if told_as_json({"kept": kept}):
        return
    for told_of in kept:
        typer.echo(printable(f"  [{told_of['kind']}] {' '.join(told_of['text'].split())[:200]}"))
    typer.echo("Dry run: nothing was stored.")


async def _send(
    settings: Settings, files: list[Path], agent: str | None, project: str | None
) -> Counter[str]:
    counted: Counter[str] = Counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    async with connect(settings) as memory:
        with Progress(*columns, console=console, transient=True) as progress:
            for file in progress.track(files, description="transcripts"):
                counted += await _send_one(memory, describe(file), agent, project)
    return counted


async def _send_one(
    memory: AsyncGraphMemory, told: Transcript, agent: str | None, project: str | None
) -> Counter[str]:
    place = _place_of(told, agent, project)
    counted: Counter[str] = Counter()
    try:
        # Nothing yet: how far the service has read it.
        choices: TranscriptOptions = {"text": ""}
        choices |= place  # type: ignore[typeddict-item]
        known = await memory.observe(told.session, told.client, **choices)
        if known["offset"] > told.path.stat().st_size:
            console.print(f"{told.path}: is shorter than what was read of it.", markup=False)
        left_out = _left_out(told, known["offset"])
        for offset, text, is_last in stretches(told.path, known["offset"]):
            choices |= {"text": left_out.of_text(text), "offset": offset, "final": is_last}
            done = await memory.observe(told.session, told.client, **choices)
            counted += Counter(stored=done["stored"], duplicates=done["duplicates"])
            for warning in done["warnings"]:
                console.print(f"{told.path}: {warning}", markup=False, highlight=False)
    except Problem as problem:
        if problem.status in _OF_ALL:
            raise
        counted[_FAILED] = int(problem.refusal.type != _SWITCHED_OFF)
        _say(told.path, problem.detail)
    return counted


def _left_out(told: Transcript, start: int = 0) -> LeftOut:
    """Return what reads a transcript from a place on, without files for which memory is off."""
    folder = told.folder or str(Path.cwd())

    def before() -> Iterator[str]:
        return (line for _, text, _ in stretches(told.path) for line in text.split("\n"))

    return LeftOut(Paths().is_off, folder, before if start else tuple)


def _place_of(told: Transcript, agent: str | None, project: str | None) -> PlaceOptions:
    """Return whose memory a transcript is for: the project of the folder that it was made in."""
    folder = Path(told.folder) if told.folder else None
    if folder is None or not folder.is_dir():
        place = find_place(agent, project)
        if project is None and told.folder:
            place["project"] = {"root": told.folder}
        return place
    place = find_place(agent, project, folder)
    if project is None and read_file(folder).project is None:
        place.setdefault("project", {"root": str(folder)})
    return place


def _may_be_read(file: Path) -> bool | None:
    """Return whether memory is on where a transcript was made; None where nobody can tell: said."""
    try:
        if not _head_of(file) and file.stat().st_size:
            _say(file, "no transcript: none of its first lines is one of JSON.")
        folder = describe(file).folder
        return folder is None or switched_off_by(Path(folder)) is None
    except InvalidRequest as error:
        _say(file, error.detail)
    except OSError as error:
        _say(file, f"cannot be read: {error.strerror}.")
    return None


def _say(file: Path, detail: str) -> None:
    console.print(f"{file}: {detail}", markup=False, highlight=False, soft_wrap=True)


def describe(path: Path) -> Transcript:
    """Return which program wrote a transcript, in which session and folder, by its first lines."""
    lines = _head_of(path)
    kinds = {line.get("type") for line in lines}
    client: Client = "generic"
    session: str | None = None
    folder: str | None = None
    if kinds & {"session_meta", "response_item", "event_msg"}:
        client = "codex"
    elif "session" in kinds or "toolResult" in {_role(line) for line in lines}:
        client = "openclaw"
    elif any("role" in line and "type" not in line for line in lines):
        client = "generic"
    elif kinds & {"user", "assistant", "summary", "attachment", "system"}:
        client = "claude-code"
    for line in lines:
        payload = line.get("payload")
        told = payload if isinstance(payload, dict) else line
        named = told.get("sessionId") or (
            told.get("id") if line.get("type") in {"session", "session_meta"} else None
        )
        session = named if session is None and isinstance(named, str) and named else session
        cwd = told.get("cwd")
        folder = cwd if isinstance(cwd, str) and cwd and folder is None else folder
    if session is None or _has_own_name(path.stem, client, lines):
        session = path.stem
    return Transcript(path, client, session[:200], folder)


def _head_of(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as file:
        head = [line for _, line in islice(lines_of(file), _HEAD_LINES)]
    return [line for line in map(_parsed, head) if line is not None]


def _is_of_sub_agent(path: Path) -> bool:
    """Return whether an agent speaks to its own one in a file of Codex: no person says a word."""
    try:
        head = _head_of(path)
    except OSError:  # told when it is read
        return False
    metas = (line.get("payload") for line in head if line.get("type") == "session_meta")
    # Lines of the session that it works for may follow its own.
    first = next(metas, None)
    source = first.get("source") if isinstance(first, dict) else None
    return isinstance(source, dict) and "subagent" in source


def _has_own_name(stem: str, client: Client, lines: list[dict[str, Any]]) -> bool:
    """Return whether a file is its own session, whatever its lines say.

    Claude Code copies lines of the session that goes on in a new one, and writes what a subagent
    does into a file of its own, under the name of the session that it works for.
    """
    if client != "claude-code":
        return False
    try:
        UUID(stem)
    except ValueError:
        return any(line.get("isSidechain") is True for line in lines)
    return True


def _role(line: dict[str, Any]) -> object:
    message = line.get("message")
    return message.get("role") if isinstance(message, dict) else None


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        told = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None
