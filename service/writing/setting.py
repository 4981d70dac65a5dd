"""Fields that stored memories get in their agent's turn: nobody's words are overwritten."""

from dataclasses import replace
from typing import Any

from service.access.origins import tier_of
from service.drafts.stored_memory import StoredMemory, draft_of_stored
from service.links import stored
from service.links.change import Change
from service.store.database import Database


async def set_fields(db: Database, change: Change) -> Change:
    """Return a change with what its `tiers` and `moved` do to memories as they are stored now.

    A step of the pipeline.
    """
    keys = change.tiers.keys() | change.moved.keys()
    if not keys:
        return change
    now = await stored.memories_by_id(db, sorted(keys))
    drafts = [
        replace(draft_of_stored(old), **_fields(change, old))
        for old in now.values()
        if old.agent == change.agent
    ]
    return replace(
        change, drafts=(*change.drafts, *drafts),
        replaced={**change.replaced, **{draft.id: now[draft.id] for draft in drafts}},
    )  # fmt: skip


def _fields(change: Change, old: StoredMemory) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if old.id in change.tiers:
        fields["trust_tier"] = change.tiers[old.id] or tier_of(old.origin)
    if old.id in change.moved:
        fields["scope"] = change.moved[old.id]
    return fields
