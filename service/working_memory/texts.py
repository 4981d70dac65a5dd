"""Working memories as they are stored: screened like all that comes in, whole or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from service.access.caller import Caller
from service.access.origins import ORIGINS, TIERS, Origin, tier_of
from service.errors import FieldError, InvalidRequest
from service.records import QUARANTINED
from service.sanitise.sanitiser import Sanitiser
from service.store.database import Database, record
from service.store.queries import Query, load_query
from service.threads import read_texts

READ: Final = load_query(__package__, "read")
READ_SOME: Final = load_query(__package__, "read_some")
PUT: Final = load_query(__package__, "put")
APPEND: Final = load_query(__package__, "append")
DELETE: Final = load_query(__package__, "delete")
CLEAR_SEEN: Final = load_query(__package__, "clear_seen")
KEEP_REST: Final = load_query(__package__, "keep_rest")

MOST_CHARACTERS: Final = 200_000


@dataclass(frozen=True, slots=True)
class Place:
    """Whose focus it is: an agent's own, that of a project by its scope, or of one session."""

    agent: str
    scope: str | None = None
    session: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others."""
        return self.agent, self.scope or "", self.session or ""

    @property
    def id(self) -> Any:
        """The record that it stands in."""
        return record("working_memory", list(self.key))


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """What is in focus, and whose words it has: the lowest origin of its parts, who wrote last."""

    text: str
    origin: Origin
    trust_tier: str
    updated_at: datetime
    client: str | None = None
    key: str | None = None


async def read(db: Database, place: Place) -> WorkingMemory | None:
    """Return the working memory of a place, None where nothing is in focus."""
    row: Mapping[str, Any] | None = await db.run(READ, id=place.id)
    return WorkingMemory(**row) if row else None


async def read_some(db: Database, places: Sequence[Place]) -> list[WorkingMemory]:
    """Return the working memories of places, in their order, of those where something is."""
    rows = await db.run(READ_SOME, ids=[place.id for place in places])
    found = {tuple(row.pop("place")): WorkingMemory(**row) for row in rows}
    return [found[place.key] for place in places if place.key in found]


async def put(
    db: Database, sanitiser: Sanitiser, place: Place, text: str, sender: Caller
) -> tuple[str, ...]:
    """Set the working memory of a place; returns what screening tells; raises TextRefused."""
    return await _write(db, sanitiser, PUT, place, text.strip(), sender)


async def append(
    db: Database, sanitiser: Sanitiser, place: Place, text: str, sender: Caller
) -> tuple[str, ...]:
    """Put a part under a heading of now at the end; returns what screening tells.

    Two that append at once are both there. Raises TextRefused, and InvalidRequest for what would
    become too long.
    """
    part = f"## [{datetime.now(UTC):%Y-%m-%d %H:%M}]\n{text.strip()}"
    return await _write(db, sanitiser, APPEND, place, part, sender)


async def clear(db: Database, place: Place) -> None:
    """Let nothing be in focus any more."""
    await db.run(DELETE, id=place.id)


async def clear_seen(db: Database, place: Place, seen: WorkingMemory, rest: str) -> bool:
    """Let nothing but a rest be in focus any more, unless it changed since it was seen.

    Returns whether nothing is.
    """
    was = {"id": place.id, "updated_at": seen.updated_at, "text": seen.text}
    if rest:
        await db.run(KEEP_REST, **was, rest=rest)
    else:
        await db.run(CLEAR_SEEN, **was)
    return await read(db, place) is None


async def _write(
    db: Database, sanitiser: Sanitiser, query: Query, place: Place, text: str, sender: Caller
) -> tuple[str, ...]:
    screened = await read_texts(len(text), sanitiser.screen, {"text": text}, sender.origin)
    tier = QUARANTINED if screened.is_quarantined else tier_of(sender.origin)
    params = {
        "id": place.id, "agent": place.agent, "text": screened.texts["text"], "trust_tier": tier,
        "now": datetime.now(UTC), **asdict(sender.provenance), **sender.senders,
    }  # fmt: skip
    if query is APPEND:
        lower = (*ORIGINS[: ORIGINS.index(sender.origin)], *TIERS[: TIERS.index(tier)])
        params |= {"lower": list(lower), "most": MOST_CHARACTERS}
    if await db.run(query, **params) is False:
        what = (
            f"with it the working memory had more than {MOST_CHARACTERS:,} characters: set a "
            "shorter one with PUT, or clear it with DELETE"
        )
        raise InvalidRequest(f"/text: {what}.", (FieldError("/text", what),))
    return screened.warnings
