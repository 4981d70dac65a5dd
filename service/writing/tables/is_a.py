"""The edges from narrower concepts to broader ones, which the user declares."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "is_a")


def is_a(linked: LinkedChange) -> Fragment | None:
    """Write and drop what the concepts file says."""
    agent, declared = linked.agent, linked.change.declared
    return fragment(
        QUERY,
        isa=[
            {
                "id": record("is_a", [agent, *pair]), "in": record("concept", [agent, pair[0]]),
                "out": record("concept", [agent, pair[1]]),
            }
            for pair in declared.isa
        ],
        gone_isa=[record("is_a", [agent, *pair]) for pair in declared.gone_isa],
    )  # fmt: skip
