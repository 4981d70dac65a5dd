"""How much there is of one agent, as its index knows it without asking the store."""

import asyncio
from typing import Any

from service.index.resident.agent_index import AgentIndex
from service.index.resident.graph import EDGE_TABLES
from service.index.resident.residency import Residency


async def true_index(residency: Residency, agent: str) -> AgentIndex | None:
    """Return an agent's index with all that is written by now; loads it if need be.

    None where the last census found that it differs from the store. Raises StoreUnavailable.
    """
    await residency.catch_up(agent)
    index = await residency.index_of(agent)
    state = await asyncio.to_thread(residency.state)
    return None if agent in state.drift else index


async def amounts_of(residency: Residency, agent: str) -> dict[str, Any] | None:
    """Return what operate/stats.surql counts of an agent's rows, by now.

    None where the index leaves some out, or differs from the store. Raises StoreUnavailable.
    """
    index = await true_index(residency, agent)
    return await asyncio.to_thread(_amounts, index) if index else None


def _amounts(index: AgentIndex) -> dict[str, Any] | None:
    with index.lock:
        if index.beyond_budget or index.corrupt:
            return None
        counts = index.counts()
        kinds, archived = index.columns.counted()
    return {
        "memories": counts["memory"],
        "kinds": dict(sorted(kinds.items())),
        "archived": archived,
        "concepts": counts["concept"],
        **{table: counts[table] for table in EDGE_TABLES},
    }
