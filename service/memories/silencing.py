"""Quarantined memories of older versions taught concepts their names: these are unlearned."""

from typing import Final

from service.drafts.stored_memory import draft_of_stored
from service.links.change import Change
from service.links.stored import memories_by_id
from service.store.queries import load_query
from service.writing.pipeline import Pipeline, commit

TEACHING_QUARANTINED: Final = load_query(__package__, "teaching_quarantined")

_SETTLED: Final = "quarantined"
_PAGE: Final = 64


async def silence_quarantined(pipeline: Pipeline) -> int:
    """Take quarantined memories out of what concepts count; returns how many there were.

    Once for each store, before anything else is written: every row is looked at for it. Newer
    versions write nothing that would have to be found again.
    """
    if await pipeline.db.meta(_SETTLED):
        return 0
    count = 0
    while keys := await pipeline.db.run(TEACHING_QUARANTINED, limit=_PAGE):
        memories = await memories_by_id(pipeline.db, keys)
        for agent in sorted({memory.agent for memory in memories.values()}):
            owned = {key: one for key, one in memories.items() if one.agent == agent}
            drafts = tuple(draft_of_stored(one) for one in owned.values())
            await commit(pipeline, Change(agent, drafts, replaced=owned))
        count += len(keys)
    await pipeline.db.set_meta(_SETTLED, {"count": count})
    return count
