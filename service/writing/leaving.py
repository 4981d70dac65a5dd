"""What was set on sections that leave their place: it comes along to those that say the same."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Self

from service.access.origins import SCANNED, Origin, Provenance, lowest, tier_of
from service.drafts.drafts import Draft
from service.drafts.ids import digest
from service.drafts.stored_memory import StoredMemory, differs, draft_of_stored, is_other, keep_time
from service.links import stored
from service.links.change import Change
from service.metadata import DEFAULTS, KEPT, Metadata
from service.records import DOCUMENT, QUARANTINED
from service.store.database import Database, record
from service.store.queries import Fragment, load_query

SAYING: Final = load_query(__package__, "saying")
QUARANTINED_SECTIONS: Final = load_query(__package__, "quarantined_sections")
LEAVING: Final = load_query(__package__, "leaving")
KEEP_LEAVING: Final = load_query(__package__, "keep_leaving")
FORGET_LEAVING: Final = load_query(__package__, "forget_leaving")


@dataclass(frozen=True, slots=True, kw_only=True)
class Left(Metadata):
    """What was set on a section that left its place, or is about to; of its words hashes alone.

    `said` is of its scope, its headings and its text, `below` of its last heading and its text.
    """

    id: str
    said: str
    below: str
    content_hash: str
    occurred_at: datetime
    votes: Sequence[list[Any]] = ()

    @classmethod
    def of(cls, one: StoredMemory) -> Self:
        """Return what is to be known of a memory that was read with its content."""
        values = {name: getattr(one, name) for name in (*_SAME, *_SET)}
        return cls(said=said_by(one), below=below_heading(one), **values)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Read a row of table `leaving`."""
        _, key, said = row["id"]
        same = {name: row[name] for name in _SAME if name != "id"}
        return cls(id=key, said=said, below=row["below"], **same, **row["kept"])

    def row(self, agent: str) -> dict[str, Any]:
        """Return it as a row of table `leaving`."""
        return {
            "id": record("leaving", [agent, self.id, self.said]), "below": self.below,
            **{name: getattr(self, name) for name in _SAME if name != "id"},
            "kept": {name: getattr(self, name) for name in _SET},
        }  # fmt: skip


_SAME: Final = ("id", "content_hash", "occurred_at", "origin")
_SET: Final = (*KEPT, "votes")


@dataclass(slots=True)
class Leaving:
    """Sections that leave their place, by what they say.

    Of those that say the same one may be quarantined: it counts. What is quarantined is so in
    another scope and below other headings as well, where the last heading is the same. What is
    `copied` stays quarantined where it is, and is so under the same headings elsewhere.
    """

    sections: dict[str, Left] = field(default_factory=dict)
    quarantined: set[str] = field(default_factory=set)
    copied: set[tuple[tuple[str, ...], str]] = field(default_factory=set)
    is_complete: bool = False

    def add(self, sections: Iterable[Left]) -> None:
        """Take in more of them."""
        for one in sections:
            known = self.sections.get(one.said)
            if known is None or weight(one) >= weight(known):
                self.sections[one.said] = one
            if one.trust_tier == QUARANTINED:
                self.quarantined.add(one.below)

    def onto(self, draft: Draft) -> Draft:
        """Return a scanned section that comes, with what was set on one that says the same."""
        if self.sections:
            before = self.sections.get(said_by(draft))
            if before is not None:
                return _as_set(replace(draft, votes_of=before), before)
        is_moved = bool(self.quarantined) and below_heading(draft) in self.quarantined
        is_copied = (draft.heading_path, draft.content) in self.copied
        return replace(draft, trust_tier=QUARANTINED) if is_moved or is_copied else draft


async def set_sections(db: Database, agent: str, uris: Sequence[str]) -> Leaving:
    """Return those of documents' sections on which somebody set a kept field, or voted.

    With those that left their place in a scan of this agent that did not come to its end.
    """
    read = [await stored.memories_of_document(db, agent, uri) for uri in uris]
    keys = [key for memories in read for key, memory in memories.items() if is_set(memory)]
    leaving = Leaving()
    leaving.add(Left.from_row(row) for row in await db.run(LEAVING, agent=agent))
    leaving.add(await _read(db, keys))
    return leaving


async def forget_leaving(db: Database, agent: str) -> None:
    """Let nothing be kept of what left its place, as an agent's scan has come to its end."""
    if await db.run(LEAVING, agent=agent):  # a scan that finds nothing new writes nothing
        await db.run(FORGET_LEAVING, agent=agent)


async def complete(db: Database, agent: str, leaving: Leaving) -> None:
    """Add, once, what is quarantined of an agent's documents: a copy of it is as little trusted."""
    if leaving.is_complete:
        return
    keys = await db.run(QUARANTINED_SECTIONS, agent=agent)
    found = (await stored.memories_by_id(db, keys)).values()
    leaving.copied.update((one.heading_path, one.content) for one in found)
    leaving.is_complete = True


async def set_words(db: Database, change: Change) -> list[Left]:
    """Return the sections whose words leave their place by a change, if anything was set."""
    left = await asyncio.to_thread(_left, change)
    return await _read(db, [one.id for one in left if is_set(one)])


async def _read(db: Database, keys: Iterable[str]) -> list[Left]:
    found = (await stored.memories_by_id(db, keys)).values()
    return await asyncio.to_thread(lambda: list(map(Left.of, found)))


async def hand_on(db: Database, change: Change) -> Change:
    """Return a change of files with what was set on sections that leave their place by it.

    It comes along to those of its drafts that say the same; of what is gone without one to a
    section that stands in another file already: a scan may have stored that before, and ended.
    What leaves a file that stays is kept until the scan is over, should another one come to its
    end in the place of this one. A step of the pipeline.
    """
    scanned = {row.uri for row in change.documents if row.folder}
    if not (scanned or change.gone_documents):
        return change
    left = await asyncio.to_thread(_left, change)
    if not any(map(is_set, left)):
        return change
    leaving = await asyncio.to_thread(lambda: list(map(Left.of, left)))
    if scanned:
        rows = [one.row(change.agent) for one in leaving if is_set(one)]
        change = change.with_fragment(Fragment(KEEP_LEAVING, {"leaving": rows}))
    drafts = await asyncio.to_thread(_redrafted, change, leaving, scanned)
    taken = {(one.heading_path[-1:], one.content) for one in drafts}
    gone = {one.id for one in change.gone}
    lost = [
        one
        for one in left
        if (one.heading_path[-1:], one.content) not in taken
        and (one.trust_tier == QUARANTINED or (is_set(one) and one.id in gone))
    ]
    return await _handed_on(db, replace(change, drafts=drafts), lost)


def _redrafted(change: Change, left: Iterable[Left], scanned: Collection[str]) -> tuple[Draft, ...]:
    leaving = Leaving()
    leaving.add(left)
    return tuple(
        _onto(draft, change.replaced.get(draft.id), leaving)
        if draft.source.uri in scanned
        else draft
        for draft in change.drafts
    )


def _onto(draft: Draft, old: StoredMemory | None, leaving: Leaving) -> Draft:
    if not comes(draft, old):
        return draft
    anew = leaving.onto(draft)
    was_kept = old is not None and old.trust_tier == QUARANTINED  # for the words that left
    if draft.trust_tier == QUARANTINED and not was_kept:
        anew = replace(anew, trust_tier=QUARANTINED)
    return anew


async def _handed_on(db: Database, change: Change, lost: Sequence[StoredMemory]) -> Change:
    """Return a change with the sections that stand elsewhere and say what is lost by it."""
    if not lost:
        return change
    contents = list({one.content for one in lost})
    keys = await db.run(SAYING, agent=change.agent, contents=contents)
    busy, going = ({one.id for one in some} for some in (change.drafts, change.gone))
    standing = await stored.memories_by_id(db, set(keys) - busy - going)
    said = Leaving()
    said.add(map(Left.of, lost))
    handed = {}
    for key, one in standing.items():
        before = said.sections.get(said_by(one))
        if before is not None:
            draft = _with(one, before, is_gone=before.id in going)
            if draft != draft_of_stored(one):
                handed[key] = draft
    return replace(
        change,
        drafts=(*change.drafts, *handed.values()),
        replaced={**change.replaced, **{key: standing[key] for key in handed}},
    )


def _with(one: StoredMemory, before: Left, *, is_gone: bool) -> Draft:
    """Return a stored section with what was set on another one.

    What was set on it itself stays, its votes too, but no trust that the other one had not.
    """
    names = KEPT if is_gone and not _has_set_fields(one) else ()
    fields: dict[str, Any] = {name: getattr(before, name) for name in names}
    if before.trust_tier == QUARANTINED:
        fields["trust_tier"] = QUARANTINED
    if is_gone and not {voter for voter, _ in before.votes} <= {voter for voter, _ in one.votes}:
        fields["votes_of"] = before
    return replace(draft_of_stored(one), **fields)


def _left(change: Change) -> list[StoredMemory]:
    """Return the stored sections whose words leave their place: they go, or say something else."""
    others = [
        old
        for draft in change.drafts
        if (old := change.replaced.get(draft.id)) and old.source_kind == DOCUMENT
        if comes(draft, old)
    ]
    return [*(one for one in change.gone if one.source_kind == DOCUMENT), *others]


def comes(draft: Draft, old: StoredMemory | None) -> bool:
    """Say whether a section is new, or says something else than it did."""
    return old is None or draft.content_hash != old.content_hash


def said_by(one: Draft | StoredMemory) -> str:
    """Return a hash of where a section stands and what it says: its scope, headings and text."""
    return digest(one.scope or "", *one.heading_path, one.content)


def below_heading(one: Draft | StoredMemory) -> str:
    """Return a hash of what a section says and of the heading right above it."""
    return digest(*one.heading_path[-1:], one.content)


def is_set(memory: Left | StoredMemory) -> bool:
    """Say whether a memory has votes, or a kept field other than what it was read from gives."""
    return bool(memory.votes) or _has_set_fields(memory)


def _has_set_fields(memory: Metadata) -> bool:
    usual = {**DEFAULTS, "trust_tier": tier_of(memory.origin)}
    return any(getattr(memory, name) != usual[name] for name in KEPT)


def weight(one: Left | StoredMemory) -> tuple[bool, bool, int, str]:
    """Return which of several that say the same counts: the highest."""
    return one.trust_tier == QUARANTINED, _has_set_fields(one), len(one.votes), one.id


def kept(draft: Draft, old: StoredMemory, sender: Provenance) -> Draft:
    """Keep what a document does not say of its sections and somebody may have set since.

    Words that are the same stay whose they were; those that are sent anew raise no others. The
    owner's file is read whole: all that stands in it is the owner's.
    """
    if sender != SCANNED:
        is_same = not differs(draft, old)
        draft = (
            replace(draft, origin=old.origin, client=old.client, key=old.key)
            if is_same
            else replace(draft, origin=lowest((old.origin, draft.origin)))
        )
    return _as_set(draft, old)


def _as_set(draft: Draft, old: Left | StoredMemory) -> Draft:
    """Return a draft with all that was set on a section that is, or said, the same."""
    values = {name: getattr(old, name) for name in KEPT}
    values["trust_tier"] = tier_after(old, draft.origin)
    if draft.trust_tier == QUARANTINED and is_other(draft, old):
        values["trust_tier"] = QUARANTINED  # released were other words
    return keep_time(replace(draft, **values), old.occurred_at)


def tier_after(old: Metadata, origin: Origin) -> str:
    """Return the trust tier of a memory that has another origin now: what was set stays."""
    return tier_of(origin) if old.trust_tier == tier_of(old.origin) else old.trust_tier
