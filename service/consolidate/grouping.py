"""Which old memories are summarised together: by likeness, rarest shared concept, or week; pure."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from service.drafts.drafts import digest

# A larger group is cut in time order: its members are written in one transaction, and a text made
# of more of them is no summary of any.
MOST_MEMBERS: Final = 100
# One memory says nothing in fewer words by being copied.
_FEWEST_MEMBERS: Final = 2
# The engine's time for one transaction grows with the square of its size (docs/decisions/0009), but
# what every one costs besides weighs more up to here.
_TRANSACTION_MEMORIES: Final = 256


class Wall(NamedTuple):
    """What never mixes in one summary: a label or a trust that only some of its sources have."""

    scope: str | None
    trust_tier: str
    sensitivity: str


@dataclass(frozen=True, slots=True)
class Old:
    """An old memory as far as grouping goes; `line` names the line of time it belongs to.

    `state` is a hash of all that a summary would take from it, `order` the order in which a
    summary tells its sources, `tokens` an estimate of its length.
    """

    id: str
    wall: Wall
    occurred_at: datetime
    order: tuple[datetime, str, int, str]
    line: str
    state: str
    tokens: int


class Place(NamedTuple):
    """A group before it is cut into parts. `ref` tells how it came about and is kept.

    It is `concept:gpu`, `week:daily:memory:2026-W07` or `likeness:ID`, with the id of the memory
    that the others are like.
    """

    wall: Wall
    ref: str


@dataclass(frozen=True, slots=True)
class Room:
    """A summary that exists, how many sources it has and their tokens; a closed one takes none."""

    key: str
    sources: int
    tokens: int
    is_closed: bool = False

    def is_free(self, most_tokens: int) -> bool:
        """Say whether it takes one more source."""
        return not self.is_closed and self.sources < MOST_MEMBERS and self.tokens < most_tokens


_EMPTY: Final = Room("", 0, 0)


def concept_ref(slug: str) -> str:
    """Return the `ref` of the group of a concept."""
    return f"concept:{slug}"


def likeness_ref(leader: str) -> str:
    """Return the `ref` of a cluster of near-duplicates by the memory they are like."""
    return f"likeness:{leader}"


def summary_key(agent: str, place: Place, part: int) -> str:
    """Return the id of the summary of one part of a group: the same whenever it is made."""
    wall = place.wall
    return digest(
        "summary", agent, wall.scope or "", wall.trust_tier, wall.sensitivity, place.ref, str(part)
    )


def find_groups(
    olds: Iterable[Old],
    leaders: Mapping[str, str],
    concepts_of: Mapping[str, Collection[str]],
    existing: Collection[Place],
) -> tuple[dict[Place, list[Old]], list[Old]]:
    """Give each old memory its group; returns the groups, and the memories that share nothing.

    `leaders` names for members of a cluster the memory they are like; `existing` are the places
    of concepts and weeks that have a summary already: one more memory is enough there. The rarest
    concepts choose first, so each memory goes to its rarest that others are left to share; ties
    by slug. What is left goes by its line of time and week.
    """
    groups: dict[Place, list[Old]] = defaultdict(list)
    rest = []
    for old in sorted(olds, key=lambda old: old.order):
        if old.id in leaders:
            groups[Place(old.wall, likeness_ref(leaders[old.id]))].append(old)
        else:
            rest.append(old)
    rest = _take(groups, rest, existing, lambda old: _concepts(old, concepts_of))
    rest = _take(groups, rest, existing, lambda old: [week_place(old)])
    return dict(groups), rest


def _concepts(old: Old, concepts_of: Mapping[str, Collection[str]]) -> list[Place]:
    return [Place(old.wall, concept_ref(slug)) for slug in concepts_of.get(old.id, ())]


def week_place(old: Old) -> Place:
    """Return the group of a memory that shares no concept: its line of time and ISO week."""
    year, week, _ = old.occurred_at.isocalendar()
    return Place(old.wall, f"week:{old.line}:{year:04}-W{week:02}")


def _take(
    groups: dict[Place, list[Old]],
    rest: Sequence[Old],
    existing: Collection[Place],
    places_of: Callable[[Old], Iterable[Place]],
) -> list[Old]:
    """Move memories into the groups they share with others; returns those that are left."""
    members: dict[Place, list[Old]] = defaultdict(list)
    for old in rest:
        for place in places_of(old):
            members[place].append(old)
    sizes = Counter({place: len(found) for place, found in members.items()})
    taken: set[str] = set()
    for place in sorted(members, key=lambda place: (sizes[place], place.ref)):
        here = [old for old in members[place] if old.id not in taken]
        if len(here) >= (1 if place in existing else _FEWEST_MEMBERS):
            groups[place] += here
            taken.update(old.id for old in here)
    return [old for old in rest if old.id not in taken]


def cut(
    members: Iterable[Old], rooms: Sequence[Room], most_tokens: int
) -> list[tuple[int, list[Old]]]:
    """Cut a group in the order of time into parts of which a summary can tell most.

    A part is full with MOST_MEMBERS sources, or when the next would bring it past `most_tokens`
    and it has two. `rooms` are the group's summaries in the order of their parts: what is free in
    them is filled first. Returns (part, those who join it); only a lone last one is a part of one.
    """
    waiting = deque(members)
    filled = [(part, _fill(waiting, room, most_tokens)) for part, room in enumerate(rooms)]
    fresh: list[list[Old]] = []
    while waiting:
        fresh.append(_fill(waiting, _EMPTY, most_tokens))
    if len(fresh) > 1 and len(fresh[-1]) < _FEWEST_MEMBERS:
        last = fresh.pop()
        fresh[-1] += last
    return [(part, found) for part, found in filled if found] + list(enumerate(fresh, len(rooms)))


def _fill(waiting: deque[Old], room: Room, most_tokens: int) -> list[Old]:
    """Take from the front what a summary has room for."""
    taken: list[Old] = []
    sources, tokens = room.sources, room.tokens
    while waiting and not room.is_closed and sources < MOST_MEMBERS:
        if sources >= _FEWEST_MEMBERS and tokens + waiting[0].tokens > most_tokens:
            break
        taken.append(waiting.popleft())
        sources += 1
        tokens += taken[-1].tokens
    return taken


def batches(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield the summaries to be written together, by how many memories each touches; none is cut.

    In the order of `sizes`.
    """
    batch: list[str] = []
    total = 0
    for key, size in sizes.items():
        if batch and total + size > _TRANSACTION_MEMORIES:
            yield batch
            batch, total = [], 0
        batch.append(key)
        total += size
    if batch:
        yield batch
