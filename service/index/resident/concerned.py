"""Whom changes of the store concern: most are one agent's, and every other index can be left."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from service.index.resident.agent_index import AgentIndex
from service.records import RowChange


@dataclass(frozen=True, slots=True)
class Named:
    """What changes name: agents by their names, and memories by their keys."""

    agents: set[str] = field(default_factory=set)
    memories: set[str] = field(default_factory=set)

    def concerns(self, index: AgentIndex) -> bool:
        """Return whether any of the changes may alter an index.

        One with rows that make no sense sees every change: their keys tell nothing of whose.
        """
        return (
            index.agent in self.agents
            or bool(index.corrupt or index.strange_edges)
            or not index.rows.keys().isdisjoint(self.memories)
        )

    def note(self, value: Any) -> None:
        """Note a key, or an end of an edge: a memory's, or one that begins with an agent."""
        if isinstance(value, str):
            self.memories.add(value)
        elif isinstance(value, list) and value and isinstance(value[0], str):
            self.agents.add(value[0])


def named_in(changes: Iterable[RowChange]) -> Named:
    """Return whom changes name; a memory's row names its agent too."""
    named = Named()
    for change in changes:
        row = change.row or {}
        named.note(change.key)
        if "in" in row:
            named.note(row["in"])
            named.note(row.get("out"))
        if isinstance(agent := row.get("agent"), str):
            named.agents.add(agent)
    return named
