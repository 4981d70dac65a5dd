"""Fields that stored memories get in their agent's turn: nobody's words are overwritten."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from service.drafts.stored_memory import StoredMemory, draft_of_stored
from service.links import stored
from service.links.change import Change
from service.store.database import Database


async def set_fields(
    db: Database,
    change: Change,
    keys: Sequence[str],
    fields_of: Callable[[StoredMemory], Mapping[str, Any]],
) -> Change:
    """Return a change in which memories get the fields that follow from each as it is stored now.

    With the others given it is what a change says in its turn (`Change.in_turn`).
    """
    now = await stored.memories_by_id(db, keys)
    drafts = [
        replace(draft_of_stored(old), **fields_of(old))
        for old in now.values()
        if old.agent == change.agent
    ]
    return replace(change, drafts=(*change.drafts, *drafts))
