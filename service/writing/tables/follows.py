"""The edges in time, from a memory to the one before it."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "follows")


def follows(linked: LinkedChange) -> Fragment | None:
    """Write and drop edges (later, earlier)."""
    return fragment(
        QUERY,
        follows=[
            {
                "id": record("follows", list(edge)), "in": record("memory", edge[0]),
                "out": record("memory", edge[1]),
            }
            for edge in sorted(linked.follows)
        ],
        gone_follows=[record("follows", list(edge)) for edge in sorted(linked.gone_follows)],
    )  # fmt: skip
