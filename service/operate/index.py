"""The door of /index: what is held in RAM, how it differs from the store, and loading it anew."""

import asyncio
import time
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter
from pydantic import Field

from service.errors import AgentUnknown, NoResidentIndex
from service.field_types import AgentName
from service.index.resident.residency import Residency
from service.index.resident.state import AgentState, IndexState
from service.store.agents import refuse_unknown
from service.web.bodies import JsonRoute
from service.web.declared import problems
from service.web.fields import Strict, body_example
from service.web.parts import TheDatabase, part

router = APIRouter(prefix="/index", tags=["operations"], route_class=JsonRoute)

# None where the database engine answers.
TheResidency = Annotated[Residency | None, part(Residency)]


class RebuildRequest(Strict):
    """Whose index to load anew."""

    model_config = body_example(agent="main")

    agent: AgentName | None = Field(None, description="Unset: every agent that is in RAM now.")


_EVERY_AGENT: Final = RebuildRequest(agent=None)


@dataclass(frozen=True, slots=True)
class Index:
    """What is held in RAM in all, and of one agent, compared with the store just now."""

    index: IndexState
    agent: AgentState


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Whose index was loaded anew, in how many milliseconds, and what is held now."""

    rebuilt: list[str]
    took_ms: float
    index: IndexState


@router.get("", operation_id="index_state", responses=problems(AgentUnknown, NoResidentIndex))
async def get_index(db: TheDatabase, resident: TheResidency, agent: AgentName = "main") -> Index:
    """Tell what is held in RAM, and compare one agent's with the store by a count of every row."""
    residency = _residency(resident)
    await refuse_unknown(db, agent)
    state = await residency.state_of(agent)
    return Index(await asyncio.to_thread(residency.state), state)


@router.post(
    "/rebuild", operation_id="rebuild_index", responses=problems(AgentUnknown, NoResidentIndex)
)
async def post_rebuild(
    db: TheDatabase, resident: TheResidency, request: RebuildRequest = _EVERY_AGENT
) -> Rebuilt:
    """Load indexes anew from the store; the present ones answer searches meanwhile."""
    residency = _residency(resident)
    started = time.perf_counter()
    agent = request.agent
    if agent:
        await refuse_unknown(db, agent)
    agents = [agent] if agent else residency.residents()
    await residency.rebuild(agents)
    took_ms = round((time.perf_counter() - started) * 1000, 1)
    return Rebuilt(agents, took_ms, await asyncio.to_thread(residency.state))


def _residency(resident: Residency | None) -> Residency:
    if resident is None:
        msg = (
            "MEMORY_SEARCH_ENGINE is `database`: SurrealDB keeps its indexes itself, there is "
            "none in RAM."
        )
        raise NoResidentIndex(msg)
    return resident
