"""The one way in: bring the store in line with documents and pushed memories.

Read, compare, embed what is new, then, in the agent's turn to write: link, chain, and write all
of it in one transaction. A crash at any step leaves the state before; sending again is free.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from service.database import Database
from service.embedder import Vector
from service.errors import EmbedderRefused, EmbedderUnavailable, FingerprintMismatch
from service.ingest import stored
from service.ingest.dictionary import Dictionary
from service.ingest.drafts import Document, DocumentText, Draft, document_drafts
from service.ingest.linking import Change, find_follows, find_links
from service.ingest.markdown import parse_markdown
from service.ingest.names import Name
from service.ingest.stored import StoredMemory
from service.ingest.writing import NOTHING_DECLARED, Declared, DocumentRow, Writing, write
from service.vectors import Vectors

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Pipeline:
    """What every way in shares: the store, the vectors, the dictionaries and the turns to write."""

    db: Database
    vectors: Vectors
    section_tokens: int = 200
    places: Mapping[str, str] = field(default_factory=dict)
    dictionaries: dict[str, Dictionary] = field(default_factory=dict)
    # One change at a time is linked and written: links are differences to what is stored.
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    # Documents keep their turn from comparing to writing, so that two versions never mix.
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    has_pending: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class Synced:
    """What became of one document, or of one batch: counts, and what a caller should know."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    concepts_linked: int = 0
    embedded: int = 0
    warnings: tuple[str, ...] = ()
    concepts: frozenset[str] = frozenset()
    actions: tuple[str, ...] = ()


@dataclass(slots=True)
class _Plan:
    """The difference between what a document says and what the store holds of it."""

    document: DocumentText
    parsed: Document
    writes: list[Draft]
    changed: set[str]
    old: dict[str, StoredMemory]
    gone: list[StoredMemory]
    sections: int

    def synced(self) -> Synced:
        created = sum(key not in self.old for key in self.changed)
        return Synced(
            created, len(self.changed) - created, self.sections - len(self.changed),
            len(self.gone), warnings=self.parsed.warnings,
        )  # fmt: skip


async def sync_documents(pipeline: Pipeline, documents: Sequence[DocumentText]) -> list[Synced]:
    """Make the store hold exactly these documents' sections; one transaction for all of them.

    All documents belong to one agent. Returns one count for each document, in their order;
    links and vectors are counted for the whole group, on its first document.
    """
    async with pipeline.reading:
        plans = [await _plan(pipeline, document) for document in documents]
        drafts = [draft for plan in plans for draft in plan.writes]
        change = Change(
            agent=documents[0].agent,
            drafts=tuple(drafts),
            gone=tuple(memory for plan in plans for memory in plan.gone),
            replaced={d.key: p.old[d.key] for p in plans for d in p.writes if d.key in p.old},
        )
        rows = tuple(
            DocumentRow(
                plan.document.uri, plan.document.text,
                plan.document.text_hash(pipeline.section_tokens), plan.sections,
                plan.document.folder,
            )
            for plan in plans
        )  # fmt: skip
        whole = await commit(pipeline, change, rows)
    counts = [plan.synced() for plan in plans]
    counts[0] = replace(
        counts[0], embedded=whole.embedded, concepts_linked=whole.concepts_linked,
        warnings=(*counts[0].warnings, *whole.warnings),
    )  # fmt: skip
    return counts


async def remove_documents(pipeline: Pipeline, agent: str, uris: Sequence[str]) -> int:
    """Remove documents and all their memories; returns how many memories went."""
    async with pipeline.reading:
        gone = [
            memory
            for uri in uris
            for memory in (await stored.memories_of_document(pipeline.db, agent, uri)).values()
        ]
        change = Change(agent, gone=tuple(gone))
        await commit(pipeline, change, gone_documents=tuple(uris), audit="source_removed")
    return len(gone)


async def store_drafts(pipeline: Pipeline, drafts: Sequence[Draft]) -> Synced:
    """Store pushed memories of one agent; what is there already, with equal text, stays as it is.

    `actions` says of each draft, in order: created, updated or duplicate.
    """
    old = await stored.memories_by_id(pipeline.db, {draft.key for draft in drafts})
    last = {draft.key: draft for draft in drafts}
    writes = [d for d in last.values() if d.key not in old or _differs(d, old[d.key])]
    writes = [d if d.key not in old else _keep_time(d, old[d.key]) for d in writes]
    replaced = {d.key: old[d.key] for d in writes if d.key in old}
    change = Change(drafts[0].agent, tuple(writes), replaced=replaced)
    whole = await commit(pipeline, change)
    written = {draft.key for draft in writes}
    seen: set[str] = set()
    actions = []
    for draft in drafts:
        is_new = draft.key in written and draft.key not in seen
        actions.append(("updated" if draft.key in old else "created") if is_new else "duplicate")
        seen.add(draft.key)
    return replace(whole, actions=tuple(actions))


async def remove_memories(pipeline: Pipeline, agent: str, gone: Sequence[StoredMemory]) -> None:
    """Remove memories for good, with their edges and vectors; audited."""
    await commit(pipeline, Change(agent, gone=tuple(gone)), audit="deleted")


async def commit(
    pipeline: Pipeline,
    change: Change,
    documents: tuple[DocumentRow, ...] = (),
    gone_documents: tuple[str, ...] = (),
    declared: Declared = NOTHING_DECLARED,
    audit: str | None = None,
) -> Synced:
    """Embed, link and write one change. Without an embedder it is stored, and embedded later."""
    vectors, warnings = await _embed(pipeline.vectors, change)
    async with pipeline.writing:
        dictionary = await load_dictionary(pipeline, change.agent)
        # Until the write has succeeded the dictionary may know too much: read anew if it fails.
        del pipeline.dictionaries[change.agent]
        _learn_declared(dictionary, declared)
        links = await find_links(pipeline.db, dictionary, change)
        follows, gone_follows = await find_follows(pipeline.db, change)
        await write(
            pipeline.db,
            Writing(
                change, links, follows, gone_follows, vectors, pipeline.vectors.fingerprint,
                dictionary.version + 1, documents, gone_documents, declared, audit,
            ),
        )  # fmt: skip
        for slug in links.orphans:
            dictionary.remove(slug)
        dictionary.version += 1
        pipeline.dictionaries[change.agent] = dictionary
    if warnings:
        pipeline.has_pending.set()
    mine = {draft.key for draft in change.drafts}
    return Synced(
        concepts_linked=sum(key in mine for key, _ in links.references.added),
        embedded=len(vectors),
        warnings=warnings,
        concepts=frozenset().union(*(links.concepts_of[key] for key in mine)),
    )


async def load_dictionary(pipeline: Pipeline, agent: str) -> Dictionary:
    """Return the agent's dictionary, read anew if another writer has changed it since."""
    version = int((await pipeline.db.meta(["dictionary", agent])).get("version", 0))
    known = pipeline.dictionaries.get(agent)
    if known is not None and known.version == version:
        return known
    dictionary = Dictionary(version)
    rows = await stored.dictionary_rows(pipeline.db, agent)
    # Declared concepts come first: their aliases win over learned names.
    for row in sorted(rows, key=lambda row: not row["is_declared"]):
        dictionary.add(Name(row["id"][1], row["name"], row["kind"], row["is_cased"]), row["aliases"])
    pipeline.dictionaries[agent] = dictionary
    return dictionary


def _learn_declared(dictionary: Dictionary, declared: Declared) -> None:
    """Teach the dictionary what the user declared: it takes spellings over from learned names."""
    for row in declared.concepts:
        slug = row["id"].id[1]
        dictionary.remove(slug)
        name = Name(slug, row["name"], row["kind"], row["is_cased"])
        dictionary.add(name, row["aliases"], takes_over=row["is_declared"])


async def _plan(pipeline: Pipeline, document: DocumentText) -> _Plan:
    parsed = await asyncio.to_thread(parse_markdown, document.text, pipeline.section_tokens)
    old = await stored.memories_of_document(pipeline.db, document.agent, document.uri)
    drafts = [
        _keep(draft, old[draft.key]) if draft.key in old else draft
        for draft in document_drafts(document, parsed, pipeline.places)
    ]
    changed = {d.key for d in drafts if d.key not in old or _differs(d, old[d.key])}
    writes = [d for d in drafts if d.key in changed or _moved(d, old[d.key])]
    keys = {draft.key for draft in drafts}
    gone = [memory for key, memory in old.items() if key not in keys]
    return _Plan(document, parsed, writes, changed, old, gone, len(drafts))


def _keep(draft: Draft, old: StoredMemory) -> Draft:
    """Keep what a document does not say of its sections and somebody may have set since."""
    draft = replace(
        draft, importance=old.importance, trust_tier=old.trust_tier, sensitivity=old.sensitivity,
        valid_from=old.valid_from, valid_until=old.valid_until,
    )  # fmt: skip
    return _keep_time(draft, old)


def _keep_time(draft: Draft, old: StoredMemory) -> Draft:
    """Keep the first time of a memory that has none of its own: a touched file is not news."""
    return draft if draft.is_dated else replace(draft, occurred_at=old.occurred_at)


def _differs(draft: Draft, old: StoredMemory) -> bool:
    return draft.content_hash != old.content_hash or any(
        getattr(draft, name) != getattr(old, name)
        for name in ("kind", "type", "scope", "tags", "concepts")
    )


def _moved(draft: Draft, old: StoredMemory) -> bool:
    """Say whether only its place changed: written again, but not a new version."""
    place = (draft.source.line_start, draft.source.line_end)
    return (place, draft.position, draft.occurred_at, draft.chain) != (
        old.lines, old.position, old.occurred_at, old.chain,
    )  # fmt: skip


async def _embed(vectors: Vectors, change: Change) -> tuple[dict[str, Vector], tuple[str, ...]]:
    """Embed the drafts whose text is new; say so when it must wait."""
    waiting = [
        draft
        for draft in change.drafts
        if draft.key not in change.replaced
        or not change.replaced[draft.key].is_embedded
        or change.replaced[draft.key].content_hash != draft.content_hash
    ]
    if not waiting:
        return {}, ()
    # Texts of like length share a batch: padding is wasted work.
    waiting.sort(key=lambda draft: (len(draft.text), draft.key))
    try:
        made = await vectors.embed_documents([draft.text for draft in waiting])
    except (EmbedderUnavailable, EmbedderRefused, FingerprintMismatch) as error:
        log.warning("%d memories wait for their vectors: %s", len(waiting), error.detail)
        return {}, (f"{len(waiting)} memories are stored without vectors yet: {error.detail}",)
    return {draft.key: vector for draft, vector in zip(waiting, made, strict=True)}, ()


def group_by_agent(drafts: Sequence[Draft]) -> dict[str, list[int]]:
    """Return the positions of each agent's drafts."""
    groups: dict[str, list[int]] = defaultdict(list)
    for position, draft in enumerate(drafts):
        groups[draft.agent].append(position)
    return groups
