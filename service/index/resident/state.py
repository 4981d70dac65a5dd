"""What is told of the resident indexes: of one agent's, and of all."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.index.resident.agent_index import AgentIndex

# Below so many emptied rows nothing is won.
_WASTED_ROWS: Final = 10_000
# By so much an index may outgrow its room before it is loaded anew, the oldest left out.
_GROWTH: Final = 1.25


@dataclass(frozen=True, slots=True)
class AgentState:
    """One resident agent: counts by table, estimated bytes, what is left out and why, and drift.

    `drift` is what the index holds more (or less) than the store, by table, at the last census;
    empty where they agree, null before the first.
    """

    agent: str
    counts: dict[str, int]
    bytes: int
    left_out: dict[str, int]
    drift: dict[str, int] | None


@dataclass(frozen=True, slots=True)
class IndexState:
    """What is held in RAM, of how many agents, what is on its way, left out, or differs.

    `left_out` counts by reason what the store has and the index has not; `drift` names the agents
    whose last census found a difference, with the tables.
    """

    agents: int
    memories: int
    bytes: int
    budget_bytes: int
    loading: dict[str, str]
    left_out: dict[str, int]
    drift: dict[str, dict[str, int]]
    unknown_tables: dict[str, int]
    indexed_through: datetime


def left_out_of(indexes: Iterable[AgentIndex]) -> dict[str, int]:
    """Return how much of the store is in none of these, by reason."""
    left_out: Counter[str] = Counter()
    for index in indexes:
        left_out.update(index.left_out())
    return dict(left_out)


def stale_of(
    indexes: Iterable[AgentIndex], stored: Mapping[str, int], room_bytes: int
) -> list[str]:
    """Return the agents of indexes that hold mostly the places of deleted memories.

    Or of such as left something out that may fit by now: all of it, or as half of the rest went.
    Or that have outgrown the room by what was written since. `stored` tells of those that left
    something out how many memories the store has. None is so when it was just loaded.
    """
    return [
        one.agent
        for one in indexes
        if one.wasted_rows > max(0 if one.beyond_budget else _WASTED_ROWS, one.memories)
        or (one.beyond_budget and stored.get(one.agent, one.memories + 1) <= one.memories)
        or one.bytes > _GROWTH * max(room_bytes, one.loaded_bytes)
    ]


def too_many(
    sizes: Mapping[str, int], room_bytes: int, most_agents: int, keep: str | None
) -> list[str]:
    """Return who must leave so that the rest fits: the first of `sizes`, but one always stays."""
    left, total, leaving = len(sizes), sum(sizes.values()), list[str]()
    for agent, size in sizes.items():
        if (total <= room_bytes and left <= most_agents) or left == 1:
            break
        if agent != keep:
            leaving.append(agent)
            left, total = left - 1, total - size
    return leaving
