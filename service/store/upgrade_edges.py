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
        "references": _references(page) if table == "references" else [],
        "follows": _follows(page) if table == "follows" else [],
        "related": list(map(_related, page)) if table == "related_to" else [],
    }


def _references(page: Sequence[Row]) -> list[dict[str, Any]]:
    concepts: dict[str, list[Any]] = defaultdict(list)
    for row in page:
        concepts[row["in"]].append(row["out"])
    return [{"id": RecordID("references", key), "concepts": c} for key, c in concepts.items()]


def _follows(page: Sequence[Row]) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for row in page:
        for key in (row["in"], row["out"]):
            new = {"id": RecordID("follows", key), "earlier": [], "later": []}
            rows.setdefault(key, new)
        rows[row["in"]]["earlier"].append(row["out"])
        rows[row["out"]]["later"].append(row["in"])
    return list(rows.values())


def _related(row: Row) -> dict[str, Any]:
    agent, slug = row["in"]
    return {
        "id": RecordID("related_to", [agent, slug, row["out"][1]]),
        "weight": row["weight"], "is_declared": row["is_declared"] or None,
    }  # fmt: skip
