"""One agent's index as a file holds it."""

from typing import Final

import numpy as np

from service.index.resident.agent_index import AgentIndex
from service.index.resident.columns import Columns
from service.index.resident.graph import AgentGraph
from service.index.resident.packed_memories import PackedMemories
from service.index.resident.saved import Saved
from service.index.resident.text import TextIndex
from service.index.resident.vectors import VectorIndex

# No memory has it for a key.
_GONE: Final = "\0"


def save_index(index: AgentIndex) -> Saved:
    """Return all that an index holds; nothing of it may change meanwhile.

    Afterwards it may: all is copied but vectors, and what was not written when it was saved is
    read from the store anew by whoever restores it.
    """
    with index.lock:
        index.text.purge()
        index.graph.finish()
        if index.vectors:
            index.vectors.finish()
    saved = Saved(
        {
            "agent": index.agent,
            "corrupt": sorted(index.corrupt),
            "beyond_budget": index.beyond_budget,
            "cut_at": index.cut_at,
            "strange_edges": [[*key, *ends] for key, ends in index.strange_edges.items()],
            "unfit": dict(index.unfit),
        }
    )
    saved.put_strings("keys", _keys_of(index))
    saved.put("columns", index.columns.save())
    saved.put("text", index.text.save())
    saved.put("graph", index.graph.save())
    if index.vectors:
        saved.put("vectors", index.vectors.save())
    if index.packed:
        saved.put("packed", index.packed.save())
    return saved


def _keys_of(index: AgentIndex) -> list[str]:
    """Return the keys by row; that of a memory that is gone only where edges name it."""
    graph, keys = index.graph, list(index.keys)
    is_gone = np.ones(len(keys), np.bool_)
    is_gone[: len(index.columns.present)] = ~index.columns.present
    for row in np.flatnonzero(is_gone).tolist():
        edges = (graph.references.ahead(row), graph.follows.ahead(row), graph.follows.behind(row))
        if not any(map(len, edges)):
            keys[row] = _GONE
    return keys


def restore_index(saved: Saved) -> AgentIndex:
    """Return an index as it was saved; raises KeyError, ValueError, TypeError, IndexError."""
    facts = saved.facts
    index = AgentIndex(str(facts["agent"]))
    index.columns = Columns.restore(saved.part("columns"))
    index.text = TextIndex.restore(saved.part("text"))
    index.graph = AgentGraph.restore(index.agent, saved.part("graph"))
    if "vectors" in facts:
        index.vectors = VectorIndex.restore(saved.part("vectors"))
    if "packed" in facts:
        index.packed = PackedMemories.restore(saved.part("packed"))
    index.keys = saved.strings("keys")
    index.rows = {key: row for row, key in enumerate(index.keys) if key != _GONE}
    index.corrupt = {(table, key) for table, key in facts["corrupt"]}
    index.beyond_budget = int(facts["beyond_budget"])
    # Snapshots of an older version lack it: they were of whole indexes.
    index.cut_at = int(facts.get("cut_at", 0))
    index.strange_edges = {(t, key): (one, two) for t, key, one, two in facts["strange_edges"]}
    index.unfit = dict(facts["unfit"])
    return index
