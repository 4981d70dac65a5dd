"""Where a memory comes from, and where its words went: summaries, and whoever was given it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.access.operations import NEEDED
from service.store.database import Database, record
from service.store.queries import load_query

SOURCES_OF: Final = load_query(__package__, "sources_of")
NOTED: Final = load_query(__package__, "noted")

_MOST_NOTED: Final = 1000
# It tells no text.
_OWN: Final = "read_lineage"


@dataclass(frozen=True, slots=True)
class Noted:
    """A line of the audit: who did what, for which agent, and when."""

    at: datetime
    operation: str | None
    key: str | None
    name: str | None
    agent: str | None


@dataclass(frozen=True, slots=True)
class AuditTrail:
    """What the audit says of memories, the newest first: who wrote them, and who was given them.

    Reads are noted with MEMORY_AUDIT=all alone; of both at most the last 1,000 lines.
    """

    written: list[Noted]
    given: list[Noted]


async def audit_trail(db: Database, keys: Iterable[str]) -> AuditTrail:
    """Return what the audit says of these memories."""
    rows = await db.run(NOTED, ids=list(keys), limit=_MOST_NOTED)
    trail = AuditTrail([], [])
    for row in rows:
        noted = Noted(**{name: row.get(name) for name in Noted.__dataclass_fields__})
        is_read = NEEDED.get(noted.operation or "") == ("read",)
        if noted.operation != _OWN:
            (trail.given if is_read else trail.written).append(noted)
    return trail


async def sources_of(db: Database, key: str) -> list[dict[str, str]]:
    """Return the memories that a summary is made of: id, title, content and origin."""
    rows: list[dict[str, str]] = await db.run(SOURCES_OF, id=record("memory", key))
    return sorted(rows, key=lambda row: row["id"])
