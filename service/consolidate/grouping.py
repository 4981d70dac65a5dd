"""Which old memories are summarised together: by likeness, rarest shared concept, or week; pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from service.ingest.drafts import digest

# A larger group is cut in time order: its members are written in one transaction, and a text made
# of more of them is no summary of any.
MOST_MEMBERS: Final = 100
# One memory says nothing in fewer words by being copied.
_FEWEST_MEMBERS: Final = 2
# The engine's time for one transaction grows with the square of its size (docs/decisions/0009).
_TRANSACTION_MEMORIES: Final = 64


class Wall(NamedTuple):
    """What never mixes in one summary: a label or a trust that only some of its sources have."""

    scope: str | None
    trust_tier: str
    sensitivity: str


@dataclass(frozen=True, slots=True)
class Old:
    """An old memory as far as grouping goes; `line` names the line of time it belongs to.

    `state` is a hash of all that a summary would take from it, `order` the order in which a
    summary tells its sources.
    """

    id: str
    wall: Wall
    occurred_at: datetime
    order: tuple[datetime, str, int, str]
    line: str
    state: str
    characters: int


class Place(NamedTuple):
    """A group before it is cut into parts. `ref` tells how it came about and is kept.

    It is `concept:gpu`, `week:daily:memory:2026-W07` or `likeness:ID`, with the id of the memory
    that the others are like.
    """

    wall: Wall
    ref: str


@dataclass(frozen=True, slots=True)
class Room:
    """A summary that exists, and how many sources it has; None where it takes no more."""

    key: str
    sources: int | None

    @property
    def free(self) -> int:
        """How many more sources it takes."""
        return 0 if self.sources is None else max(0, MOST_MEMBERS - self.sources)


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


def cut(members: Sequence[Old], rooms: Sequence[Room]) -> list[tuple[int, list[Old]]]:
    """Cut a group into parts of at most MOST_MEMBERS, by what its summaries have room for.

    `rooms` are the group's summaries in the order of their parts. Returns (part, those who join
    it) in that order; new parts are of like size.
    """
    parts, start = [], 0
    for part, room in enumerate(rooms):
        if here := list(members[start : start + room.free]):
            parts.append((part, here))
        start += len(here)
    left = members[start:]
    count = -(-len(left) // MOST_MEMBERS)
    for index in range(count):
        piece = left[len(left) * index // count : len(left) * (index + 1) // count]
        parts.append((len(rooms) + index, list(piece)))
    return parts


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
