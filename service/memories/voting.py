"""Whether a memory helped: a vote of each key, which its later one takes the place of."""

from typing import Final

from service.access.caller import Caller
from service.errors import MemoryNotFound
from service.memories.shapes import Feedback
from service.memories.storing import find
from service.store.database import Database, record
from service.store.queries import load_query

FEEDBACK: Final = load_query(__package__, "feedback")

# Whoever asks where no keys are: the programs of this machine have one vote together.
_NO_KEY: Final = "local"


async def vote(
    db: Database, sender: Caller, agent: str, key: str, *, helpful: bool | None
) -> Feedback:
    """Note what a key says of a memory, None for nothing; raises MemoryNotFound."""
    memory = await find(db, [agent], key)
    voter = sender.key or _NO_KEY
    told = await db.run(
        FEEDBACK, id=record("memory", memory.id), agent=agent, voter=voter,
        vote=[] if helpful is None else [[voter, helpful]],
    )  # fmt: skip
    for counts in told:
        return Feedback(memory.id, *counts)
    raise MemoryNotFound(f"There is no memory with id {key!r}.")
