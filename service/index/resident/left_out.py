"""What an index in RAM cannot tell, because it does not hold all of its agent's memories."""

from collections.abc import Iterable
from typing import Any, Final

from service.index.resident.agent_index import AgentIndex
from service.store.database import Database
from service.store.queries import load_query

REFERENCES_PAGE: Final = load_query(__package__, "references_page")

_PAGE_MEMORIES: Final = 5000


def lacks_some(index: AgentIndex, *tables: str) -> bool:
    """Say whether an index leaves out rows of memories, or corrupt ones of these tables."""
    return index.beyond_budget > 0 or any(table in tables for table, _ in index.corrupt)


async def find_referencing(db: Database, agent: str, slugs: Iterable[str]) -> set[str]:
    """Return the ids of the memories that reference one of these concepts: reads every row.

    A resident store has no index over them. Raises what the store does.
    """
    keys, found, after = [[agent, slug] for slug in slugs], set[str](), ""
    while True:
        page: dict[str, Any] = await db.run(
            REFERENCES_PAGE, after=after, keys=keys, limit=_PAGE_MEMORIES
        )
        found.update(page["found"])
        if not isinstance(last := page["last"], str):
            return found
        after = last
