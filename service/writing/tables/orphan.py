"""Concepts that no memory mentions any more and nobody declares: they go, with their edges."""

from typing import Final

import orjson

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "orphan")


def orphan(linked: LinkedChange) -> Fragment | None:
    """Remove orphaned concepts, once all edges are written: one may lead to them still.

    Where memories are removed for good or with their file, stored plans that name one go as well.
    """
    agent, orphans = linked.agent, linked.links.orphans
    slugs = sorted(orphans.slugs)
    return fragment(
        QUERY,
        orphans=[record("concept", [agent, slug]) for slug in slugs],
        orphan_keys=[[agent, slug] for slug in slugs],
        orphan_references=[record("references", key) for key in sorted(orphans.mentioning)],
        orphan_edges=[
            record("related_to", [agent, edge.source, edge.target]) for edge in orphans.edges
        ],
        forgotten=[_named(agent, slug) for slug in slugs if linked.change.audit],
    )


def _named(agent: str, slug: str) -> dict[str, str]:
    """Return how the JSON of a plan names a concept: a short slug stands in many an id as well."""
    ref, name = (orjson.dumps(text).decode() for text in (f"concept:{slug}", slug))
    return {"agent": agent, "ref": ref, "name": name}
