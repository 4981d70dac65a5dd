"""What is told of the resident indexes: of one agent's, and of all."""

from dataclasses import dataclass
from datetime import datetime


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
