"""What is known of sections that were deleted for good: that they are not to come back."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "tombstone")


def tombstone(linked: LinkedChange) -> Fragment | None:
    """Write the hashes of sections that were deleted, each by its own and its document's."""
    agent = linked.agent
    return fragment(
        QUERY,
        tombstones=[
            {"id": record("tombstone", [agent, one]), "agent": agent, "at": linked.now}
            for one in dict.fromkeys(linked.change.tombstones)
        ],
    )
