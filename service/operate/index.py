"""The door of /index: what is held in RAM, how it differs from the store, and loading it anew."""

import asyncio
import time
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Body
from pydantic import Field

from service.access.caller import caller
from service.errors import AgentUnknown, NoResidentIndex
from service.field_types import OwnAgent
from service.index.resident.residency import Residency
from service.index.resident.state import AgentState, IndexState
from service.store.agents import refuse_unknown
from service.web.declared import problems
from service.web.fields import QueryAgent, Strict, body_example
from service.web.parts import TheDatabase, part
from service.web.room import Room

router = Room("operations", prefix="/index")

# None where the database engine answers.
TheResidency = Annotated[Residency | None, part(Residency)]


class RebuildRequest(Strict):
    """Whose index to load anew."""

    model_config = body_example(agent="main")

    agent: OwnAgent | None = Field(
        None, description="Unset: every agent of the key that is in RAM now."
    )


_EVERY_AGENT: Final[Any] = Body(default_factory=RebuildRequest)


@dataclass(frozen=True, slots=True)
class Index:
    """What is held in RAM of one agent, compared with the store just now, and in all.

    `index` is null for a key that is for some agents alone.
    """

    index: IndexState | None
    agent: AgentState


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Whose index was loaded anew, in how many milliseconds, and what is held now, as in Index."""

    rebuilt: list[str]
    took_ms: float
    index: IndexState | None


@router.get("", operation_id="index_state", responses=problems(AgentUnknown, NoResidentIndex))
async def get_index(db: TheDatabase, resident: TheResidency, agent: QueryAgent) -> Index:
    """Tell what is held in RAM, and compare one agent's with the store by a count of every row."""
    residency = _residency(resident)
    await refuse_unknown(db, agent)
    state = await residency.state_of(agent)
    return Index(await _held(residency), state)


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
    agents = [agent] if agent else caller().only_own(residency.residents())
    await residency.rebuild(agents)
    took_ms = round((time.perf_counter() - started) * 1000, 1)
    return Rebuilt(agents, took_ms, await _held(residency))


async def _held(residency: Residency) -> IndexState | None:
    """Return what is held in all: no business of a key that is for some agents alone."""
    return await asyncio.to_thread(residency.state) if caller().agents is None else None


def _residency(resident: Residency | None) -> Residency:
    if resident is None:
        msg = (
            "MEMORY_SEARCH_ENGINE is `database`: SurrealDB keeps its indexes itself, there is "
            "none in RAM."
        )
        raise NoResidentIndex(msg)
    return resident
