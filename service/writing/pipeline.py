"""The one way in: bring the store in line with documents and pushed memories.

Read, compare, embed what is new, then, in the agent's turn to write: compare again, let the steps
add to the change, link, chain, and write all of it in one transaction. A crash at any step leaves
the state before; sending again is free.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

from service.access.caller import own_scopes
from service.drafts.drafts import Cutting, DocumentText
from service.errors import StaleRead
from service.index.engine import Engine
from service.inference.vectors import Vectors
from service.links import stored
from service.links.change import Change, DocumentRow, Step
from service.links.dictionaries import Dictionaries
from service.links.links import Links, find_follows, find_links
from service.links.merges import NOTHING_REGROUPED, Regrouped, regroup
from service.links.vocabulary import learn_rows, read_dictionary
from service.records import Vector
from service.sanitise.sanitiser import Sanitiser
from service.store.database import Database
from service.writing.diff import DocumentDiff, diff_document
from service.writing.embed_now import Embedded, embed_now, fitting
from service.writing.leaving import Leaving, set_words
from service.writing.quotas import Quotas
from service.writing.screening import screen_document
from service.writing.tables.linked_change import LinkedChange
from service.writing.together import Together
from service.writing.tombstones import bury, leave_out
from service.writing.transaction import write
from service.writing.turns import Turns
from service.writing.versions import Versions

# Several services on one database: each try reads anew what the others wrote.
_READ_ATTEMPTS: Final = 8
_SUPERSEDED: Final = "A newer version of this document came in meanwhile, and was stored."


@dataclass(slots=True)
class Pipeline:
    """What every way in shares: the store, vectors, indexes, dictionaries, steps and turns.

    Turns are an agent's. None is held while an embedder is waited for, but that to consolidate.
    """

    db: Database
    vectors: Vectors
    engine: Engine
    section_tokens: int = 200
    places: Mapping[str, str] = field(default_factory=dict)
    steps: Sequence[Step] = ()
    dictionaries: Dictionaries = field(default_factory=Dictionaries)
    # One change at a time is linked and written: links are differences to what is stored.
    writing: Turns = field(default_factory=Turns)
    together: Together = field(default_factory=Together)
    # Documents keep their turn from comparing to writing, so that two versions never mix.
    reading: Turns = field(default_factory=Turns)
    versions: Versions = field(default_factory=Versions)
    # Changes that this process wrote: when it is as before, what was read still holds.
    written: int = 0
    consolidating: Turns = field(default_factory=Turns)
    regrouping: Turns = field(default_factory=Turns)
    moving: Turns = field(default_factory=Turns)
    # What may have been sent before is looked up and stored in one turn.
    sending: Turns = field(default_factory=Turns)
    has_unfinished: asyncio.Event = field(default_factory=asyncio.Event)
    has_unlinked: asyncio.Event = field(default_factory=asyncio.Event)
    has_pending: asyncio.Event = field(default_factory=asyncio.Event)
    max_sections: int = 4000
    sanitiser: Sanitiser = field(default_factory=Sanitiser)
    quotas: Quotas = field(default_factory=Quotas)

    @property
    def cutting(self) -> Cutting:
        """How documents are cut."""
        return Cutting(self.section_tokens, self.max_sections)


@dataclass(frozen=True, slots=True)
class Synced:
    """What became of one document, or of one batch: counts, and what a caller should know.

    `written` names the memories that were, `replaced` those there before, `ids` and `actions` what
    each draft is stored as and what became of it, `told` what its sender should know of it,
    `regrouped` which concepts were merged or parted.
    """

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    concepts_linked: int = 0
    embedded: int = 0
    warnings: tuple[str, ...] = ()
    concepts: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()
    ids: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    told: tuple[tuple[str, ...], ...] = ()
    regrouped: Regrouped = NOTHING_REGROUPED


async def sync_documents(
    pipeline: Pipeline,
    documents: Sequence[DocumentText],
    *,
    leaving: Leaving | None = None,
    is_scan: bool = False,
) -> list[Synced]:
    """Make the store hold exactly these documents' sections; one transaction for all of them.

    All documents belong to one agent. Returns one count for each document, in their order;
    links and vectors are counted for the whole group, on its first document. Embedding happens
    before the agent's turn, so that a hung embedder holds up nobody; of two versions of one
    document the one that came last stays, whichever is embedded first. `leaving`: see
    diff_document; what leaves its place by this joins it. `is_scan`: nobody waits, so that the time
    for vectors is each request's, not the whole call's.
    """
    sanitiser, agent = pipeline.sanitiser, documents[0].agent
    leaving = Leaving() if leaving is None else leaving
    documents = [
        one if one.is_screened else await asyncio.to_thread(screen_document, sanitiser, one)
        for one in documents
    ]
    with pipeline.versions.under_way(agent, [document.uri for document in documents]) as version:
        written = pipeline.written
        diffs = await _diffs(pipeline, documents, leaving)
        planned = await asyncio.to_thread(_change_of, diffs)
        embedded = await embed_now(pipeline.vectors, planned, is_scan=is_scan)
        async with pipeline.reading.of(agent):
            current = [one for one in documents if version.is_newest(one.uri)]
            if pipeline.written != written or len(current) < len(documents):
                diffs = await _diffs(pipeline, current, leaving)
            change = await asyncio.to_thread(_change_of, diffs)
            left = await set_words(pipeline.db, change)
            whole = await commit_embedded(pipeline, change, embedded) if diffs else Synced()
            leaving.add(left)
            version.is_written([one.uri for one in current])
    found = {diff.document.uri: _synced(diff) for diff in diffs}
    counts = [found.get(one.uri, Synced(warnings=(_SUPERSEDED,))) for one in documents]
    counts[0] = replace(
        counts[0], embedded=whole.embedded, concepts_linked=whole.concepts_linked,
        warnings=(*counts[0].warnings, *whole.warnings),
    )  # fmt: skip
    return counts


async def _diffs(
    pipeline: Pipeline, documents: Sequence[DocumentText], leaving: Leaving
) -> list[DocumentDiff]:
    diffs = [
        await diff_document(pipeline.db, document, pipeline.cutting, pipeline.places, leaving)
        for document in documents
    ]
    if diffs:
        await leave_out(pipeline.db, diffs[0].document.agent, diffs)
    return diffs


def _change_of(diffs: Sequence[DocumentDiff]) -> Change:
    return Change(
        agent=diffs[0].document.agent if diffs else "",
        drafts=tuple(draft for diff in diffs for draft in diff.writes),
        gone=tuple(memory for diff in diffs for memory in diff.gone),
        replaced={d.id: one.old[d.id] for one in diffs for d in one.writes if d.id in one.old},
        fresh=frozenset(chain for diff in diffs for chain in diff.fresh_chains()),
        documents=tuple(map(_document_row, diffs)),
        scopes=own_scopes(),
    )


def _document_row(diff: DocumentDiff) -> DocumentRow:
    document = diff.document
    return DocumentRow(
        document.uri, document.text, diff.text_hash, diff.sections, document.folder,
        document.sender, tuple(diff.drafts),
    )  # fmt: skip


def _synced(diff: DocumentDiff) -> Synced:
    created = sum(key not in diff.old for key in diff.changed)
    return Synced(
        created, len(diff.changed) - created, diff.sections - len(diff.changed),
        len(diff.gone), warnings=diff.warnings,
    )  # fmt: skip


async def commit(pipeline: Pipeline, change: Change) -> Synced:
    """Embed, link and write one change. Without an embedder it is stored, and embedded later."""
    return await commit_embedded(pipeline, change, await embed_now(pipeline.vectors, change))


async def commit_embedded(
    pipeline: Pipeline, change: Change, embedded: Embedded, *, waits: bool = True
) -> Synced:
    """Link and write one change with what was embedded for it before; `waits`: see write_change."""
    mine = {draft.id for draft in change.drafts}
    vectors = {key: vector for key, vector in embedded.vectors.items() if key in mine}
    written, links = await write_change(pipeline, change, vectors, waits=waits)
    mine = {draft.id for draft in written.drafts}
    return Synced(
        concepts_linked=sum(key in mine for key, _ in links.references.added),
        embedded=len(vectors),
        warnings=embedded.warnings,
        concepts=frozenset().union(*(links.concepts_of.get(key, ()) for key in mine)),
        written=frozenset(mine),
        replaced=frozenset(written.replaced),
        regrouped=written.regrouped,
    )


async def write_change(
    pipeline: Pipeline, change: Change, vectors: Mapping[str, Vector], *, waits: bool = True
) -> tuple[Change, Links]:
    """Link and write a change with the vectors that were made for it; the others wait.

    Again from the start when another service wrote in between; raises StaleRead when that goes on.
    Returns the change as written, and its links: once it can be searched, if it `waits` for that.
    """
    turn, write_now = pipeline.writing.of(change.agent), partial(_write_current, pipeline)
    written, links = await pipeline.together.write(turn, change, vectors, write_now)
    if change.in_turn is not None:
        vectors = fitting(vectors, change, written)
    if any(draft.id not in vectors for draft in written.drafts):
        pipeline.has_pending.set()
    if links.unlinked:
        pipeline.has_unlinked.set()
    if waits:  # behind the turn: the next change is linked without the index
        await pipeline.db.taken_in()
    return written, links


async def _write_current(
    pipeline: Pipeline, change: Change, vectors: Mapping[str, Vector]
) -> tuple[Change, Links]:
    for _ in range(_READ_ATTEMPTS - 1):
        with suppress(StaleRead):
            return await _write_once(pipeline, change, vectors)
    return await _write_once(pipeline, change, vectors)


async def _write_once(
    pipeline: Pipeline, change: Change, vectors: Mapping[str, Vector]
) -> tuple[Change, Links]:
    db, agent = pipeline.db, change.agent
    # Until the write has succeeded the dictionary may know too much: read anew if it fails. Where
    # nobody else writes it is the store's; if it were not, the transaction would find that out.
    dictionary = pipeline.dictionaries.take(agent)
    if dictionary is None or db.address.folder is None:
        dictionary = await read_dictionary(db, agent, dictionary)
    if change.in_turn is not None:
        planned, change = change, await change.in_turn(db, change)
        vectors = fitting(vectors, planned, change)
    change = await bury(db, await _compare(db, change))
    for step in pipeline.steps:
        change = await step(db, change)
    learn_rows(dictionary, change.declared.concepts)
    if change.regroup is not None:
        change = replace(
            change, regrouped=await regroup(db, pipeline.engine, dictionary, agent, change.regroup)
        )
    async with pipeline.quotas.held(db, change):
        links = await find_links(db, pipeline.engine, dictionary, change)
        follows, gone_follows = await find_follows(db, change)
        await write(
            db,
            LinkedChange(
                change, links, frozenset(follows), frozenset(gone_follows), vectors,
                pipeline.vectors.fingerprint, pipeline.vectors.form, dictionary.version + 1,
                datetime.now(UTC),
            ),
        )  # fmt: skip
    dictionary.remove(*links.orphans.slugs)
    dictionary.version += 1
    pipeline.dictionaries.put(agent, dictionary)
    pipeline.written += 1
    return change, links


async def read_ahead(pipeline: Pipeline, agents: Iterable[str]) -> None:
    """Read the dictionaries of agents before their first write needs them."""
    for agent in dict.fromkeys(agents):
        async with pipeline.writing.of(agent):
            known = pipeline.dictionaries.take(agent)
            pipeline.dictionaries.put(agent, await read_dictionary(pipeline.db, agent, known))


async def _compare(db: Database, change: Change) -> Change:
    """Compare a change with the store as it is now: others wrote while this one was embedded."""
    keys = {draft.id for draft in change.drafts} | {memory.id for memory in change.gone}
    return change.compared(await stored.memories_by_id(db, keys))
