"""What is left of a merge or a parting of concepts, for the next transaction."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "relinking")


def relinking(linked: LinkedChange) -> Fragment | None:
    """Note where to go on, or that nothing is left."""
    one = linked.change.regrouped
    key = record("relinking", [linked.agent, one.slug])
    row = {"id": key, "slugs": sorted(one.slugs), "after": max(one.relink, default="")}
    is_over = one.was_waiting and not one.later
    return fragment(QUERY, relinking=[row] if one.later else [], relinked=[key] if is_over else [])
