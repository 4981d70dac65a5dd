"""Concepts: new and declared ones, merged spellings and abbreviations."""

from collections.abc import Iterable
from typing import Any, Final

from service.names.names import Name
from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "concept")


def concept(linked: LinkedChange) -> Fragment | None:
    """Write new and declared concepts, what was merged, and abbreviations."""
    agent, links, change = linked.agent, linked.links, linked.change
    counts = links.references.counts
    learned = [
        {**concept_row(agent, name), "memories": counts.get(name.slug, 0)}
        for name in linked.learned
    ]
    return fragment(
        QUERY,
        concepts=[*learned, *map(dict, change.declared.concepts)],
        merged=[
            {
                "id": record("concept", [agent, row["slug"]]),
                "merged": row["merged"] or None, "apart": row["apart"] or None,
            }
            for row in change.regrouped.rows
        ],
        taken=[
            {"id": record("concept", [agent, slug]), "slugs": list(slugs)}
            for slug, slugs in change.declared.taken
        ],
        aliases=[
            {"id": record("concept", [agent, slug]), "aliases": list(aliases)}
            for slug, aliases in sorted(links.expansions.aliases.items())
        ],
    )  # fmt: skip


def concept_row(
    agent: str, name: Name, aliases: Iterable[str] = (), *, is_declared: bool = False
) -> dict[str, Any]:
    """Return a row of table `concept` that nothing references yet."""
    return {
        "id": record("concept", [agent, name.slug]), "agent": agent, "name": name.name,
        "aliases": list(aliases), "kind": name.kind, "memories": 0,
        "is_declared": is_declared, "is_cased": name.is_cased,
    }  # fmt: skip
