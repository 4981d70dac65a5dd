"""The difference between what a document says and what the store holds of it."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.access.origins import SCANNED, Origin, Provenance, lowest, tier_of
from service.drafts.drafts import Cutting, DocumentText, Draft, document_drafts
from service.drafts.stored_memory import StoredMemory, differs, keep_ids, keep_time
from service.links import stored
from service.metadata import DEFAULTS, KEPT
from service.records import QUARANTINED
from service.store.database import Database
from service.text.markdown import Document, parse_markdown

# Where a section stands and what it says: its scope, headings and text.
Said = tuple[str | None, tuple[str, ...], str]
# Sections that go with their documents, on which something was set, by what they say.
Leaving = Mapping[Said, StoredMemory]
NO_SECTIONS: Final[Leaving] = {}


@dataclass(slots=True)
class DocumentDiff:
    """The difference between what a document says and what the store holds of it."""

    document: DocumentText
    parsed: Document
    writes: list[Draft]
    changed: set[str]
    old: dict[str, StoredMemory]
    gone: list[StoredMemory]
    drafts: list[Draft]
    text_hash: str
    deleted: int = 0

    @property
    def sections(self) -> int:
        """How many memories the document gives."""
        return len(self.drafts) - self.deleted

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a caller should know of it."""
        stays = f"{self.document.uri}: {self.deleted} of its sections were deleted for good"
        told = [f"{stays}, so they are left out."] if self.deleted else []
        screened = (f"{self.document.uri}: {one}" for one in self.document.screened)
        return (*screened, *self.parsed.warnings, *told)

    def leave_out(self, keys: Collection[str]) -> None:
        """Take sections out of what is to be written: they were deleted for good."""
        left = [draft.id for draft in self.writes if draft.id in keys]
        self.deleted += len(left)
        self.writes = [draft for draft in self.writes if draft.id not in keys]
        self.changed -= set(left)
        self.gone += [self.old[key] for key in left if key in self.old]

    def fresh_chains(self) -> set[str]:
        """Return the document's own chain if the store has nothing of it yet."""
        chains = {draft.chain or "" for draft in self.writes if not self.old}
        return {chain for chain in chains if chain.startswith("source:")}


async def diff_document(
    db: Database,
    document: DocumentText,
    cutting: Cutting,
    places: Mapping[str, str],
    leaving: Leaving = NO_SECTIONS,
) -> DocumentDiff:
    """Cut a document and compare its sections with those the store holds.

    What was set on those of `leaving`, which are about to go with the documents that they were read
    from, comes along to what says the same: read once, as a scan may find thousands renamed. In
    threads: a megabyte takes seconds of CPU, and the event loop answers everybody.
    """
    parsed = await asyncio.to_thread(
        parse_markdown,
        document.text,
        cutting.section_tokens,
        max_sections=cutting.max_sections,
    )
    old = await stored.memories_of_document(db, document.agent, document.uri)
    text_hash = await asyncio.to_thread(document.text_hash, cutting)
    diff = await asyncio.to_thread(_compare, document, text_hash, parsed, old, places)
    await _carry_over(db, diff, leaving)
    return diff


async def set_sections(db: Database, agent: str, uris: Sequence[str]) -> Leaving:
    """Return those of documents' sections that have a kept field which somebody set."""
    read = [await stored.memories_of_document(db, agent, uri) for uri in uris]
    keys = [key for memories in read for key, memory in memories.items() if _is_set(memory)]
    return {_said_by(one): one for one in await _quarantined_last(db, keys)} if keys else {}


async def _carry_over(db: Database, diff: DocumentDiff, leaving: Leaving) -> None:
    """Keep what was set on sections whose headings above became others: they say the same.

    And on those of a document that is called otherwise now, under the very same headings.
    """
    going = [memory.id for memory in diff.gone if _is_set(memory)]
    if not (going or leaving) or all(draft.id in diff.old for draft in diff.drafts):
        return
    known = await _quarantined_last(db, going) if going else []
    was_set = {(one.heading_path[-1:], one.content): one for one in known}
    carried = {
        draft.id: _kept(draft, before, diff.document.sender)
        for draft in diff.drafts
        if draft.id not in diff.old
        and (
            before := was_set.get((draft.heading_path[-1:], draft.content))
            or leaving.get(_said_by(draft))
        )
    }
    diff.writes = [carried.get(draft.id, draft) for draft in diff.writes]
    diff.drafts = [carried.get(draft.id, draft) for draft in diff.drafts]


async def _quarantined_last(db: Database, keys: Sequence[str]) -> list[StoredMemory]:
    """Return memories in an order in which the last counts of those that say the same.

    One may be quarantined: so is what says that now.
    """
    found = (await stored.memories_by_id(db, keys)).values()
    return sorted(found, key=lambda one: (one.trust_tier == QUARANTINED, one.id))


def _said_by(one: Draft | StoredMemory) -> Said:
    return one.scope, one.heading_path, one.content


def _is_set(memory: StoredMemory) -> bool:
    """Say whether a memory has a kept field that does not follow from what it was read from."""
    usual = {**DEFAULTS, "trust_tier": tier_of(memory.origin)}
    return any(getattr(memory, name) != usual[name] for name in KEPT)


def _compare(
    document: DocumentText,
    text_hash: str,
    parsed: Document,
    old: dict[str, StoredMemory],
    places: Mapping[str, str],
) -> DocumentDiff:
    drafts = [
        _kept(draft, old[draft.id], document.sender) if draft.id in old else draft
        for draft in keep_ids(document_drafts(document, parsed, places), old)
    ]
    changed = {d.id for d in drafts if d.id not in old or differs(d, old[d.id])}
    writes = [
        d for d in drafts if d.id in changed or _moved(d, old[d.id]) or d.origin != old[d.id].origin
    ]
    keys = {draft.id for draft in drafts}
    gone = [memory for key, memory in old.items() if key not in keys]
    return DocumentDiff(document, parsed, writes, changed, old, gone, drafts, text_hash)


def _kept(draft: Draft, old: StoredMemory, sender: Provenance) -> Draft:
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
    kept = {name: getattr(old, name) for name in KEPT}
    kept["trust_tier"] = tier_after(old, draft.origin)
    if draft.trust_tier == QUARANTINED and draft.content_hash != old.content_hash:
        kept["trust_tier"] = QUARANTINED  # released were other words
    return keep_time(replace(draft, **kept), old)


def tier_after(old: StoredMemory, origin: Origin) -> str:
    """Return the trust tier of a memory that has another origin now: what was set stays."""
    return tier_of(origin) if old.trust_tier == tier_of(old.origin) else old.trust_tier


def _moved(draft: Draft, old: StoredMemory) -> bool:
    """Say whether only its place changed: written again, but not a new version."""
    place = (draft.source.line_start, draft.source.line_end)
    return (place, draft.position, draft.occurred_at, draft.chain) != (
        old.lines, old.position, old.occurred_at, old.chain,
    )  # fmt: skip
