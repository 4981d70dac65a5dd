"""The door of /stats."""

from dataclasses import dataclass

from service.errors import AgentUnknown
from service.store.agents import refuse_unknown
from service.store.queries import load_query
from service.web.declared import problems
from service.web.fields import QueryAgent
from service.web.parts import TheDatabase
from service.web.room import Room

router = Room("operations", prefix="/stats")

STATS = load_query(__package__, "stats")


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
async def get_stats(db: TheDatabase, agent: QueryAgent) -> Stats:
    """Count what an agent remembers. Counts every row: for people and checks, not for polling."""
    row = await db.run(STATS, agent=agent)
    if not row["memories"]:
        await refuse_unknown(db, agent)
    kinds = {kind["kind"]: kind["memories"] for kind in row["kinds"]}
    return Stats(agent=agent, **row | {"kinds": kinds})
