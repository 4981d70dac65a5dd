"""Proper nouns that one memory has used: concepts once a second one does."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "candidate")


def candidate(linked: LinkedChange) -> Fragment | None:
    """Forget those of memories that go or come anew, and those that became concepts."""
    agent, links = linked.agent, linked.links
    return fragment(
        QUERY,
        cleared_candidates=linked.cleared,
        gone_candidates=[
            record("candidate", [agent, slug]) for slug in sorted(links.gone_candidates)
        ],
        candidates=[
            {
                "id": record("candidate", [agent, slug]), "name": name,
                "memory": record("memory", key),
            }
            for slug, (name, key) in sorted(links.candidates.items())
        ],
    )  # fmt: skip
