"""Whether a decision holds: while no other one that stands took its place.

What is quarantined, deleted or no decision any more took no place: the end that the other one got
by it is taken back, in the same transaction. An end that somebody set stays.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from service.drafts.drafts import Draft
from service.drafts.stored_memory import StoredMemory, draft_of_stored
from service.links import stored
from service.links.change import Change
from service.records import QUARANTINED
from service.store.database import Database, record
from service.store.queries import Fragment, load_query

PLACES: Final = load_query(__package__, "places")
SUPERSEDE: Final = load_query(__package__, "supersede")

DECISION: Final = "decision"
_MOMENT: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Place:
    """A decision and the one whose place it took.

    That one got the end `ended_at` by it, and had the end `valid_until` before.
    """

    superseding: str
    superseded: str
    ended_at: datetime | None = None
    valid_until: datetime | None = None

    def row(self) -> dict[str, Any]:
        """Return the edge as it is stored."""
        return {
            "in": record("memory", self.superseding), "out": record("memory", self.superseded),
            "ended_at": self.ended_at, "valid_until": self.valid_until,
        }  # fmt: skip


async def take_place(db: Database, change: Change, superseding: str, superseded: str) -> Change:
    """Return a change in which one decision takes the place of another; said again it is so."""
    places = [one for one in await _places(db, [superseded]) if one.superseded == superseded]
    added = Place(superseding, superseded)
    return await _settled(db, change, [*places, added])


async def hold(db: Database, change: Change) -> Change:
    """Return a change with what it does to decisions whose place others took.

    Who took the place of one that falls has taken the places that this one took, too. A step of
    the pipeline.
    """
    gone = {memory.id for memory in change.gone if memory.kind == DECISION}
    turned = {
        draft.id: _stands(draft)
        for draft in change.drafts
        if draft.id in change.replaced and _stands(draft) != _stands(change.replaced[draft.id])
    }
    if not gone and not turned:
        return change
    places = await _places(db, [*gone, *turned])
    if not places:
        return change
    fallen = gone | {key for key, stands in turned.items() if not stands}
    return await _settled(db, change, [*places, *_passed_on(places, fallen, gone)])


def _stands(memory: Draft | StoredMemory) -> bool:
    return memory.kind == DECISION and memory.trust_tier != QUARANTINED


def _passed_on(
    places: Sequence[Place], fallen: Collection[str], gone: Collection[str]
) -> Iterator[Place]:
    """Yield the places that are passed on as those who took them fall."""
    for place in places:
        if place.superseding in fallen:
            yield from (
                replace(place, superseding=key)
                for key in _heirs(places, place.superseding, gone)
                if key != place.superseded
            )


def _heirs(places: Sequence[Place], key: str, gone: Collection[str]) -> list[str]:
    """Return who took the place of a decision: of one that goes too, who took that one's."""
    heirs, reached = [], [key]
    for one in reached:
        above = [place.superseding for place in places if place.superseded == one]
        heirs += [other for other in above if other not in gone]
        reached += [other for other in above if other in gone and other not in reached]
    return heirs


async def _settled(db: Database, change: Change, places: Sequence[Place]) -> Change:
    """Return a change in which a decision ends if one that stands took its place, else not."""
    going = {memory.id for memory in change.gone}
    ends = {key for place in places for key in (place.superseding, place.superseded)}
    old = await stored.memories_by_id(db, sorted(ends - going))
    now = {key: draft_of_stored(memory) for key, memory in old.items()}
    now |= {draft.id: draft for draft in change.drafts if draft.id in now}
    changed: dict[str, Draft] = {}
    rows: list[dict[str, Any]] = []
    for key in sorted({place.superseded for place in places} & now.keys()):
        every = [place for place in places if place.superseded == key]
        staying = [place for place in every if place.superseding in now]
        is_superseded = any(_stands(now[place.superseding]) for place in staying)
        told, until = _end(every[0], now[key].valid_until, is_superseded=is_superseded)
        if until != now[key].valid_until:
            changed[key] = replace(now[key], valid_until=until)
        rows += [replace(told, superseding=place.superseding).row() for place in staying]
    replaced = {**change.replaced, **{key: old[key] for key in changed}}
    drafts = [changed.pop(draft.id, draft) for draft in change.drafts]
    change = replace(change, drafts=(*drafts, *changed.values()), replaced=replaced)
    return change.with_fragment(Fragment(SUPERSEDE, {"places": rows}))


def _end(
    place: Place, until: datetime | None, *, is_superseded: bool
) -> tuple[Place, datetime | None]:
    """Return what a place tells of the end of the decision that had it, and that end."""
    if not is_superseded:
        return place, place.valid_until if until == place.ended_at else until
    now = datetime.now(UTC)
    if until is not None and until <= now:
        return place, until
    end = now - _MOMENT
    return replace(place, ended_at=end, valid_until=until), end


async def _places(db: Database, keys: Iterable[str]) -> list[Place]:
    """Return who took the place of some decisions, and of those whose place these took."""
    rows = await db.run(PLACES, ids=[record("memory", key) for key in keys])
    return [Place(**row) for row in rows]
