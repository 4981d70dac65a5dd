"""Which passing notes of a session are kept: its working memory, and memories tagged so."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from service.access.caller import Caller
from service.access.origins import lowest
from service.drafts.ids import digest
from service.errors import MemoryNotFound
from service.index.engine import Engine
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import store
from service.records import QUARANTINED, Filters, Memory
from service.sessions.evidence import evidence_of
from service.working_memory.texts import Place, WorkingMemory, clear_seen, read
from service.worth import Evidence, Told, Worth, worth_of
from service.writing.pipeline import Pipeline

# The tag of a memory that lasts for its session, unless it turns out to be worth more.
EPHEMERAL: Final = "ephemeral"
_PROMOTED: Final = "promoted"
_ORIGINS: Final = ("owner", "agent", "system")
_TRUSTED: Final = "trusted"
# `## [2026-02-13 10:00]`, as a part is added.
_HEADING: Final = re.compile(r"^#{1,6} \[[^\]\n]{1,40}\]$")
_BLANK: Final = re.compile(r"\n[ \t]*\n")
# Each may become a memory: so many are weighed at once.
_MOST_PARTS: Final = 500
_MOST_MEMORIES: Final = 1000


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what a session had at hand, and what it is worth; `memory` is that it stands in."""

    text: str
    worth: Worth
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """What is to be kept of a session, and what is not; `focus` is what was read of it.

    `rest` is what of that was not weighed: there was too much of it for once.
    """

    kept: list[Part]
    cleared: list[Part]
    focus: WorkingMemory | None
    rest: str


async def weigh(
    engine: Engine, pipeline: Pipeline, place: Place, threshold: float, now: datetime
) -> Ending:
    """Weigh what a session has at hand; changes nothing. What is not trusted is never kept.

    What is quarantined is not at hand: it is not told, and there for a release.
    """
    focus = await read(pipeline.db, place)
    if focus and focus.trust_tier == QUARANTINED:
        focus = None
    parts, rest = [], ""
    if focus:
        paragraphs = _BLANK.split(focus.text, _MOST_PARTS)
        told, rest = Told(focus.updated_at), "".join(paragraphs[_MOST_PARTS:])
        parts = [
            Part(text, worth_of(text, told, Evidence(), now))
            for text in filter(None, map(_part_of, paragraphs[:_MOST_PARTS]))
        ]
    memories = await _ephemeral(engine, place)
    evidence = await evidence_of(pipeline.db, place.agent, sorted(memories))
    for key, one in sorted(memories.items()):
        proof = evidence.get(key, Evidence())
        parts.append(Part(one.content, worth_of(one.content, Told.of(one), proof, now), one))
    ending = Ending([], [], focus, rest)
    for part in parts:
        is_kept = part.worth.score >= threshold and _is_trusted(part.memory or focus)
        (ending.kept if is_kept else ending.cleared).append(part)
    return ending


async def end(
    pipeline: Pipeline, place: Place, found: Ending, sender: Caller
) -> tuple[list[str | None], bool]:
    """Keep what is worth it and clear the rest; returns the ids of what is kept, in its order.

    None is the id of a memory that was deleted meanwhile. And whether the working memory was
    cleared: what was added to it meanwhile stays, with all of it, and so does what was not weighed.
    Memories that are not kept are archived. Said again it goes on where it was interrupted.
    """
    focus = found.focus
    new = [
        _pushed(one.text, place, focus, sender) for one in found.kept if focus and not one.memory
    ]
    keys, _ = await store(pipeline, new) if new else ([], None)
    stored = iter(keys)
    ids = [
        await _keep(pipeline, one.memory, sender) if one.memory else next(stored)
        for one in found.kept
    ]
    for memory in filter(None, (one.memory for one in found.cleared)):
        await change_memory(pipeline, memory, {"archived": True}, sender)
    is_cleared = True
    if focus:
        is_cleared = await clear_seen(pipeline.db, place, focus, found.rest)
    return ids, is_cleared


async def _keep(pipeline: Pipeline, memory: Memory, sender: Caller) -> str | None:
    try:
        await change_memory(pipeline, memory, _kept_as(memory), sender)
    except MemoryNotFound:
        return None
    return memory.id


def parts_of(text: str) -> list[str]:
    """Return the paragraphs of a working memory, each with its heading unless that is a time."""
    return list(filter(None, map(_part_of, _BLANK.split(text))))


def _part_of(paragraph: str) -> str:
    lines = [line for line in paragraph.splitlines() if not _HEADING.match(line.strip())]
    return "\n".join(lines).strip()


def _kept_as(memory: Memory) -> dict[str, list[str]]:
    tags = [tag for tag in memory.tags if tag != EPHEMERAL]
    return {"tags": [*tags, _PROMOTED]}


def _pushed(text: str, place: Place, focus: WorkingMemory, sender: Caller) -> Pushed:
    """Return a part as a memory: it stays the words of who had it in focus, and is not raised."""
    own = digest(place.scope or "", place.session or "", text)
    pushed = Pushed.by(
        sender, text=text, agent=place.agent, kind="note", tags=(_PROMOTED,), scope=place.scope,
        session=place.session, source_kind="working-memory", source_ref=f"promoted:{own}",
    )  # fmt: skip
    origin = lowest((pushed.origin, focus.origin))
    return replace(pushed, origin=origin, client=focus.client, key=focus.key)


def _is_trusted(said: Memory | WorkingMemory | None) -> bool:
    return said is not None and said.trust_tier == _TRUSTED and said.origin in _ORIGINS


async def _ephemeral(engine: Engine, place: Place) -> dict[str, Memory]:
    asked = Filters((place.agent,), session=place.session, tags=(EPHEMERAL,))
    asked = replace(asked, scope=place.scope)
    keys = await engine.latest(asked, _MOST_MEMORIES)
    return await engine.fetch(keys, asked) if keys else {}
