"""The difference between what a document says and what the store holds of it."""

import asyncio
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from service.drafts.drafts import Cutting, DocumentText, Draft, document_drafts
from service.drafts.stored_memory import StoredMemory, differs, keep_ids
from service.links import stored
from service.records import QUARANTINED
from service.store.database import Database
from service.text.markdown import Document, parse_markdown
from service.writing.leaving import Leaving, comes, is_set, kept, weight

# A long paragraph is cut between sentences.
_SENTENCE_ENDS: Final = re.compile(r"(?<=[.!?])\s+|\n")


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
        told = [*self.document.screened, *self.parsed.warnings]
        if self.deleted:
            stays = f"{self.deleted} of its sections were deleted for good"
            told.append(f"{stays}, so they are left out.")
        # With its name: a scan tells those of all its files in one list, equal ones once.
        return tuple(f"{self.document.uri}: {one}" for one in told)

    def leave_out(self, keys: Collection[str]) -> None:
        """Take sections out of what is to be written: they were deleted for good."""
        left = [draft.id for draft in self.writes if draft.id in keys]
        self.deleted += len(left)
        self.writes = [draft for draft in self.writes if draft.id not in keys]
        self.changed -= set(left)
        self.gone += [self.old[key] for key in left if key in self.old]

    def redraft(self, anew: Callable[[Draft], Draft]) -> None:
        """Take what each section becomes."""
        became = {draft.id: anew(draft) for draft in self.drafts}
        self.drafts = list(became.values())
        self.writes = [became[draft.id] for draft in self.writes]

    def fresh_chains(self) -> set[str]:
        """Return the document's own chain if the store has nothing of it yet."""
        chains = {draft.chain or "" for draft in self.writes if not self.old}
        return {chain for chain in chains if chain.startswith("source:")}


async def diff_document(
    db: Database,
    document: DocumentText,
    cutting: Cutting,
    places: Mapping[str, str],
    leaving: Leaving,
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
    await _quarantine_moved(db, diff)
    return diff


async def _carry_over(db: Database, diff: DocumentDiff, leaving: Leaving) -> None:
    """Keep what was set on sections whose headings became others: they say the same.

    And on those that leave another document, or left one just now, under the very same headings.
    """
    going = [memory.id for memory in diff.gone if is_set(memory)]
    if not (going or leaving.sections or leaving.copied) or not diff.changed:
        return
    known = sorted((await stored.memories_by_id(db, going)).values(), key=weight)
    below = {(one.heading_path[-1:], one.content): one for one in known}
    anywhere = {one.content: one for one in known}

    def carried(draft: Draft) -> Draft:
        before = below.get((draft.heading_path[-1:], draft.content)) or anywhere.get(draft.content)
        if before is not None and draft.id not in diff.old:
            return kept(replace(draft, votes_of=before), before, diff.document.sender)
        is_new = comes(draft, diff.old.get(draft.id))
        return leaving.onto(draft) if is_new else draft

    await asyncio.to_thread(diff.redraft, carried)


async def _quarantine_moved(db: Database, diff: DocumentDiff) -> None:
    """Quarantine sections that have sentences which stood in a quarantined one until now.

    A heading that comes or goes parts and joins sections, and words above a long paragraph move the
    places where it is cut: they are as little trusted.
    """
    quarantined = {key for key, one in diff.old.items() if one.trust_tier == QUARANTINED}
    if not quarantined:
        return
    texts = await stored.memories_by_id(db, quarantined | (diff.changed & diff.old.keys()))
    await asyncio.to_thread(_judge_moved, diff, quarantined, texts)


def _judge_moved(
    diff: DocumentDiff, quarantined: Collection[str], texts: Mapping[str, StoredMemory]
) -> None:
    now = {draft.id: draft for draft in diff.drafts}
    left = [key for key in quarantined if key not in now or comes(now[key], diff.old[key])]
    said = {key: _sentences(one.content) for key, one in texts.items()}
    moved = set[str]()
    for key in left:
        stay = _sentences(now[key].content) if key in now else set[str]()
        moved |= said.get(key, set()) - stay

    def judged(draft: Draft) -> Draft:
        if not comes(draft, diff.old.get(draft.id)):
            return draft
        came = _sentences(draft.content) - said.get(draft.id, set())
        return draft if came.isdisjoint(moved) else replace(draft, trust_tier=QUARANTINED)

    diff.redraft(judged)


def _sentences(text: str) -> set[str]:
    """Return the sentences of a text, or its lines, that hold a word."""
    found = (part.strip() for part in _SENTENCE_ENDS.split(text))
    return {part for part in found if any(map(str.isalnum, part))}


def _compare(
    document: DocumentText,
    text_hash: str,
    parsed: Document,
    old: dict[str, StoredMemory],
    places: Mapping[str, str],
) -> DocumentDiff:
    drafts = [
        kept(draft, old[draft.id], document.sender) if draft.id in old else draft
        for draft in keep_ids(document_drafts(document, parsed, places), old)
    ]
    changed = {d.id for d in drafts if d.id not in old or _is_news(d, old[d.id])}
    writes = [
        d for d in drafts if d.id in changed or _moved(d, old[d.id]) or d.origin != old[d.id].origin
    ]
    keys = {draft.id for draft in drafts}
    gone = [memory for key, memory in old.items() if key not in keys]
    return DocumentDiff(document, parsed, writes, changed, old, gone, drafts, text_hash)


def _is_news(draft: Draft, old: StoredMemory) -> bool:
    """Say whether it counts as an update: another version, or the same of another time."""
    return differs(draft, old) or draft.occurred_at != old.occurred_at


def _moved(draft: Draft, old: StoredMemory) -> bool:
    """Say whether only its place changed: written again, but not a new version."""
    place = (draft.source.line_start, draft.source.line_end)
    return (place, draft.position, draft.chain) != (old.lines, old.position, old.chain)
