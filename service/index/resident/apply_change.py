"""Taking one row of the store into an agent's index, or out of it; the caller holds the lock.

A row that makes no sense raises CorruptRow, whatever a hand has written into it.
"""

from collections.abc import Mapping
from typing import Any, Final

from service.index.resident.agent_index import AgentIndex
from service.index.resident.facts import CorruptRow, facts_of_row
from service.index.resident.graph import EDGE_TABLES, EdgeTable
from service.names.spellings import other_slugs
from service.records import RowChange
from service.store.vector_forms import read_vector

OTHER_MODEL: Final = "a vector of another model"

Row = Mapping[str, Any]


def apply_change(index: AgentIndex, change: RowChange, fingerprint: str | None) -> None:
    """Take in one change of the feed; vectors must carry the fingerprint."""
    if change.table == "memory":
        _take_memory(index, change)
    elif change.table == "concept":
        _take_concept_change(index, change)
    elif change.table == "embedding":
        _take_vector(index, change, fingerprint)
    elif change.table in EDGE_TABLES:
        if change.row is None:
            _drop_edge(index, change.table, change.key)
        else:
            take_edge(index, change.table, change.key, change.row)


def take_concept(index: AgentIndex, key: Any, values: tuple[Any, Any, Any, Any]) -> None:
    """Take in a concept: its name, its number of memories, its merged spellings, its aliases.

    Its key is [agent, slug]; of what was merged slugs are told. None for no spellings or aliases.
    """
    if len(key) != 2:
        raise CorruptRow(f"concept {key!r}")
    name, memories, merged, aliases = values
    index.graph.put_concept(key[1], name, memories, other_slugs(merged, aliases))
    index.admit("concept", key)


def take_edge(index: AgentIndex, table: EdgeTable, key: Any, row: Row) -> None:
    """Take in an edge, if its ends are this agent's: memories by key, concepts by slug."""
    ends = _ends(index, table, row)
    if ends is None:
        return
    if _ends_named(index, table, key) != ends:
        index.strange_edges[table, str(key)] = ends
    weight = row.get("weight")
    is_declared = bool(row.get("is_declared"))
    index.put_edge(table, ends, 0 if weight is None else weight, is_declared=is_declared)
    index.admit(table, key)


def is_of(index: AgentIndex, key: Any) -> bool:
    """Return whether a key begins with this agent's name, as those of concepts do."""
    return isinstance(key, list) and len(key) > 1 and key[0] == index.agent


def _take_memory(index: AgentIndex, change: RowChange) -> None:
    if change.row is None or change.row.get("agent") != index.agent:
        index.admit("memory", change.key)
        index.remove_memory(change.key)
        if change.row is None:
            index.remove_edges_of_memory(change.key)
        return
    packs = index.packed is not None
    index.put_memories([facts_of_row(change.key, change.row, packs=packs)])
    index.admit("memory", change.key)


def _take_concept_change(index: AgentIndex, change: RowChange) -> None:
    if not is_of(index, change.key):
        return
    if change.row is None:
        index.admit("concept", change.key)
        index.graph.remove_concept(change.key[1])
        index.graph.remove_edges_of_concept(change.key[1])
    else:
        row = change.row
        merged = [old["slug"] for old in row.get("merged") or ()]
        aliases = row.get("aliases") if row.get("is_declared") else None
        take_concept(index, change.key, (row.get("name"), row.get("memories"), merged, aliases))


def _take_vector(index: AgentIndex, change: RowChange, fingerprint: str | None) -> None:
    if change.row is None:
        index.remove_vector(change.key)
    elif not index.holds(change.key):
        return  # another agent's
    elif change.row.get("fingerprint") != fingerprint:
        index.leave_out_vector(change.key, OTHER_MODEL)
    else:
        take_vector(index, change.key, change.row.get("vector"))


def take_vector(index: AgentIndex, key: str, stored: Any) -> None:
    """Take in a stored vector; one that makes no sense is left out and counted."""
    try:
        index.put_vectors([key], [read_vector(stored)])
    except (ValueError, TypeError) as error:
        index.leave_out_vector(key, str(error))


def _drop_edge(index: AgentIndex, table: EdgeTable, key: Any) -> None:
    """Take an edge out: its id names its ends (writing/transaction.py), or we remember them."""
    ends = index.strange_edges.pop((table, str(key)), None) or _ends_named(index, table, key)
    index.admit(table, key)
    if ends is not None:
        index.remove_edge(table, ends)


def _ends(index: AgentIndex, table: EdgeTable, row: Row) -> tuple[str, str] | None:
    source, target = row.get("in"), row.get("out")
    if table == "follows":
        is_ours = isinstance(source, str) and isinstance(target, str) and index.knows(source)
        return (str(source), str(target)) if is_ours else None
    if not is_of(index, target) or target is None:
        return None
    if table == "references":
        return (source, target[1]) if isinstance(source, str) and index.knows(source) else None
    return (source[1], target[1]) if source is not None and is_of(index, source) else None


def _ends_named(index: AgentIndex, table: EdgeTable, key: Any) -> tuple[str, str] | None:
    """Return the ends that an id of ours names; None for another's and for ids by hand."""
    if table in {"related_to", "is_a"}:
        return (key[1], key[2]) if is_of(index, key) and len(key) == 3 else None
    is_ours = isinstance(key, list) and len(key) == 2 and isinstance(key[0], str)
    return (key[0], key[1]) if is_ours and index.knows(key[0]) else None
