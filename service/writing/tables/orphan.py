"""Concepts that no memory mentions any more and nobody declares: they go, with their edges."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "orphan")


def orphan(linked: LinkedChange) -> Fragment | None:
    """Remove orphaned concepts, once all edges are written: one may lead to them still."""
    orphans = [record("concept", [linked.agent, slug]) for slug in sorted(linked.links.orphans)]
    return fragment(QUERY, orphans=orphans)
