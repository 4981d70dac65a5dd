"""Memories that wait for a vector, in a table of their own: an index would hold the others too."""

from typing import Any, Final

from service.drafts.drafts import Draft
from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment
from service.writing.tables.memory import is_embedded

QUERY: Final = load_query(__package__, "unembedded")


def unembedded(linked: LinkedChange) -> Fragment | None:
    """Note the drafts that have no vector yet, and no longer those that waited and have one now."""
    change = linked.change
    waited = {key for key, memory in change.replaced.items() if not memory.is_embedded}
    return fragment(
        QUERY,
        unembedded=[_row(linked, d) for d in change.drafts if not is_embedded(linked, d)],
        embedded=[
            _row(linked, d)["id"]
            for d in change.drafts
            if d.id in waited and is_embedded(linked, d)
        ],
    )


def _row(linked: LinkedChange, draft: Draft) -> dict[str, Any]:
    key = [linked.agent, draft.id]
    return {"id": record("unembedded", key), "memory": record("memory", draft.id)}
