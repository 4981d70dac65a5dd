"""What is left of merges and partings of concepts, and of links to new ones, for the next one."""

from typing import Any, Final

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
    return fragment(
        QUERY,
        relinking=[*([row] if one.later else ()), *_of_new_concepts(linked)],
        relinked=[key] if is_over else [],
    )


def _of_new_concepts(linked: LinkedChange) -> list[dict[str, Any]]:
    """Return the row of the memories in which new concepts stand too, where they are many.

    Under the first of them: no other row has its name, for nothing that waits was not there before.
    """
    if not linked.links.later:
        return []
    slugs = sorted(name.slug for name in linked.links.new_concepts)
    key = record("relinking", [linked.agent, slugs[0]])
    return [{"id": key, "slugs": slugs, "after": "", "memories": sorted(linked.links.later)}]
