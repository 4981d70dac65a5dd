"""What memories mention, and how many mention each concept."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "references")


def references(linked: LinkedChange) -> Fragment | None:
    """Write what each memory mentions from now on, and count each concept's memories."""
    agent, found, change = linked.agent, linked.links.references, linked.change
    orphans, declared = linked.links.orphans.slugs, change.declared
    touched = {key for key, _ in found.added | found.dropped} - {one.id for one in change.gone}
    rows: dict[str, dict[str, Any]] = {
        key: {
            "id": record("references", key),
            # Memories that do not count, such as summaries, may mention one that goes.
            "concepts": [[agent, slug] for slug in sorted(linked.links.concepts_of[key] - orphans)],
        }
        for key in sorted(touched)
    }
    new = {draft.id for draft in change.drafts} - change.replaced.keys()
    kept = [key for key, row in rows.items() if row["concepts"]]
    learned = {name.slug for name in linked.learned}
    mentioned = {slug for key in kept for _, slug in rows[key]["concepts"]}.union(*declared.related)
    mentioned -= learned | declared.flags.keys()
    return fragment(
        QUERY,
        references=[rows[key] for key in kept if key in new],
        changed_references=[rows[key] for key in kept if key not in new],
        gone_references=[rows[key]["id"] for key in rows if not rows[key]["concepts"]],
        counts=[
            {"by": by, "ids": [record("concept", [agent, slug]) for slug in slugs]}
            for by, slugs in _by_count(found.counts, learned).items()
        ],
        mentioned=sorted([agent, slug] for slug in mentioned if found.counts.get(slug, 0) <= 0),
    )


def _by_count(counts: Mapping[str, int], learned: Collection[str]) -> dict[int, list[str]]:
    """Return the concepts that are there already by how many memories more mention them."""
    found: dict[int, list[str]] = defaultdict(list)
    for slug, by in sorted(counts.items()):
        if slug not in learned:
            found[by].append(slug)
    return found
