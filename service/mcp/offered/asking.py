"""What a tool has when it is called: a client of the service, where it is called, whom to ask."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from service.client.endpoints import AsyncGraphMemory
from service.client.sessions import PlaceOptions

# Asks the person which of some options is meant: its index, or None where they chose none.
Choose = Callable[[str, Sequence[str]], Awaitable[int | None]]


@dataclass(frozen=True, slots=True)
class Asking:
    """One call: it asks the service as its caller, by the HTTP contract.

    `place` is what counts where a call names no agent or project. `choose` is None where the
    client cannot put a question to a person.
    """

    memory: AsyncGraphMemory
    place: PlaceOptions = field(default_factory=PlaceOptions)
    choose: Choose | None = None

    def agent(self, given: str | None) -> str | None:
        """Return the agent that a call means; None for the key's own."""
        return given or self.place.get("agent")

    def where(self, given: "Placed") -> dict[str, Any]:
        """Return agent and project for a body, as far as they are known."""
        agent, project = self.agent(given.agent), given.project or self.place.get("project")
        return {} | ({"agent": agent} if agent else {}) | ({"project": project} if project else {})

    def where_in_query(self, given: "Placed") -> dict[str, Any]:
        """Return the same for a query, where a project is one text."""
        where = self.where(given)
        project = where.get("project")
        if isinstance(project, dict):
            # All that is known of it: a folder that got a remote later is the project that it was.
            where["project"] = json.dumps(project, ensure_ascii=False)
        return where


class Placed:
    """What names an agent and a project, or neither."""

    agent: str | None
    project: str | None
