"""Names that stand in more stored memories than a change links to them, for the next ones."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "unlinked")


def unlinked(linked: LinkedChange) -> Fragment | None:
    """Note the names, and the new concepts: these stay until all is linked that mentions them."""
    links = linked.links
    if not links.unlinked:
        return None
    return fragment(
        QUERY,
        unlinked=[
            {
                "id": record("unlinked", [linked.agent, linked.dictionary_version]),
                "slugs": sorted(name.slug for name in links.new_concepts),
                "names": sorted({*links.unlinked}),
                "after": "",
            }
        ],
    )
