"""Agents: who owns memories, who may read whose, and which of their concepts are hubs."""

from collections.abc import Sequence
from typing import Final

from service.errors import AgentNotReadable, AgentUnknown
from service.store.database import Database
from service.store.queries import load_query

DEFAULT_AGENT: Final = "main"
GRANTS: Final = load_query(__package__, "grants")


async def readable_agents(
    db: Database, agent: str, read_from: Sequence[str], scope: str | None = None
) -> tuple[str, ...]:
    """Return `agent` and those of `read_from` that granted it to read; others raise.

    What was granted of one scope alone is for questions that ask for this `scope`. A grant of a
    grant is none: nobody reads through another.
    """
    asked = [owner for owner in dict.fromkeys(read_from) if owner != agent]
    if asked:
        grants = await db.run(GRANTS, reader=agent, owners=asked)
        for owner in asked:
            scopes = [grant.get("scope") for grant in grants if grant["owner"] == owner]
            if None not in scopes and (scope is None or scope not in scopes):
                only = f", only to search those of scope {_or(scopes)}" if scopes else ""
                msg = f"Agent {agent!r} has no grant to read the memories of {owner!r}{only}."
                raise AgentNotReadable(msg)
    return (agent, *asked)


def _or(scopes: Sequence[str]) -> str:
    return " or ".join(repr(scope) for scope in sorted(scopes))


def hub_caps(sizes: dict[str, int], most_memories: int, largest_share: float) -> dict[str, int]:
    """Return, for each agent, above how many memories a concept links nothing.

    A share alone would silence every concept of a small store: below 10 memories of that share
    it is not applied.
    """
    return {
        agent: min(most_memories, max(10, int(size * largest_share)))
        for agent, size in sizes.items()
    }


async def refuse_unknown(db: Database, agent: str, *granted: str) -> None:
    """Raise AgentUnknown for an agent that has never stored anything; `main` always exists.

    So does who reads those that `granted` it: its name is no mistake, whatever is found. The store
    is asked in any case: with the store away, nothing found is no answer.
    """
    if await db.meta(["dictionary", agent]) or agent == DEFAULT_AGENT or granted:
        return
    msg = f"Agent {agent!r} has never stored a memory. Check the name, or store one first."
    raise AgentUnknown(msg)
