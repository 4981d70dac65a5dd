"""`graph-memory sync-files`: files that a person may edit, and the service, say the same.

handoff.md, working-memory.md, decisions.md, developer-preferences.md and MEMORY.md in one folder.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from service.access.origins import is_told_unasked
from service.client.endpoints import AsyncGraphMemory
from service.client.errors import Problem
from service.client.sessions import PlaceOptions
from service.commands.connect import connect
from service.commands.file_merge import (
    MergedLines,
    MergedText,
    digest_of,
    merge_lines,
    merge_text,
    one_line,
    read_lines,
    render_lines,
)
from service.commands.given_options import told_as_json, with_json
from service.commands.here import as_text, at_place, read_file
from service.commands.misused import is_misuse
from service.commands.synced_folder import Folder
from service.commands.terminal import begin, printable
from service.errors import InvalidRequest
from service.settings import Settings

# Of MEMORY.md, what a person put there and no look back has taken in or left out: when, its text.
_PENDING: Final = "pending"
_PAGE: Final = 1000
_AGENT_UNKNOWN: Final = "/problems/agent-unknown"
_HANDOFFS: Final = 50
# `[2026-02-15 22:20]`, UTC.
_STAMP: Final = re.compile(r"\[(\d{4}-\d\d-\d\d(?: \d\d:\d\d)?)\]\s*")
_TAGS: Final = re.compile(r"\[([^\[\]]{1,300})\]\s+")


@with_json
@at_place
def command(
    place: PlaceOptions,
    folder: Annotated[
        Path | None,
        typer.Argument(readable=False, help="Default: `files` of .graph-memory.toml, or memory."),
    ] = None,
) -> None:
    """Bring files and the service to say the same: what a person edits goes in, what is new out.

    Where both changed, both are kept and it is said. Run it at a session's begin and end.
    """
    told = asyncio.run(_sync(begin(), Folder.open(folder or _configured()), place))
    if told_as_json({"told": told}):
        return
    for line in told or ["Nothing has changed."]:
        typer.echo(printable(line))


def _configured() -> Path:
    said = read_file(Path.cwd())
    return said.folder / said.files if said.files else Path("memory")


async def _sync(settings: Settings, folder: Folder, place: PlaceOptions) -> list[str]:
    async with connect(settings) as memory:
        scope = (await memory.read_working_memory(**as_text(place)))["scope"]
        folder.make()
        one = Sync(memory, folder, place, scope)
        steps: Mapping[str, Callable[[str], Awaitable[None]]] = {
            "handoff.md": one.handoff, "working-memory.md": one.working_memory,
            "decisions.md": one.decisions, "developer-preferences.md": one.preferences,
            "MEMORY.md": one.hot_memory,
        }  # fmt: skip
        for name, step in steps.items():
            try:
                await step(name)
            except Problem as problem:
                if not is_misuse(problem):
                    raise
                # It is the file that is wrong, not a word of the command line.
                raise InvalidRequest(f"{folder.path / name}: {problem.detail}") from problem
            # After each file: what was sent is not sent again after an interruption.
            folder.save()
    return folder.told


@dataclass(frozen=True, slots=True)
class Sync:
    """One run for one place, whose memories have `scope`."""

    memory: AsyncGraphMemory
    folder: Folder
    place: PlaceOptions
    scope: str | None

    async def handoff(self, name: str) -> None:
        """Follow the last handoff; an edited file is a new one."""
        last = await self.memory.read_handoff(history=_HANDOFFS, **as_text(self.place))
        every: list[Any] = [last, *last["history"]] if last["text"] else []
        text = next((one["text"] for one in every if _is_trusted(one)), "")
        merged = merge_text(self.folder.base(name), self._body(name), text)
        if merged.sent == "":
            merged = MergedText(text, None, "a handoff is not removed: write one in its place")
        if merged.sent is not None:
            await self.memory.write_handoff(merged.sent, **self.place)
        self._keep_text(name, "Session Handoff", merged)

    async def working_memory(self, name: str) -> None:
        """Follow what is in focus; a file whose text was taken out clears it."""
        found = await self.memory.read_working_memory(**as_text(self.place))
        if found["text"] and not _is_trusted(found):
            self.folder.told.append(f"{name}: left alone: what is in focus is not trusted")
            return
        merged = merge_text(self.folder.base(name), self._body(name), found["text"] or "")
        if merged.sent:
            await self.memory.set_working_memory(merged.sent, **self.place)
        elif merged.sent is not None:
            await self.memory.clear_working_memory(**as_text(self.place))
        self._keep_text(name, "Working Memory", merged)

    async def decisions(self, name: str) -> None:
        """Follow what was decided; an edited line takes the place of the one that it was."""
        lines = await self._decided()
        prose, merged = self._lines(name, lines)
        for key, line in merged.changed.items():
            said = _read_decision(line)
            await self.memory.log_decision(said.text, tags=said.tags, supersedes=key, **self.place)
        for line in merged.added:
            await self._decide(_read_decision(line))
        if merged.removed:
            self.folder.told.append(f"{name}: decisions are not removed: log one in their place")
        self._keep_lines(name, prose, await self._decided(), "Decisions", merged)

    async def preferences(self, name: str) -> None:
        """Follow the preferences; one whose line was removed is archived."""
        lines = await self._preferred()
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

    async def hot_memory(self, name: str) -> None:
        """Follow the hot memory; a new line is a pinned fact, which the next look back takes in."""
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

    def _body(self, name: str) -> str | None:
        """Return a file's text without its own title."""
        text = self.folder.read(name)
        if text is None:
            return None
        first, _, rest = text.partition("\n")
        return rest if first.startswith("# ") else text

    def _keep_text(self, name: str, title: str, merged: MergedText) -> None:
        if merged.told:
            self.folder.told.append(f"{name}: {merged.told}")
        elif merged.sent is not None:
            self.folder.told.append(f"{name}: sent")
        is_there = (self.folder.path / name).exists()
        told = f"# {title}\n\n{merged.text}\n" if merged.text else f"# {title}\n"
        # Where it could not be written, both sides changed since the last time.
        if (not merged.text and not is_there) or self.folder.write(name, told):
            self.folder.state[name] = digest_of(merged.text)

    def _lines(self, name: str, theirs: dict[str, str]) -> tuple[list[str], MergedLines]:
        text = self.folder.read(name)
        prose, mine, new = read_lines(text or "")
        # A file that is not there removes nothing.
        base = (self.folder.base(name) or {}) if text else {}
        return prose, merge_lines(base, mine, new, theirs)

    def _keep_lines(
        self, name: str, prose: list[str], lines: dict[str, str], title: str, merged: MergedLines
    ) -> None:
        self.folder.told += [f"{name}: {one}" for one in merged.told]
        if sent := len(merged.added) + len(merged.changed):
            self.folder.told.append(f"{name}: sent {sent}")
        if not (lines or prose) or self.folder.write(name, render_lines(prose, lines, title)):
            self.folder.state[name] = {key: digest_of(text) for key, text in lines.items()}

    async def _decide(self, said: "_Decision") -> None:
        if said.at is None:
            await self.memory.log_decision(said.text, tags=said.tags, **self.place)
            return
        # As old as its line says: a log that was kept by hand stays in its order.
        await self.memory.store_memory(
            said.text, kind="decision", tags=said.tags, scope=self.scope, occurred_at=said.at,
            **self._own,
        )  # fmt: skip

    @property
    def _own(self) -> dict[str, Any]:
        return {"agent": self.place["agent"]} if "agent" in self.place else {}

    async def _decided(self) -> dict[str, str]:
        page = await self.memory.list_decisions(last=_PAGE, **as_text(self.place))
        return {
            one["id"]: _line(one["at"], one["tags"], one["text"])
            for one in reversed(page["decisions"])
            if not one["superseded_by"] and one["scope"] == self.scope and _is_trusted(one)
        }

    async def _preferred(self) -> dict[str, str]:
        try:
            page = await self.memory.list_memories(
                kinds=["preference"], scope=self.scope, limit=_PAGE, **self._own
            )
        except Problem as problem:
            if problem.refusal.type != _AGENT_UNKNOWN:
                raise
            return {}
        return {
            one["id"]: one_line(one["content"])
            for one in reversed(page["memories"])
            if one["scope"] == self.scope and _is_trusted(one)
        }

    async def _store(self, text: str, kind: str, *, pinned: bool) -> str:
        stored = await self.memory.store_memory(
            text, kind=kind, scope=self.scope, pinned=pinned,
            source_ref=f"file:{digest_of(f'{kind} {self.scope} {text}')}", **self._own,
        )  # fmt: skip
        return stored["id"]


@dataclass(frozen=True, slots=True)
class _Decision:
    """A line of decisions.md: when, its tags, its words."""

    at: datetime | None
    tags: list[str]
    text: str


def _line(at: str, tags: list[str], text: str) -> str:
    labels = f" [{', '.join(tags)}]" if tags else ""
    return f"[{at[:16].replace('T', ' ')}]{labels} {one_line(text)}"


def _read_decision(line: str) -> _Decision:
    """Return what a line says; a time that no calendar has is a part of its words."""
    at, tags = None, []
    if stamp := _STAMP.match(line):
        try:
            at = datetime.fromisoformat(stamp[1]).replace(tzinfo=UTC)
        except ValueError:
            return _Decision(None, [], line.strip())
        line = line[stamp.end() :]
    if labels := _TAGS.match(line):
        tags = [tag.strip() for tag in labels[1].split(",") if tag.strip()]
        line = line[labels.end() :]
    return _Decision(at, tags, line.strip())


def _is_trusted(said: Mapping[str, Any]) -> bool:
    """Return whether a file may say it: what an agent reads when it starts is nobody else's."""
    return is_told_unasked(said["origin"], said["trust_tier"])
