"""The door of /stats."""

from dataclasses import dataclass
from typing import Annotated, Any

from service.errors import AgentUnknown
from service.index.resident.amounts import amounts_of
from service.index.resident.residency import Residency
from service.store.agents import refuse_unknown
from service.store.database import Database
from service.store.queries import load_query
from service.web.declared import problems
from service.web.fields import QueryAgent
from service.web.parts import TheDatabase, part
from service.web.room import Room

router = Room("operations", prefix="/stats")

STATS = load_query(__package__, "stats")
BESIDE_THE_INDEX = load_query(__package__, "beside_the_index")


@dataclass(frozen=True, slots=True)
class Stats:
    """How much an agent remembers, and how many of its jobs wait."""

    agent: str
    memories: int
    kinds: dict[str, int]
    archived: int
    without_vector: int
    documents: int
    concepts: int
    references: int
    related_to: int
    is_a: int
    follows: int
    jobs_waiting: int


@router.get("", operation_id="stats", responses=problems(AgentUnknown))
async def get_stats(
    db: TheDatabase, residency: Annotated[Residency | None, part(Residency)], agent: QueryAgent
) -> Stats:
    """Count what an agent remembers.

    By the index in RAM, once all that is written is in it. Where that leaves memories out, or the
    database engine answers, every row is counted.
    """
    # First: whoever sees that no job waits is told what the jobs have stored.
    others = await db.run(BESIDE_THE_INDEX, agent=agent)
    held = await amounts_of(residency, agent) if residency else None
    stats = Stats(agent=agent, **others, **(held or await _counted(db, agent)))
    if not stats.memories:
        await refuse_unknown(db, agent)
    return stats


async def _counted(db: Database, agent: str) -> dict[str, Any]:
    row: dict[str, Any] = await db.run(STATS, agent=agent)
    kinds = row["kinds"]
    return row | {
        "memories": sum(kind["memories"] for kind in kinds),
        "kinds": {kind["kind"]: kind["memories"] for kind in kinds},
        "archived": sum(kind["archived"] for kind in kinds),
    }
