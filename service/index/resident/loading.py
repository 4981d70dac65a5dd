"""Reading one agent's memories, vectors and edges from the store, page by page.

An agent that owns much of the store is read by scanning its tables in the order of their keys,
three times faster than by the agent's indexes; a small one, and one that does not fit, by these,
newest first.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, Final

import orjson

from service.index.resident.add_pages import (
    FACTS,
    Loading,
    Page,
    StoreFacts,
    add_concept_edges,
    add_concepts,
    add_edges,
    add_memories,
    add_memory_edges,
    add_picked,
    add_vectors,
)
from service.index.resident.agent_index import AgentIndex
from service.index.resident.graph import EdgeTable
from service.index.resident.vectors import VectorIndex
from service.store.allocator import give_back
from service.store.database import Database, record
from service.store.queries import Query, load_query

log = logging.getLogger(__name__)

MEMORY_COUNT: Final = load_query(__package__, "memory_count")
PAGE: Final = load_query(__package__, "page")
SAME_MOMENT: Final = load_query(__package__, "same_moment")
SCAN_MEMORIES: Final = load_query(__package__, "scan_memories")
SCAN_EMBEDDINGS: Final = load_query(__package__, "scan_embeddings")
SCAN_REFERENCES: Final = load_query(__package__, "scan_references")
SCAN_FOLLOWS: Final = load_query(__package__, "scan_follows")
CONCEPT_PAGE: Final = load_query(__package__, "concept_page")
RELATED_PAGE: Final = load_query(__package__, "related_page")
ISA_PAGE: Final = load_query(__package__, "isa_page")
STRANGE_EDGES: Final = load_query(__package__, "strange_edges")
CONCEPT_EDGES: Final[tuple[tuple[Query, EdgeTable], ...]] = (
    (RELATED_PAGE, "related_to"),
    (ISA_PAGE, "is_a"),
)

_REPORT_SECONDS: Final = 5.0
# 5,000 memories with vectors of 384 dimensions are 10 MB on their way.
_PAGE_MEMORIES: Final = 5000
_PAGE_CONCEPTS: Final = 5000
_PAGE_EDGES: Final = 20_000
# No moment of the store is later, in microseconds since 1970.
_LAST_MOMENT: Final = 2**63 - 1
# From this share of the store on, scanning it whole is faster than picking.
_SCAN_SHARE: Final = 0.25


async def store_facts(db: Database, agent: str) -> StoreFacts:
    """Return what the store says before anything is read; raises StoreUnavailable."""
    embedding = await db.meta("embedding")
    dictionary = await db.meta(["dictionary", agent])
    return StoreFacts(
        embedding.get("fingerprint"), embedding.get("dimensions"), dictionary.get("memories", 0)
    )


def scanned_of(fingerprint: str | None, dimensions: int | None) -> int | None:
    """Return how many first dimensions a scan reads; None for all of them."""
    is_nested = "qwen3-embedding" in (fingerprint or "").lower()
    return dimensions if is_nested else None


def empty_index(agent: str, facts: StoreFacts, scanned: int | None, *, packs: bool) -> AgentIndex:
    """Return the index that loading begins with; with `packs` it holds whole memories."""
    dimensions = facts.dimensions
    return AgentIndex(agent, VectorIndex(dimensions, scanned) if dimensions else None, packs=packs)


async def load(db: Database, loading: Loading) -> None:
    """Fill the index; raises StoreUnavailable. What does not fit or make sense is counted in it."""
    reporting = asyncio.create_task(_report(loading))
    try:
        await _load(db, loading)
    finally:
        reporting.cancel()


async def _load(db: Database, loading: Loading) -> None:
    loading.index.reserve(min(loading.facts.memories, loading.most_memories))
    expected = loading.facts.memories
    is_scanned = expected <= loading.most_memories and await is_much_of_the_store(db, expected)
    if not (is_scanned and await _scan(db, loading)):
        await _pick(db, loading)
    index = loading.index
    for query, table in CONCEPT_EDGES:
        pages = _concept_pages(db, query, index.agent, _PAGE_EDGES)
        await _add_all(pages, partial(add_concept_edges, index, table))
    await asyncio.to_thread(add_edges, index, await db.run(STRANGE_EDGES))
    await asyncio.to_thread(index.finish)
    await give_back()


async def _report(loading: Loading) -> None:
    """Tell in the log how far it is, for as long as this runs."""
    while True:
        await asyncio.sleep(_REPORT_SECONDS)
        log.info("index of agent %s: %s", loading.index.agent, loading.progress)


def log_loaded(index: AgentIndex, seconds: float, caveat: str | None) -> None:
    """Tell in the log what was loaded, and what it leaves out."""
    counts = index.counts()
    log.info(
        "index of agent %s: %s memories, %s vectors, %s concepts in %.1f s, %.0f MB",
        index.agent,
        f"{counts['memory']:,}",
        f"{counts['embedding']:,}",
        f"{counts['concept']:,}",
        seconds,
        index.bytes / 1e6,
    )
    if caveat:
        log.warning("%s", caveat)


async def is_much_of_the_store(db: Database, memories: int) -> bool:
    """Return whether so many memories of an agent are read faster by reading the whole store."""
    stored: int = await db.run(MEMORY_COUNT)
    return memories >= _SCAN_SHARE * stored


async def _scan(db: Database, loading: Loading) -> bool:
    """Read all there is; False where that does not fit: the index is empty again then.

    How long texts are shows only as they are read, and a scan goes by key: what it has read so far
    is not the newest.
    """
    index = loading.index
    await _add_all(_scanned_memories(db, loading), partial(add_memories, loading))
    if loading.is_full:
        scanned = index.vectors.scanned if index.vectors else None
        packs = index.packed is not None
        loading.index = empty_index(index.agent, loading.facts, scanned, packs=packs)
        loading.loaded = 0
        return False
    references = _scanned_edges(db, SCAN_REFERENCES)
    follows = _scanned_edges(db, SCAN_FOLLOWS)
    await asyncio.gather(
        _add_all(_scanned_vectors(db), partial(add_vectors, loading)),
        _add_all(references, partial(add_memory_edges, index, "references")),
        _add_all(follows, partial(add_memory_edges, index, "follows")),
        _load_concepts(db, index),
    )
    return True


async def _add_all(pages: AsyncIterator[Page], add: Callable[[Page], None]) -> None:
    """Add page after page, each while the next one is read."""
    adding: asyncio.Task[None] | None = None
    async for page in pages:
        if adding:
            await adding
        adding = asyncio.create_task(asyncio.to_thread(add, page))
    if adding:
        await adding


async def _scanned_memories(db: Database, loading: Loading) -> AsyncIterator[Page]:
    index = loading.index
    asked = {"agent": index.agent, "whole": index.packed is not None, "limit": _PAGE_MEMORIES}
    after: Any = ""
    while isinstance(after, str) and not loading.is_full:
        page = orjson.loads(await db.run(SCAN_MEMORIES, after=after, **asked))
        yield page
        # Keys that are no texts stand behind all that are.
        after = page[-1][0] if len(page) == _PAGE_MEMORIES else None


async def _scanned_vectors(db: Database) -> AsyncIterator[Page]:
    after: Any = ""
    while isinstance(after, str):
        page: Page = await db.run(SCAN_EMBEDDINGS, after=after, limit=_PAGE_MEMORIES)
        yield page
        after = page[-1][0] if len(page) == _PAGE_MEMORIES else None


async def _scanned_edges(db: Database, query: Query) -> AsyncIterator[Page]:
    after = ""
    while True:
        text: str = await db.run(query, after=after, limit=_PAGE_MEMORIES)
        if not text:
            return
        page = [line.split("\t") for line in text.split("\n")]
        yield page
        if len(page) < _PAGE_MEMORIES or page[-1][0] == after:
            return
        after = page[-1][0]


async def _pick(db: Database, loading: Loading) -> None:
    adding: asyncio.Task[None] | None = None
    async for page in _picked_pages(db, loading.index):
        if adding:
            await adding
        if page and loading.is_full:
            left = loading.facts.memories - loading.loaded
            loading.index.beyond_budget = max(len(page), left)
            loading.index.cut_at = loading.begun_at
            break
        # Adding and the reading of the next page go on beside each other.
        adding = asyncio.create_task(asyncio.to_thread(add_picked, loading, page))
    if adding:
        await adding
    await _load_concepts(db, loading.index)


async def _picked_pages(db: Database, index: AgentIndex) -> AsyncIterator[Page]:
    """Read pages by (occurred_at, id), downwards; what comes or goes meanwhile moves no page."""
    asked = {"agent": index.agent, "whole": index.packed is not None, "limit": _PAGE_MEMORIES}
    until = _LAST_MOMENT
    while True:
        page: Page = await db.run(PAGE, until=until, **asked)
        yield page
        # Below the first row without a moment there are only such rows: all corrupt.
        if len(page) < _PAGE_MEMORIES or page[-1][FACTS + 1] is None:
            return
        until, rest = page[-1][FACTS + 1], page
        while len(rest) == _PAGE_MEMORIES:
            last = record("memory", rest[-1][0])
            rest = await db.run(SAME_MOMENT, moment=until, id=last, **asked)
            yield rest


async def _load_concepts(db: Database, index: AgentIndex) -> None:
    pages = _concept_pages(db, CONCEPT_PAGE, index.agent, _PAGE_CONCEPTS)
    await _add_all(pages, partial(add_concepts, index))


async def _concept_pages(db: Database, query: Query, agent: str, size: int) -> AsyncIterator[Page]:
    """Read pages of rows whose ids begin with the agent, in the order of their ids."""
    after, end = [agent], [f"{agent}\x00"]
    while True:
        found = await db.run(query, after=after, end=end, limit=size)
        page: Page = orjson.loads(found) if isinstance(found, str) else found
        yield page
        if len(page) < size:
            return
        after = page[-1][0]
