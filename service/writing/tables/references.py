"""The edges from memories to the concepts that they mention."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "references")


def references(linked: LinkedChange) -> Fragment | None:
    """Write and drop edges, and count each concept's memories."""
    agent, found = linked.agent, linked.links.references
    leaving = {memory.id for memory in linked.change.gone}
    return fragment(
        QUERY,
        references=[
            {
                "id": record("references", [key, slug]), "in": record("memory", key),
                "out": record("concept", [agent, slug]),
            }
            for key, slug in sorted(found.added)
        ],
        gone_references=[
            record("references", [key, slug])
            for key, slug in sorted(found.dropped)
            if key not in leaving
        ],
        counts=[
            {"id": record("concept", [agent, slug]), "by": by}
            for slug, by in sorted(found.counts.items())
        ],
    )  # fmt: skip
