"""Memories that leave the answers, or come back."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "archive")


def archive(linked: LinkedChange) -> Fragment | None:
    """Archive memories, or take them back out."""
    change = linked.change
    return fragment(
        QUERY,
        archived=[record("memory", key) for key in sorted(change.archive)],
        unarchived=[record("memory", key) for key in sorted(change.unarchive)],
    )
