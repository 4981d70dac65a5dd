"""What memories explain abbreviations by."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "abbreviation")


def abbreviation(linked: LinkedChange) -> Fragment | None:
    """Forget what memories said that go or come anew, and write what is said now."""
    return fragment(
        QUERY,
        cleared_abbreviations=linked.cleared,
        abbreviations=[
            {
                "id": record("abbreviation", [key, short]), "agent": linked.agent, "short": short,
                "slug": name.slug, "name": name.name, "memory": record("memory", key),
            }
            for (key, short), name in sorted(linked.links.expansions.said.items())
        ],
    )  # fmt: skip
