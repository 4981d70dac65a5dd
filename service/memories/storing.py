"""Storing and removing single memories, through the one pipeline."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from service.access.caller import caller, own_scopes
from service.access.errors import Forbidden
from service.drafts.chains import session_chain
from service.drafts.clock import CLOCK
from service.drafts.drafts import Draft
from service.drafts.ids import digest
from service.drafts.kinds import type_of
from service.drafts.stored_memory import StoredMemory
from service.errors import InvalidRequest, MemoryNotFound, QuotaFull, ServiceError
from service.links.change import TIMES, Change
from service.links.stored import memories_by_id
from service.memories.screening import Pushed, screen_each
from service.metadata import metadata_of
from service.moments import micros_of
from service.projects.switched_off import refusals
from service.records import Memory, Source
from service.store.database import Database
from service.store.fetching import fetch
from service.text.titles import fit_title
from service.threads import read_texts
from service.writing.pipeline import Pipeline, Synced
from service.writing.pushes import placed, store_groups
from service.writing.removing import remove_memories

# Who writes meanwhile waits for one of these, 0.1 s; twice as many save 3 % of CPU (decision 0009).
_TRANSACTION_MEMORIES: Final = 128

# What became of a memory whose texts the settings refuse.
REFUSED: Final = "refused"


def draft_of(pushed: Pushed) -> Draft:
    """Turn a pushed memory into a draft; its key is what it is known as, or its own words.

    Of one moment of a session what is told first comes first: its position is when that was.
    """
    told_at = CLOCK.now()
    title, content = fit_title(pushed.title or "", pushed.text.strip())
    return Draft(
        id=_key(pushed),
        agent=pushed.agent,
        content=content,
        title=title,
        kind=pushed.kind,
        type=pushed.type or type_of(pushed.kind, ""),
        occurred_at=pushed.occurred_at or told_at,
        is_dated=pushed.occurred_at is not None,
        tags=pushed.tags,
        concepts=pushed.concepts,
        source=Source(ref=pushed.source_ref),
        source_kind=pushed.source_kind,
        chain=session_chain(pushed.session) if pushed.session else None,
        position=micros_of(told_at),
        said=pushed.said,
        is_by_words=_known_as(pushed) is None,
        **metadata_of(pushed),
    )


@dataclass(slots=True)
class _Batch:
    """Pushed memories on their way in, and what became of each so far, by its place."""

    pipeline: Pipeline
    pushed: Sequence[Pushed]
    keys: dict[int, str] = field(default_factory=dict)
    actions: dict[int, str] = field(default_factory=dict)
    told: dict[int, tuple[str, ...]] = field(default_factory=dict)
    refusals: dict[int, ServiceError] = field(default_factory=dict)
    total: Synced = field(default_factory=Synced)

    async def leave_out(self) -> None:
        """Refuse what memory is switched off for; raises SwitchedOff where that is all of it."""
        off = await refusals(self.pipeline.db, map(_place, self.pushed))
        for place, one in enumerate(self.pushed):
            if error := off.get(_place(one)):
                self.refusals[place], self.told[place] = error, (error.detail,)
        if 0 < len(self.refusals) == len(self.pushed):
            raise self.refusals[0]

    async def store(self) -> None:
        """Store group after group; what no quota has room for is refused like a text."""
        groups = _groups(self.pushed)
        stored = store_groups(self.pipeline, [partial(self._drafted, group) for group in groups])
        done = 0
        async with aclosing(stored) as written:
            try:
                async for synced in written:
                    self._take(groups[done], synced)
                    done += 1
            except QuotaFull as error:
                if not self.actions:
                    raise
                for place in (one for group in groups[done:] for one in group):
                    if place not in self.refusals:
                        self.told[place] = (error.detail,)

    async def _drafted(self, group: Sequence[int]) -> list[Draft]:
        """Screen the memories of a group and return their drafts, without those refused."""
        group = [place for place in group if place not in self.refusals]
        pushed = [self.pushed[place] for place in group]
        characters = sum(len(one.text) for one in pushed)
        screened = await read_texts(characters, screen_each, self.pipeline.sanitiser, pushed)
        accepted: dict[int, Pushed] = {}
        for place, one in zip(group, screened, strict=True):
            if isinstance(one, Pushed):
                accepted[place], self.told[place] = one, one.screened
            else:
                self.refusals[place], self.told[place] = one, (one.detail,)
        drafts = await self._fitting(await read_texts(characters, _drafts_of, accepted))
        return list(drafts.values())

    async def _fitting(self, drafts: dict[int, Draft]) -> dict[int, Draft]:
        """Refuse what would take the place of another's memory, or make one hold at no time."""
        scopes = own_scopes()
        asked = {
            place: draft
            for place, draft in drafts.items()
            if scopes is not None or len(TIMES & draft.said) == 1
        }
        known, there = await placed(self.pipeline.db, list(asked.values()))
        for place, draft in zip(asked, known, strict=True):
            if draft.id not in there:
                continue
            try:
                Change(draft.agent, (draft,), scopes=scopes).compared(there)
            except (Forbidden, InvalidRequest) as error:
                self.refusals[place], self.told[place] = error, (error.detail,)
        return {place: draft for place, draft in drafts.items() if place not in self.refusals}

    def _take(self, group: Sequence[int], synced: Synced) -> None:
        places = [place for place in group if place not in self.refusals]
        self.keys |= zip(places, synced.ids, strict=True)
        self.actions |= zip(places, synced.actions, strict=True)
        for place, told in zip(places, synced.told, strict=True):
            self.told[place] += told
        total = self.total
        self.total = replace(
            total, concepts=total.concepts | synced.concepts,
            warnings=tuple(dict.fromkeys(total.warnings + synced.warnings)),
            embedded=total.embedded + synced.embedded,
        )  # fmt: skip

    def result(self) -> tuple[list[str], Synced]:
        """Return the ids and what became of all memories, in their order."""
        places = range(len(self.pushed))
        ids = [self.keys.get(place, "") for place in places]
        return ids, replace(
            self.total, actions=tuple(self.actions.get(place, REFUSED) for place in places),
            told=tuple(self.told[place] for place in places),
        )  # fmt: skip


async def store(pipeline: Pipeline, pushed: Sequence[Pushed]) -> tuple[list[str], Synced]:
    """Store memories; returns their ids and what became of them, both in the order of `pushed`.

    Written in transactions of 128, each agent's by itself: should one fail, those before it are
    stored, and sending all of them again is free. Texts are screened first, those of a transaction
    while the one before is written; what is refused has no id, REFUSED as its action, and the
    reason in `told`: so, too, what no quota has room for, and what memory is switched off for.
    Raises QuotaFull where there is room for none, SwitchedOff where it is for all.
    """
    batch = _Batch(pipeline, pushed)
    await batch.leave_out()
    await batch.store()
    return batch.result()


async def store_one(pipeline: Pipeline, pushed: Pushed) -> tuple[str, Synced]:
    """Store one memory; raises TextRefused, SwitchedOff, and Forbidden for another's place."""
    batch = _Batch(pipeline, [pushed])
    await batch.leave_out()
    await batch.store()
    if batch.refusals:
        raise batch.refusals[0]
    [key], synced = batch.result()
    return key, synced


def _drafts_of(accepted: Mapping[int, Pushed]) -> dict[int, Draft]:
    return {place: draft_of(one) for place, one in accepted.items()}


def _groups(pushed: Sequence[Pushed]) -> list[list[int]]:
    """Return the places of memories that are written together, each agent's by themselves.

    What says something else under a name of the group begins another: it is compared with what the
    first left in the store, as it is when both are sent one by one.
    """
    groups: list[list[int]] = []
    for agent in sorted({one.agent for one in pushed}):
        sent: dict[str, Pushed] = {}
        groups.append([])
        for place, one in enumerate(pushed):
            if one.agent != agent:
                continue
            if sent.setdefault(_key(one), one) != one or len(groups[-1]) == _TRANSACTION_MEMORIES:
                groups.append([])
                sent = {_key(one): one}
            groups[-1].append(place)
    return groups


async def remove(pipeline: Pipeline, agent: str, key: str) -> None:
    """Remove a memory for good, with its vector and edges; audited."""
    await remove_memories(pipeline, agent, [await stored_memory(pipeline.db, agent, key)])


async def find(db: Database, agents: Sequence[str], key: str) -> Memory:
    """Return one memory that these agents own; another's is as unknown as none."""
    if memory := await fetch(db, agents, key, caller().memory_scopes):
        return memory
    raise MemoryNotFound(f"There is no memory with id {key!r}.")


async def stored_memory(db: Database, agent: str, key: str) -> StoredMemory:
    """Return one memory of this agent as far as links go; raises MemoryNotFound."""
    memory = (await memories_by_id(db, [key])).get(key)
    if memory is None or memory.agent != agent or not caller().sees(memory.scope):
        raise MemoryNotFound(f"There is no memory with id {key!r}.")
    return memory


def _place(pushed: Pushed) -> tuple[str, str | None, str | None]:
    return pushed.agent, pushed.scope, pushed.session


def _key(pushed: Pushed) -> str:
    if (known_as := _known_as(pushed)) is not None:
        return digest("ref", pushed.agent, pushed.source_kind, known_as)
    moment = pushed.occurred_at.isoformat() if pushed.occurred_at else ""
    return digest(
        "text", pushed.agent, pushed.scope or "", pushed.session or "", moment, pushed.kind,
        pushed.title or "", pushed.text.strip(),
    )  # fmt: skip


def _known_as(pushed: Pushed) -> str | None:
    return pushed.known_as or pushed.source_ref
