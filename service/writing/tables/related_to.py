"""The edges between concepts that stand in the same memories, or are declared so."""

from typing import Any, Final

from service.links.stored import PairEdge
from service.names.relations import Pair
from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "related_to")

_NO_EDGE: Final = PairEdge(0, is_declared=False)


def related_to(linked: LinkedChange) -> Fragment | None:
    """Write what edges weigh from now on, declare and undeclare, and drop those of no weight."""
    agent, declared, known = linked.agent, linked.change.declared, linked.links.pairs
    edges = _edges(linked)
    rows = {pair: _row(linked, pair, edge) for pair, edge in edges.items() if _is_held(edge)}
    return fragment(
        QUERY,
        new_related=[row for pair, row in rows.items() if pair not in known],
        related=[row for pair, row in rows.items() if pair in known],
        undeclared=[record("related_to", [agent, *pair]) for pair in declared.gone_related],
        unrelated=[record("related_to", [agent, *pair]) for pair in edges.keys() - rows.keys()],
    )


def _edges(linked: LinkedChange) -> dict[Pair, PairEdge]:
    """Return the edges that change as they are from now on."""
    known, changes = linked.links.pairs, linked.links.references.weights
    declared = frozenset(linked.change.declared.related)
    edges = {}
    for pair in sorted(changes.keys() | declared):
        weight, is_declared = known.get(pair, _NO_EDGE)
        weight += changes.get(pair, 0)
        edges[pair] = PairEdge(weight, is_declared or pair in declared)
    return edges


def _is_held(edge: PairEdge) -> bool:
    return edge.weight > 0 or edge.is_declared


def _row(linked: LinkedChange, pair: Pair, edge: PairEdge) -> dict[str, Any]:
    # The key says both; the database's own index over the way back is made of fields.
    is_indexed = linked.form == "array"
    return {
        "id": record("related_to", [linked.agent, *pair]),
        "agent": linked.agent if is_indexed else None, "out": pair[1] if is_indexed else None,
        "weight": edge.weight, "is_declared": edge.is_declared or None,
    }  # fmt: skip
