"""Reading one agent's memories, vectors and edges from the store, page by page, newest first."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from service.database import Database
from service.index.agent_index import AgentIndex
from service.index.facts import CorruptRow, Facts, facts_of
from service.index.graph import EdgeTable
from service.index.vectors import Floats, VectorIndex
from service.queries import Query, load_query
from service.vector_forms import read_vector

log = logging.getLogger(__name__)

PAGE: Final = load_query(__package__, "page")
CONCEPT_PAGE: Final = load_query(__package__, "concept_page")
RELATED_PAGE: Final = load_query(__package__, "related_page")
ISA_PAGE: Final = load_query(__package__, "isa_page")

# 5,000 memories with vectors of 384 dimensions are 10 MB on their way.
_PAGE_MEMORIES: Final = 5000
_PAGE_CONCEPTS: Final = 5000
_PAGE_EDGES: Final = 20_000
_LAST_MOMENT: Final = "9999-12-31T23:59:59.999999999Z"
_FACTS: Final = 12
# Key, filters and a short text; a vector is kept as int8 and as float16.
_MEMORY_BYTES: Final = 400
_BYTES_PER_DIMENSION: Final = 3
OVER_BUDGET: Final = "does not fit in MEMORY_INDEX_MEMORY_MB"
OTHER_MODEL: Final = "a vector of another model"
CORRUPT: Final = "a corrupt row"

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """What the store says of its vectors, and how much of one agent there is to expect."""

    fingerprint: str | None
    dimensions: int | None
    memories: int


@dataclass(slots=True)
class Loading:
    """One agent's index on its way into RAM; `loaded` of `expected` memories are there."""

    index: AgentIndex
    stored: Stored
    budget_bytes: int
    loaded: int = 0

    @property
    def most_memories(self) -> int:
        """More than this would not fit, whatever their texts."""
        dimensions = self.stored.dimensions or 0
        return self.budget_bytes // (_MEMORY_BYTES + _BYTES_PER_DIMENSION * dimensions)

    @property
    def is_full(self) -> bool:
        """Whether no more fits."""
        return self.index.bytes > self.budget_bytes


async def stored_facts(db: Database, agent: str) -> Stored:
    """Return what the store says before anything is read; raises StoreUnavailable."""
    embedding = await db.meta("embedding")
    dictionary = await db.meta(["dictionary", agent])
    return Stored(
        embedding.get("fingerprint"), embedding.get("dimensions"), dictionary.get("memories", 0)
    )


async def load(db: Database, loading: Loading) -> None:
    """Fill the index; raises StoreUnavailable. What does not fit or make sense is counted in it.

    Memories come newest first, so that it is the oldest that do not fit. Numpy and the reading of
    the next page run beside each other.
    """
    adding: asyncio.Task[None] | None = None
    async for page in _memory_pages(db, loading.index.agent):
        if adding:
            await adding
        if loading.is_full:
            loading.index.excluded[OVER_BUDGET] = max(
                len(page), loading.stored.memories - loading.loaded
            )
            break
        adding = asyncio.create_task(asyncio.to_thread(_add_page, loading, page))
    if adding:
        await adding
    await _load_graph(db, loading.index)
    await asyncio.to_thread(loading.index.finish)


async def _memory_pages(db: Database, agent: str) -> AsyncIterator[list[Row]]:
    """Read pages by (occurred_at, id): a page begins where the last moment of the one before was.

    `skip` counts the rows of that moment that were seen already.
    """
    until, skip = _LAST_MOMENT, 0
    while True:
        page: list[Row] = await db.run(
            PAGE, agent=agent, until=until, skip=skip, limit=_PAGE_MEMORIES
        )
        if page:
            yield page
        if len(page) < _PAGE_MEMORIES:
            return
        last = page[-1][_FACTS]
        seen = sum(row[_FACTS] == last for row in page)
        until, skip = last, seen + (skip if last == until else 0)


def _add_page(loading: Loading, page: Sequence[Row]) -> None:
    index = loading.index
    facts: list[Facts] = []
    earlier: list[tuple[str, str]] = []
    for row in page:
        try:
            facts.append(facts_of(row[:_FACTS]))
        except CorruptRow as error:
            log.warning("index of agent %s: left out %s, a corrupt row", index.agent, error)
            index.excluded[CORRUPT] += 1
        else:
            earlier += [(row[0], key) for key in row[-1] or ()]
    with index.lock:
        if not loading.loaded:
            index.reserve(min(loading.stored.memories, loading.most_memories))
        index.put_memories(facts)
        _add_vectors(loading, {fact.key for fact in facts}, page)
        for edge in earlier:
            index.put_edge("follows", edge)
    loading.loaded += len(page)


def _add_vectors(loading: Loading, known: set[str], page: Sequence[Row]) -> None:
    keys: list[str] = []
    vectors: list[Floats] = []
    for row in page:
        stored = row[_FACTS + 1]
        if row[0] not in known or not stored or stored.get("vector") is None:
            continue
        if stored.get("fingerprint") != loading.stored.fingerprint:
            loading.index.leave_out_vector(row[0], OTHER_MODEL)
            continue
        try:
            vectors.append(read_vector(stored["vector"]))
        except (ValueError, TypeError) as error:
            loading.index.leave_out_vector(row[0], str(error))
        else:
            keys.append(row[0])
    loading.index.put_vectors(keys, vectors)


async def _load_graph(db: Database, index: AgentIndex) -> None:
    after = ""
    while page := await db.run(CONCEPT_PAGE, agent=index.agent, after=after, limit=_PAGE_CONCEPTS):
        await asyncio.to_thread(_add_concepts, index, page)
        after = page[-1][0]
    for query, table in EDGE_PAGES:
        ends = ("", "")
        while page := await _edge_page(db, query, index.agent, ends):
            await asyncio.to_thread(_add_edges, index, table, page)
            ends = (page[-1][0], page[-1][1])


EDGE_PAGES: Final[tuple[tuple[Query, EdgeTable], ...]] = (
    (RELATED_PAGE, "related_to"),
    (ISA_PAGE, "is_a"),
)


async def _edge_page(db: Database, query: Query, agent: str, ends: tuple[str, str]) -> list[Row]:
    page: list[Row] = await db.run(
        query, agent=agent, after=ends[0], after_end=ends[1], limit=_PAGE_EDGES
    )
    return page


def _add_concepts(index: AgentIndex, page: Sequence[Row]) -> None:
    with index.lock:
        for slug, name, memories, referencing in page:
            if not (isinstance(slug, str) and isinstance(name, str) and isinstance(memories, int)):
                log.warning(
                    "index of agent %s: left out concept %r, a corrupt row", index.agent, slug
                )
                index.excluded[CORRUPT] += 1
                continue
            index.graph.put_concept(slug, name, memories)
            for key in referencing:
                if index.holds(key):
                    index.put_edge("references", (key, slug))


def _add_edges(index: AgentIndex, table: EdgeTable, page: Sequence[Row]) -> None:
    with index.lock:
        for source, target, *weight in page:
            index.put_edge(
                table, (source, target), *weight[:1], is_declared=bool(weight and weight[1])
            )


def empty_index(agent: str, stored: Stored, scanned: int | None) -> AgentIndex:
    """Return the index that loading begins with."""
    dimensions = stored.dimensions
    return AgentIndex(agent, VectorIndex(dimensions, scanned) if dimensions else None)
