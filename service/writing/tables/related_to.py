"""The edges between concepts that stand in the same memories, or are declared so."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "related_to")


def related_to(linked: LinkedChange) -> Fragment | None:
    """Add to weights, declare and undeclare, and drop edges that weigh nothing."""
    agent, declared, zero = linked.agent, linked.change.declared, linked.links.zero_pairs
    changes = linked.links.references.weights
    weights = {pair: (by, False) for pair, by in changes.items() if pair not in zero}
    weights |= {pair: (changes.get(pair, 0), True) for pair in declared.related}
    return fragment(
        QUERY,
        related=[
            {
                "id": record("related_to", [agent, *pair]),
                "agent": agent, "out": pair[1], "weight": by, "is_declared": is_declared,
            }
            for pair, (by, is_declared) in sorted(weights.items())
        ],
        undeclared=[record("related_to", [agent, *pair]) for pair in declared.gone_related],
        unrelated=[
            record("related_to", [agent, *pair]) for pair in sorted(zero - set(declared.related))
        ],
    )  # fmt: skip
