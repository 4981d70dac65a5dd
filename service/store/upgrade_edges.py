"""Edges of the versions before 4, of the kind RELATION, become plain rows."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from service.store.driver import RecordID
from service.store.queries import Query, load_query

log = logging.getLogger(__name__)

OPEN_EDGES: Final = load_query(__package__, "open_edges")
CLOSE_EDGES: Final = load_query(__package__, "close_edges")
MOVE_EDGES: Final = load_query(__package__, "move_edges")
OLD_EDGES: Final = {
    "references": load_query(__package__, "old_references"),
    "follows": load_query(__package__, "old_follows"),
    "related_to": load_query(__package__, "old_related_to"),
}

_PAGE_EDGES: Final = 2000

Row = Mapping[str, Any]


class Runs(Protocol):
    """What is asked of the database here."""

    async def run(self, query: Query, **params: Any) -> Any:
        """Run one named query."""


async def upgrade_edges(db: Runs) -> None:
    """Move every edge, 2,000 in a transaction; one that was interrupted goes on."""
    await db.run(OPEN_EDGES)
    for table, query in OLD_EDGES.items():
        after: Any = []
        moved = 0
        while page := await db.run(query, after=after, limit=_PAGE_EDGES):
            await db.run(MOVE_EDGES, **_moved(table, page))
            moved += len(page)
            log.info("%s: %s edges are plain rows now", table, f"{moved:,}")
            after = page[-1]["id"] if isinstance(page[-1]["id"], list) else after
    await db.run(CLOSE_EDGES)


def _moved(table: str, page: Sequence[Row]) -> dict[str, Any]:
    """Return the values of move_edges.surql."""
    return {
        "old": [RecordID(table, row["id"]) for row in page],
        "references": _by_memory(table, page, "concepts") if table == "references" else [],
        "follows": _by_memory(table, page, "earlier") if table == "follows" else [],
        "related": list(map(_related, page)) if table == "related_to" else [],
    }


def _by_memory(table: str, page: Sequence[Row], field: str) -> list[dict[str, Any]]:
    ends: dict[str, list[Any]] = defaultdict(list)
    for row in page:
        ends[row["in"]].append(row["out"])
    return [{"id": RecordID(table, key), field: found} for key, found in ends.items()]


def _related(row: Row) -> dict[str, Any]:
    agent, slug = row["in"]
    return {
        "id": RecordID("related_to", [agent, slug, row["out"][1]]),
        "out": RecordID("concept", row["out"]),
        "weight": row["weight"], "is_declared": row["is_declared"],
    }  # fmt: skip
