"""The one way in: bring the store in line with documents and pushed memories.

Read, compare, embed what is new, then, in the agent's turn to write: link, chain, and write all
of it in one transaction. A crash at any step leaves the state before; sending again is free.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from service.consolidate.revising import revise
from service.drafts.drafts import DocumentText, Draft
from service.errors import EmbedderRefused, EmbedderUnavailable, StaleRead, VectorsUnfit
from service.index.engine import Engine
from service.inference.embedder import Vector
from service.inference.vectors import Vectors
from service.links import stored
from service.links.links import Change, Links, find_follows, find_links
from service.links.merges import Merged, regroup
from service.links.stored import StoredMemory
from service.links.vocabulary import learn_rows, read_dictionary
from service.names.dictionary import Dictionary
from service.store.database import Database
from service.writing.diff import Plan, differs, keep_time, plan_document
from service.writing.transaction import (
    NOTHING_ATTACHED,
    Attached,
    DocumentRow,
    Writing,
    write,
)

log = logging.getLogger(__name__)

# Several services on one database: each try reads anew what the others wrote.
_READ_ATTEMPTS: Final = 8


@dataclass(slots=True)
class Pipeline:
    """What every way in shares: the store, vectors, indexes, dictionaries and turns to write."""

    db: Database
    vectors: Vectors
    engine: Engine
    section_tokens: int = 200
    places: Mapping[str, str] = field(default_factory=dict)
    dictionaries: dict[str, Dictionary] = field(default_factory=dict)
    # One change at a time is linked and written: links are differences to what is stored.
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    # Documents keep their turn from comparing to writing, so that two versions never mix.
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    has_pending: asyncio.Event = field(default_factory=asyncio.Event)
    # One consolidation at a time: two would plan the same groups.
    consolidating: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Synced:
    """What became of one document, or of one batch: counts, and what a caller should know.

    `replaced` names the memories that were there before, `actions` what became of each draft,
    `moved` the spellings that were merged or parted.
    """

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    concepts_linked: int = 0
    embedded: int = 0
    warnings: tuple[str, ...] = ()
    concepts: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()
    actions: tuple[str, ...] = ()
    moved: tuple[Merged, ...] = ()


async def sync_documents(pipeline: Pipeline, documents: Sequence[DocumentText]) -> list[Synced]:
    """Make the store hold exactly these documents' sections; one transaction for all of them.

    All documents belong to one agent. Returns one count for each document, in their order;
    links and vectors are counted for the whole group, on its first document.
    """
    async with pipeline.reading:
        plans = [
            await plan_document(pipeline.db, document, pipeline.section_tokens, pipeline.places)
            for document in documents
        ]
        drafts = [draft for plan in plans for draft in plan.writes]
        change = Change(
            agent=documents[0].agent,
            drafts=tuple(drafts),
            gone=tuple(memory for plan in plans for memory in plan.gone),
            replaced={d.key: p.old[d.key] for p in plans for d in p.writes if d.key in p.old},
            fresh=frozenset(chain for plan in plans for chain in plan.fresh_chains()),
        )
        rows = tuple(
            DocumentRow(
                plan.document.uri, plan.document.text,
                plan.document.text_hash(pipeline.section_tokens), plan.sections,
                plan.document.folder,
            )
            for plan in plans
        )  # fmt: skip
        whole = await commit(pipeline, change, Attached(rows))
    counts = [_synced(plan) for plan in plans]
    counts[0] = replace(
        counts[0], embedded=whole.embedded, concepts_linked=whole.concepts_linked,
        warnings=(*counts[0].warnings, *whole.warnings),
    )  # fmt: skip
    return counts


def _synced(plan: Plan) -> Synced:
    created = sum(key not in plan.old for key in plan.changed)
    return Synced(
        created, len(plan.changed) - created, plan.sections - len(plan.changed),
        len(plan.gone), warnings=plan.parsed.warnings,
    )  # fmt: skip


async def remove_documents(pipeline: Pipeline, agent: str, uris: Sequence[str]) -> int:
    """Remove documents and all their memories; returns how many memories went."""
    async with pipeline.reading:
        gone = [
            memory
            for uri in uris
            for memory in (await stored.memories_of_document(pipeline.db, agent, uri)).values()
        ]
        change = Change(agent, gone=tuple(gone))
        attached = Attached(gone_documents=tuple(uris), audit="source_removed")
        await commit(pipeline, change, attached)
    return len(gone)


async def store_drafts(pipeline: Pipeline, drafts: Sequence[Draft]) -> Synced:
    """Store pushed memories of one agent; what is there already, with equal text, stays as it is.

    `actions` says of each draft, in order: created, updated or duplicate.
    """
    old = await stored.memories_by_id(pipeline.db, {draft.key for draft in drafts})
    last = {draft.key: draft for draft in drafts}
    writes = [d for d in last.values() if d.key not in old or differs(d, old[d.key])]
    writes = [d if d.key not in old else keep_time(d, old[d.key]) for d in writes]
    replaced = {d.key: old[d.key] for d in writes if d.key in old}
    change = Change(drafts[0].agent, tuple(writes), replaced=replaced)
    whole = await commit(pipeline, change)
    written = {draft.key for draft in writes}
    seen: set[str] = set()
    actions = []
    for draft in drafts:
        is_new = draft.key in written and draft.key not in seen
        action = "updated" if draft.key in whole.replaced else "created"
        actions.append(action if is_new else "duplicate")
        seen.add(draft.key)
    return replace(whole, actions=tuple(actions))


async def remove_memories(pipeline: Pipeline, agent: str, gone: Sequence[StoredMemory]) -> None:
    """Remove memories for good, with their edges and vectors; audited."""
    await commit(pipeline, Change(agent, gone=tuple(gone)), Attached(audit="deleted"))


async def commit(
    pipeline: Pipeline, change: Change, attached: Attached = NOTHING_ATTACHED
) -> Synced:
    """Embed, link and write one change. Without an embedder it is stored, and embedded later."""
    vectors, warnings = await _embed(pipeline.vectors, change)
    written, links = await write_change(pipeline, change, vectors, attached)
    mine = {draft.key for draft in change.drafts}
    return Synced(
        concepts_linked=sum(key in mine for key, _ in links.references.added),
        embedded=len(vectors),
        warnings=warnings,
        concepts=frozenset().union(*(links.concepts_of[key] for key in mine)),
        replaced=frozenset(written.replaced),
        moved=written.regrouped.moved,
    )


async def write_change(
    pipeline: Pipeline, change: Change, vectors: Mapping[str, Vector], attached: Attached
) -> tuple[Change, Links]:
    """Link and write a change with the vectors that were made for it; the others wait.

    Again from the start when another service wrote in between; raises StaleRead when that goes on.
    Returns the change as it was compared with the store, and its links.
    """
    async with pipeline.writing:
        written, links = await _write_current(pipeline, change, vectors, attached)
    if any(draft.key not in vectors for draft in written.drafts):
        pipeline.has_pending.set()
    return written, links


async def _write_current(
    pipeline: Pipeline, change: Change, vectors: Mapping[str, Vector], attached: Attached
) -> tuple[Change, Links]:
    for _ in range(_READ_ATTEMPTS - 1):
        with suppress(StaleRead):
            return await _write_once(pipeline, change, vectors, attached)
    return await _write_once(pipeline, change, vectors, attached)


async def _write_once(
    pipeline: Pipeline, change: Change, vectors: Mapping[str, Vector], attached: Attached
) -> tuple[Change, Links]:
    # Until the write has succeeded the dictionary may know too much: read anew if it fails.
    known = pipeline.dictionaries.pop(change.agent, None)
    dictionary = await read_dictionary(pipeline.db, change.agent, known)
    change = await _compare(pipeline.db, change)
    revision = await revise(pipeline.db, change, pipeline.section_tokens)
    change = revision.added_to(change)
    attached = replace(attached, effects=attached.effects.joined(revision.effects()))
    learn_rows(dictionary, attached.declared.concepts)
    if attached.regroup is not None:
        regrouped = await regroup(pipeline.db, dictionary, change.agent, attached.regroup)
        change = replace(change, regrouped=regrouped)
    links = await find_links(pipeline.db, pipeline.engine, dictionary, change)
    follows, gone_follows = await find_follows(pipeline.db, change)
    await write(
        pipeline.db,
        Writing(
            change, links, follows, gone_follows, vectors, pipeline.vectors.fingerprint,
            pipeline.vectors.form, dictionary.version + 1, attached,
        ),
    )  # fmt: skip
    for slug in links.orphans:
        dictionary.remove(slug)
    dictionary.version += 1
    pipeline.dictionaries[change.agent] = dictionary
    return change, links


async def read_ahead(pipeline: Pipeline, agents: Iterable[str]) -> None:
    """Read the dictionaries of agents before their first write needs them."""
    for agent in dict.fromkeys(agents):
        async with pipeline.writing:
            known = pipeline.dictionaries.get(agent)
            dictionary = await read_dictionary(pipeline.db, agent, known)
            pipeline.dictionaries[agent] = dictionary


async def _compare(db: Database, change: Change) -> Change:
    """Compare a change with the store as it is now: others wrote while this one was embedded."""
    keys = {draft.key for draft in change.drafts} | {memory.id for memory in change.gone}
    now = await stored.memories_by_id(db, keys)
    return replace(
        change,
        gone=tuple(now[memory.id] for memory in change.gone if memory.id in now),
        replaced={draft.key: now[draft.key] for draft in change.drafts if draft.key in now},
    )


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
    except (EmbedderUnavailable, EmbedderRefused, VectorsUnfit) as error:
        log.warning("%d memories wait for their vectors: %s", len(waiting), error.detail)
        return {}, (f"{len(waiting)} memories are stored without vectors yet: {error.detail}",)
    return {draft.key: vector for draft, vector in zip(waiting, made, strict=True)}, ()
