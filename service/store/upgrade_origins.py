"""Memories of the versions before 5 get the origin of their way in, and the trust that it allows.

Nothing becomes the owner's that was not read from a configured folder.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from service.access.origins import Origin, lower_tier, lowest, origin_of, tier_of
from service.records import CONSOLIDATION
from service.store.driver import RecordID
from service.store.queries import Query, load_query

log = logging.getLogger(__name__)

OPEN_ORIGINS: Final = load_query(__package__, "open_origins")
ORIGINS_PAGE: Final = load_query(__package__, "origins_page")
SCANNED_DOCUMENTS: Final = load_query(__package__, "scanned_documents")
ORIGINS_OF_SOURCES: Final = load_query(__package__, "origins_of_sources")
WRITE_ORIGINS: Final = load_query(__package__, "write_origins")

_PAGE_MEMORIES: Final = 1000


class Runs(Protocol):
    """What is asked of the database here."""

    async def run(self, query: Query, **params: Any) -> Any:
        """Run one named query."""


async def upgrade_origins(db: Runs) -> None:
    """Give every memory its origin, 1,000 in a transaction; interrupted, it begins anew."""
    await db.run(OPEN_ORIGINS)
    scanned = {tuple(key) for key in await db.run(SCANNED_DOCUMENTS)}
    after, done = "", 0
    while page := await db.run(ORIGINS_PAGE, after=after, limit=_PAGE_MEMORIES):
        await _write(db, (_given(row, scanned) for row in page))
        after, done = page[-1]["id"], done + len(page)
        log.info("%s memories have an origin now", f"{done:,}")
    summaries: Sequence[Mapping[str, Any]] = await db.run(ORIGINS_OF_SOURCES)
    for start in range(0, len(summaries), _PAGE_MEMORIES):
        some = [row for row in summaries[start : start + _PAGE_MEMORIES] if row["origins"]]
        await _write(db, ({"id": row["id"], "origin": lowest(row["origins"])} for row in some))


def _origin(row: Mapping[str, Any], scanned: set[tuple[str, ...]]) -> Origin:
    is_scanned = (row["agent"], row.get("uri")) in scanned
    if row["source_kind"] == CONSOLIDATION:
        return "untrusted"  # until its sources are known
    # A tier of an owner's file was set on it since, and says nothing of whose words they are.
    return "owner" if is_scanned else origin_of("agent", row["source_kind"], row["trust_tier"])


def _given(row: Mapping[str, Any], scanned: set[tuple[str, ...]]) -> dict[str, Any]:
    origin = _origin(row, scanned)
    given = {"id": row["id"], "origin": origin}
    # Trust was what nobody spoke of. A summary and its sources have one, and that stays.
    if row["source_kind"] != CONSOLIDATION and row.get("consolidated_into") is None:
        given["trust_tier"] = lower_tier(row["trust_tier"], tier_of(origin))
    return given


async def _write(db: Runs, given: Iterable[Mapping[str, Any]]) -> None:
    rows = [{**row, "id": RecordID("memory", row["id"])} for row in given]
    if rows:
        await db.run(WRITE_ORIGINS, origins=rows)
