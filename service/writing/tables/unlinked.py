"""Names that stand in more stored memories than a change links to them, for the next ones."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "unlinked")


def unlinked(linked: LinkedChange) -> Fragment | None:
    """Note the names, and the new concepts: these stay until all is linked that mentions them."""
    links, names = linked.links, {*linked.links.unlinked}
    if not names:
        return None
    return fragment(
        QUERY,
        unlinked=[
            {
                "id": record("unlinked", [linked.agent, linked.dictionary_version]),
                "slugs": sorted(one.slug for one in links.new_concepts if one.name in names),
                "names": sorted(names),
                "after": "",
            }
        ],
    )
