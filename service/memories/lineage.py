"""Where a memory comes from, and where its words went: summaries, and whoever was given it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from service.access.caller import Caller
from service.access.operations import NEEDED
from service.access.origins import Origin
from service.records import Memory
from service.sessions.given import GivenSession, sessions_given
from service.store.database import Database, record
from service.store.queries import load_query
from service.text.titles import title_of
from service.web.fields import SourceFields

SOURCES_OF: Final = load_query(__package__, "sources_of")
SUMMARIES_OF: Final = load_query(__package__, "summaries_of")
NOTED: Final = load_query(__package__, "noted")

_PAGE_IDS: Final = 500
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
class Relative:
    """A memory that another one is made of, or that is made of it."""

    id: str
    title: str
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a memory comes from and where its words went.

    `origin` is whose words it has, `client` the program that sent them, `key` the id of its key.
    `sources` are the memories that a summary is made of, `summaries` those made of this one.
    `written` and `given` are lines of the audit, `sessions` those that were given it; all three are
    null for whoever is no admin.
    """

    id: str
    agent: str
    origin: Origin
    trust_tier: str
    client: str | None
    session: str | None
    key: str | None
    source_kind: str
    source: SourceFields
    created_at: datetime
    updated_at: datetime
    sources: list[Relative]
    summaries: list[Relative]
    written: list[Noted] | None
    given: list[Noted] | None
    sessions: list[GivenSession] | None


# Called the same in a memory.
_SAME: Final = Lineage.__dataclass_fields__.keys() & Memory.__dataclass_fields__.keys() - {"source"}


@dataclass(frozen=True, slots=True)
class AuditTrail:
    """Who wrote some memories, and who was given them, the newest first.

    Reads are noted with MEMORY_AUDIT=all alone; of both at most the last 1,000 lines. `sessions`
    are those that a search or a recall named as the one that asks.
    """

    written: list[Noted]
    given: list[Noted]
    sessions: list[GivenSession]


async def audit_trail(db: Database, keys: Sequence[str], caller: Caller) -> AuditTrail:
    """Return what the audit says of these memories, as far as the caller may read it."""
    if not keys:
        return AuditTrail([], [], [])
    agents = None if caller.agents is None else list(caller.agents)
    rows = await db.run(NOTED, ids=list(keys), agents=agents, own_key=caller.key, limit=_MOST_NOTED)
    trail = AuditTrail([], [], await sessions_given(db, keys, agents))
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


async def summaries_of(db: Database, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return the summaries that say something of these memories: id, title and content."""
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(keys), _PAGE_IDS):
        page = keys[start : start + _PAGE_IDS]
        rows = await db.run(SUMMARIES_OF, ids=[record("memory", key) for key in page])
        found |= {row["id"]: row for row in rows}
    return [found[key] for key in sorted(found)]


async def lineage_of(db: Database, memory: Memory, admin: Caller | None) -> Lineage:
    """Return where a memory comes from and where its words went; what an `admin` is told too."""
    trail = await audit_trail(db, [memory.id], admin) if admin else None
    source = memory.source
    return Lineage(
        **{name: getattr(memory, name) for name in _SAME},
        source=SourceFields(source.uri, source.line_start, source.line_end, source.ref),
        sources=_relatives(await sources_of(db, memory.id)),
        summaries=_relatives(await summaries_of(db, [memory.id])),
        written=trail.written if trail else None,
        given=trail.given if trail else None,
        sessions=trail.sessions if trail else None,
    )


def _relatives(rows: Sequence[dict[str, Any]]) -> list[Relative]:
    return [
        Relative(row["id"], title_of(row["title"], row["content"]), row.get("origin"))
        for row in rows
    ]
