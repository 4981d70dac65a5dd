"""The census: how much the index holds of each table, against how much the store does."""

from collections import Counter
from typing import Final

from service.index.resident.agent_index import AgentIndex
from service.index.resident.follow import Follower
from service.store.database import Database
from service.store.queries import load_query

CENSUS: Final = load_query(__package__, "census")

# Counts are comparable when nothing was written while the store counted.
_ATTEMPTS: Final = 5


async def find_drift(db: Database, index: AgentIndex, follower: Follower) -> dict[str, int] | None:
    """Return by table how many rows the index holds more (or less) than the store.

    Rows that the index leaves out on purpose are no drift. None if the store was never at rest, or
    if not all of it fits. Raises StoreUnavailable.
    """
    for _ in range(_ATTEMPTS):
        await follower.catch_up()
        before = index.counts()
        stored: dict[str, int] = await db.run(CENSUS, agent=index.agent)
        await follower.catch_up()
        if index.beyond_budget:
            return None
        if index.counts() == before:
            held = Counter(before) + Counter(table for table, _ in index.corrupt)
            held["embedding"] += len(index.unfit)
            return {name: held[name] - n for name, n in stored.items() if held[name] != n}
    return None
