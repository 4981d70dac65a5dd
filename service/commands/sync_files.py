"""`graph-memory sync-files`: files that a person may edit, and the service, say the same.

handoff.md, working-memory.md, decisions.md, developer-preferences.md and MEMORY.md in one folder.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from service.client.endpoints import AsyncGraphMemory
from service.client.sessions import PlaceOptions
from service.commands.connect import connect
from service.commands.file_merge import (
    MergedLines,
    digest_of,
    merge_lines,
    merge_text,
    one_line,
    read_lines,
    render_lines,
)
from service.commands.here import as_text, at_place, read_file
from service.commands.terminal import begin, printable
from service.errors import InvalidRequest
from service.settings import Settings

_STATE: Final = ".graph-memory-synced.json"
# Of MEMORY.md, what a person put there and no look back has taken in or left out: when, its text.
_PENDING: Final = "pending"
_MOST_BYTES: Final = 1_000_000
_PAGE: Final = 1000


@dataclass(slots=True)
class Folder:
    """The folder of the files: what both sides said the last time, by file; what is told."""

    path: Path
    state: dict[str, Any] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def read(self, name: str) -> str:
        """Return a file's text, empty where there is none; raises InvalidRequest."""
        path = self.path / name
        if not path.exists():
            return ""
        if path.stat().st_size > _MOST_BYTES:
            raise InvalidRequest(f"{path}: has more than {_MOST_BYTES:,} bytes.")
        try:
            return path.read_text("utf-8").lstrip("\ufeff").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise InvalidRequest(f"{path}: is no UTF-8: {error}.") from error

    def write(self, name: str, text: str) -> None:
        """Write a file whole or not at all; one that says the same is left alone."""
        path = self.path / name
        if path.exists() and path.read_bytes() == text.encode():
            return
        new = path.with_name(f".{name}.new")
        new.write_text(text, "utf-8")
        new.replace(path)
        self.told.append(f"{name}: written")

    def base(self, name: str) -> Any:
        """Return what both sides said of a file the last time: a digest, or one by id."""
        return self.state.get(name)


@at_place
def command(
    place: PlaceOptions,
    folder: Annotated[
        Path | None, typer.Argument(help="Default: `files` of .graph-memory.toml, else memory.")
    ] = None,
) -> None:
    """Bring files and the service to say the same: what a person edits goes in, what is new out.

    Where both changed, both are kept and it is said. Run it at a session's begin and end.
    """
    path = folder or _configured()
    path.mkdir(parents=True, exist_ok=True)
    told = asyncio.run(_sync(begin(), Folder(path, _state(path)), place))
    for line in told or ["Nothing has changed."]:
        typer.echo(printable(line))


def _configured() -> Path:
    said = read_file(Path.cwd())
    return said.folder / said.files if said.files else Path("memory")


def _state(path: Path) -> dict[str, Any]:
    file = path / _STATE
    if not file.exists():
        return {}
    try:
        told = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        msg = f"{file}: is broken: remove it; what differs is kept from both sides then."
        raise InvalidRequest(msg) from error
    return told if isinstance(told, dict) else {}


async def _sync(settings: Settings, folder: Folder, place: PlaceOptions) -> list[str]:
    async with connect(settings) as memory:
        scope = (await memory.read_working_memory(**as_text(place)))["scope"]
        one = Sync(memory, folder, place, scope)
        steps: tuple[Callable[[], Awaitable[None]], ...] = (
            one.handoff, one.working_memory, one.decisions, one.preferences, one.hot_memory,
        )  # fmt: skip
        for step in steps:
            await step()
            # After each file: what was sent is not sent again after an interruption.
            _save(folder)
    return folder.told


def _save(folder: Folder) -> None:
    new = folder.path / f"{_STATE}.new"
    new.write_text(json.dumps(folder.state, indent=1), "utf-8")
    new.replace(folder.path / _STATE)


@dataclass(frozen=True, slots=True)
class Sync:
    """One run for one place, whose memories have `scope`."""

    memory: AsyncGraphMemory
    folder: Folder
    place: PlaceOptions
    scope: str | None

    async def handoff(self) -> None:
        """Follow the last handoff; an edited file is a new one."""
        name = "handoff.md"
        last = await self.memory.read_handoff(**as_text(self.place))
        merged = merge_text(self.folder.base(name), self._body(name), last["text"] or "")
        if merged.sent is not None:
            await self.memory.write_handoff(merged.sent, **self.place)
        self._keep_text(name, "Session Handoff", merged.text, merged.sent, merged.told)

    async def working_memory(self) -> None:
        """Follow what is in focus."""
        name = "working-memory.md"
        found = await self.memory.read_working_memory(**as_text(self.place))
        merged = merge_text(self.folder.base(name), self._body(name), found["text"] or "")
        if merged.sent is not None:
            await self.memory.set_working_memory(merged.sent, **self.place)
        self._keep_text(name, "Working Memory", merged.text, merged.sent, merged.told)

    async def decisions(self) -> None:
        """Follow what was decided; an edited line takes the place of the one that it was."""
        name, lines = "decisions.md", await self._decided()
        prose, merged = self._lines(name, lines)
        for key, text in merged.changed.items():
            text_, tags = _untagged(text)
            await self.memory.log_decision(text_, tags=tags, supersedes=key, **self.place)
        for text in merged.added:
            text_, tags = _untagged(text)
            await self.memory.log_decision(text_, tags=tags, **self.place)
        if merged.removed:
            self.folder.told.append(f"{name}: decisions are not removed: log one in their place")
        self._keep_lines(name, prose, await self._decided(), "Decisions", merged)

    async def preferences(self) -> None:
        """Follow the preferences; one whose line was removed is archived."""
        name, lines = "developer-preferences.md", await self._preferred()
        prose, merged = self._lines(name, lines)
        agent = self.place.get("agent")
        for key, text in merged.changed.items():
            await self.memory.change_memory(key, agent=agent, text=text)
        for key in merged.removed:
            await self.memory.change_memory(key, agent=agent, archived=True)
            self.folder.told.append(f"{name}: archived {key}, whose line was removed")
        for text in merged.added:
            await self._store(text, "preference", pinned=False)
        self._keep_lines(name, prose, await self._preferred(), "Preferences", merged)

    async def hot_memory(self) -> None:
        """Follow the hot memory; a new line is a pinned fact, which the next look back takes in."""
        name = "MEMORY.md"
        hot = await self.memory.hot_memory(**as_text(self.place))
        lines = {one["id"]: one_line(one["text"]) for one in hot["memories"]}
        lines |= self._pending(
            max((one["promoted_at"] for one in hot["memories"]), default=""), lines
        )
        prose, merged = self._lines(name, lines)
        agent = self.place.get("agent")
        for key, text in merged.changed.items():
            await self.memory.change_memory(key, agent=agent, text=text)
        kept = {**lines, **merged.changed}
        for text in merged.added:
            key = await self._store(text, "fact", pinned=True)
            kept[key] = text
            self.folder.state.setdefault(_PENDING, {})[key] = [datetime.now(UTC).isoformat(), text]
        if merged.removed:
            self.folder.told.append(f"{name}: only `graph-memory reflect` takes lines out of it")
        self._keep_lines(name, prose, kept, "Memory", merged)

    def _pending(self, looked_at: str, hot: dict[str, str]) -> dict[str, str]:
        """Return the lines of a person that no look back has seen yet, by id."""
        told = self.folder.state.get(_PENDING)
        pending = {
            key: [at, text]
            for key, (at, text) in (told if isinstance(told, dict) else {}).items()
            if key not in hot and at > looked_at
        }
        self.folder.state[_PENDING] = pending
        return {key: text for key, (_, text) in pending.items()}

    def _body(self, name: str) -> str:
        """Return a file's text without its own title."""
        text = self.folder.read(name)
        first, _, rest = text.partition("\n")
        return rest if first.startswith("# ") else text

    def _keep_text(
        self, name: str, title: str, text: str, sent: str | None, told: str | None
    ) -> None:
        if told:
            self.folder.told.append(f"{name}: {told}")
        elif sent is not None:
            self.folder.told.append(f"{name}: sent")
        if text:
            self.folder.write(name, f"# {title}\n\n{text}\n")
        self.folder.state[name] = digest_of(text)

    def _lines(self, name: str, theirs: dict[str, str]) -> tuple[list[str], MergedLines]:
        prose, mine, new = read_lines(self.folder.read(name))
        return prose, merge_lines(self.folder.base(name) or {}, mine, new, theirs)

    def _keep_lines(
        self, name: str, prose: list[str], lines: dict[str, str], title: str, merged: MergedLines
    ) -> None:
        self.folder.told += [f"{name}: {one}" for one in merged.told]
        if sent := len(merged.added) + len(merged.changed):
            self.folder.told.append(f"{name}: sent {sent}")
        if lines or prose:
            self.folder.write(name, render_lines(prose, lines, title))
        self.folder.state[name] = {key: digest_of(text) for key, text in lines.items()}

    async def _decided(self) -> dict[str, str]:
        page = await self.memory.list_decisions(last=_PAGE, **as_text(self.place))
        return {
            one["id"]: _line(one["at"], one["tags"], one["text"])
            for one in reversed(page["decisions"])
            if not one["superseded_by"] and one["scope"] == self.scope
        }

    async def _preferred(self) -> dict[str, str]:
        agent: dict[str, Any] = {"agent": self.place["agent"]} if "agent" in self.place else {}
        page = await self.memory.list_memories(
            kinds=["preference"], scope=self.scope, limit=_PAGE, **agent
        )
        return {
            one["id"]: one_line(one["content"])
            for one in reversed(page["memories"])
            if one["scope"] == self.scope
        }

    async def _store(self, text: str, kind: str, *, pinned: bool) -> str:
        agent: dict[str, Any] = {"agent": self.place["agent"]} if "agent" in self.place else {}
        stored = await self.memory.store_memory(
            text, kind=kind, scope=self.scope, pinned=pinned,
            source_ref=f"file:{digest_of(f'{kind} {self.scope} {text}')}", **agent,
        )  # fmt: skip
        return stored["id"]


def _line(at: str, tags: list[str], text: str) -> str:
    labels = f" [{', '.join(tags)}]" if tags else ""
    return f"[{at[:16].replace('T', ' ')}]{labels} {one_line(text)}"


def _untagged(line: str) -> tuple[str, list[str]]:
    """Return a line's words and tags, without the time that it was decided at."""
    tags: list[str] = []
    while line.startswith("[") and "] " in line:
        label, _, rest = line[1:].partition("] ")
        if not label[:4].isdigit():
            tags = [tag.strip() for tag in label.split(",") if tag.strip()]
        line = rest
    return line.strip(), tags
