"""Which old memories share a summary: near-duplicates, a rare concept, or a week; pure."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from service.consolidate.summary.refs import concept_ref, near_duplicates_ref, week_ref
from service.drafts.ids import digest

# A larger group is split in time order: its members are written in one transaction, and a text made
# of more of them is no summary of any.
MOST_MEMBERS: Final = 100
# A summary of one memory would only repeat it.
_FEWEST_MEMBERS: Final = 2
# The engine's time for one transaction grows with the square of its size (docs/decisions/0009), but
# what every one costs besides weighs more up to here.
_TRANSACTION_MEMORIES: Final = 256


class Wall(NamedTuple):
    """What all sources of a summary have in common: memories that differ in it never mix."""

    scope: str | None
    trust_tier: str
    sensitivity: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may be consolidated; `line` names the line of time it belongs to.

    `state` is a hash of all that a summary would take from it, `order` where it stands in a
    summary, `tokens` an estimate of its length.
    """

    id: str
    wall: Wall
    occurred_at: datetime
    order: tuple[datetime, str, int, str]
    line: str
    state: str
    tokens: int


class GroupKey(NamedTuple):
    """What identifies a group before it is split into parts; `ref` is that of summary/refs.py."""

    wall: Wall
    ref: str


@dataclass(frozen=True, slots=True)
class Capacity:
    """How full a summary is: its sources and their tokens. A closed one takes no more."""

    sources: int
    tokens: int
    is_closed: bool = False

    def takes_more(self, most_tokens: int) -> bool:
        """Say whether it takes one more source."""
        return not self.is_closed and self.sources < MOST_MEMBERS and self.tokens < most_tokens


_EMPTY: Final = Capacity(0, 0)


def summary_key(agent: str, group: GroupKey, part: int) -> str:
    """Return the id of the summary of one part of a group: the same whenever it is made."""
    wall = group.wall
    return digest(
        "summary", agent, wall.scope or "", wall.trust_tier, wall.sensitivity, group.ref, str(part)
    )


def concept_group(candidate: Candidate, slug: str) -> GroupKey:
    """Return the group of a memory and a concept that it mentions."""
    return GroupKey(candidate.wall, concept_ref(slug))


def week_group(candidate: Candidate) -> GroupKey:
    """Return the group of a memory that shares no concept: its line of time and ISO week."""
    return GroupKey(candidate.wall, week_ref(candidate.line, candidate.occurred_at))


def find_groups(
    candidates: Iterable[Candidate],
    leaders: Mapping[str, str],
    concepts_of: Mapping[str, Collection[str]],
    existing: Collection[GroupKey],
) -> dict[GroupKey, list[Candidate]]:
    """Give each memory its group; a memory that shares nothing is in none.

    `leaders` names for each near-duplicate the leader of its cluster; `existing` are the groups of
    concepts and weeks whose summary takes more: one memory is enough for these, two for others.
    The rarest concepts choose first, so each memory goes to its rarest that others are left to
    share; ties by slug. What is left goes by its line of time and week.
    """
    groups: dict[GroupKey, list[Candidate]] = defaultdict(list)
    rest = []
    for candidate in sorted(candidates, key=lambda one: one.order):
        if candidate.id in leaders:
            ref = near_duplicates_ref(leaders[candidate.id])
            groups[GroupKey(candidate.wall, ref)].append(candidate)
        else:
            rest.append(candidate)

    def concept_groups(one: Candidate) -> list[GroupKey]:
        return [concept_group(one, slug) for slug in concepts_of.get(one.id, ())]

    rest = _assign(groups, rest, existing, concept_groups)
    _assign(groups, rest, existing, lambda one: [week_group(one)])
    return dict(groups)


def _assign(
    groups: dict[GroupKey, list[Candidate]],
    candidates: Sequence[Candidate],
    existing: Collection[GroupKey],
    groups_of: Callable[[Candidate], Iterable[GroupKey]],
) -> list[Candidate]:
    """Move memories into the groups that they share with others; returns those that are left."""
    members: dict[GroupKey, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        for group in groups_of(candidate):
            members[group].append(candidate)
    sizes = Counter({group: len(those) for group, those in members.items()})
    taken: set[str] = set()
    for group in sorted(members, key=lambda group: (sizes[group], group.ref)):
        free = [candidate for candidate in members[group] if candidate.id not in taken]
        if len(free) >= (1 if group in existing else _FEWEST_MEMBERS):
            groups[group] += free
            taken.update(candidate.id for candidate in free)
    return [candidate for candidate in candidates if candidate.id not in taken]


def split_group(
    members: Iterable[Candidate], capacities: Sequence[Capacity], most_tokens: int
) -> list[tuple[int, list[Candidate]]]:
    """Split a group in the order of time into parts, each for one summary.

    A part is full with MOST_MEMBERS sources, or when the next would bring it past `most_tokens`
    and it has two. `capacities` are those of the group's summaries in the order of their parts:
    they are filled first. Returns (part, those who join it); if the last new part would have one
    member, it joins the new part before it.
    """
    waiting = deque(members)
    parts = [_fill(waiting, capacity, most_tokens) for capacity in capacities]
    existing = len(parts)
    while waiting:
        parts.append(_fill(waiting, _EMPTY, most_tokens))
    if len(parts) > existing + 1 and len(parts[-1]) < _FEWEST_MEMBERS:
        last = parts.pop()
        parts[-1] += last
    return [(part, joining) for part, joining in enumerate(parts) if joining]


def _fill(waiting: deque[Candidate], capacity: Capacity, most_tokens: int) -> list[Candidate]:
    """Take from the front what a summary has capacity for."""
    taken: list[Candidate] = []
    sources, tokens = capacity.sources, capacity.tokens
    while waiting and not capacity.is_closed and sources < MOST_MEMBERS:
        if sources >= _FEWEST_MEMBERS and tokens + waiting[0].tokens > most_tokens:
            break
        taken.append(waiting.popleft())
        sources += 1
        tokens += taken[-1].tokens
    return taken


def batches(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield keys of summaries to be written together, in the order of `sizes`.

    `sizes` is how many memories each summary touches; a batch has at most 256 of them, or one
    summary that is larger.
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
