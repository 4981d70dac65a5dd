"""The census: how much the index holds of each table, against how much the store does."""

from collections import Counter
from typing import Any, Final

from service.index.resident.agent_index import AgentIndex
from service.index.resident.follow import Follower
from service.index.resident.loading import is_much_of_the_store
from service.store.database import Database
from service.store.queries import load_query

CENSUS_OF_CONCEPTS: Final = load_query(__package__, "census_of_concepts")
CENSUS_OF_MEMORIES: Final = load_query(__package__, "census_of_memories")
CENSUS_PAGE: Final = load_query(__package__, "census_page")

# Counts are comparable when nothing was written while the store counted.
_ATTEMPTS: Final = 5
# Of 5,000 a page takes .4 s, in which nothing is given back of what the engine reads.
_PAGE_MEMORIES: Final = 5000
# Before every id.
_FIRST: Final = -(2**63)


async def find_drift(db: Database, index: AgentIndex, follower: Follower) -> dict[str, int] | None:
    """Return by table how many rows the index holds more (or less) than the store.

    Rows that the index leaves out on purpose are no drift. None if the store was never at rest, or
    if not all of it fits. Raises StoreUnavailable.
    """
    last: dict[str, int] | None = None
    for _ in range(_ATTEMPTS):
        await follower.catch_up()
        before, changes = index.counts(), follower.changes
        stored = await _count(db, index)
        await follower.catch_up()
        if index.beyond_budget:
            return None
        if index.counts() == before:
            held = Counter(before) + Counter(table for table, _ in list(index.corrupt))
            held["embedding"] += len(index.unfit)
            drift = {name: held[name] - n for name, n in sorted(stored.items()) if held[name] != n}
            # What went from a page that was read, and came to a later one, is counted twice.
            if not drift or drift == last or follower.changes == changes:
                return drift
            last = drift
    return None


async def _count(db: Database, index: AgentIndex) -> dict[str, int]:
    """Return how much the store has of an agent, by table."""
    counts: dict[str, int] = await db.run(CENSUS_OF_CONCEPTS, agent=index.agent)
    is_much = await is_much_of_the_store(db, index.memories)
    of_memories = await _count_by_pages(db, index.agent) if is_much else None
    return counts | (of_memories or await db.run(CENSUS_OF_MEMORIES, agent=index.agent))


async def _count_by_pages(db: Database, agent: str) -> dict[str, int] | None:
    """Scan all there is, in the order of ids; None where some are no texts, written by hand."""
    counts = dict.fromkeys(("memory", "embedding", "references", "follows"), 0)
    after: Any = _FIRST
    while True:
        page = await db.run(CENSUS_PAGE, after=after, agent=agent, limit=_PAGE_MEMORIES)
        rows = page["memories"]
        if not all(isinstance(key, str) for key, _, _ in rows):
            return None
        embedded = {key: is_embedded for key, is_own, is_embedded in rows if is_own}
        counts["memory"] += len(embedded)
        counts["embedding"] += sum(map(bool, embedded.values()))
        for table in ("references", "follows"):
            counts[table] += sum(edges for key, edges in page[table] if key in embedded)
        if len(rows) < _PAGE_MEMORIES:
            return counts
        after = rows[-1][0]
