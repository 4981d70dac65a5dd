"""What sessions did with memories: the evidence that one is worth keeping near at hand."""

from collections.abc import Sequence
from typing import Final

from service.store.database import Database
from service.store.queries import load_query
from service.worth import Evidence

EVIDENCE: Final = load_query(__package__, "evidence")


async def evidence_of(db: Database, agent: str, keys: Sequence[str]) -> dict[str, Evidence]:
    """Return by id in how many of an agent's sessions each was given and used.

    Of one that was never given there is nothing.
    """
    rows = await db.run(EVIDENCE, agent=agent, ids=list(keys)) if keys else []
    return {row["memory"]: Evidence(row["given"], row["used"]) for row in rows}
