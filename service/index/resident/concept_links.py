"""Where the concepts of memories lead, by rows of one agent's index."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.index.resident.graph import AgentGraph
from service.index.resident.leading_links import (
    Ends,
    Rows,
    keep_leading,
    keep_linking,
)
from service.index.resident.ways import number_places
from service.records import FEW_MEMORIES


@dataclass(frozen=True, slots=True)
class ConceptLinks:
    """Links as in index/links.py, of which `concepts` are numbers; `rows` are those of its keys."""

    rows: Rows
    concepts: Ends
    starts: Rows
    sizes: Rows
    ends: Rows


def follow_concepts(
    graph: AgentGraph, rows: Rows, most_memories: int, subjects: NDArray[np.int64]
) -> ConceptLinks:
    """Return where the concepts of these rows lead: see Engine.linked.

    `subjects` are the subjects' digests by row. What leads nowhere is left out.
    """
    sizes, concepts = graph.references.gather_ahead(rows)
    memories = graph.concepts.memories(concepts)
    starts, concepts, memories = keep_linking(rows, sizes, concepts, memories, most_memories)
    leading = graph.references.gather_behind(concepts)
    names = graph.digests(concepts.tolist())
    of_names = np.array([len(one) for one in names], np.intp)
    every_name = np.array([digest for one in names for digest in one], np.int64)
    is_few = (memories <= FEW_MEMORIES).view(np.uint8)
    kept, sizes, ends = keep_leading(starts, is_few, leading, subjects, (of_names, every_name))
    starts, concepts = starts[kept], concepts[kept]
    met = np.concatenate((starts, ends), dtype=np.int32, casting="same_kind")
    named, places = number_places(met, len(subjects))
    return ConceptLinks(named, concepts, places[: len(starts)], sizes, places[len(starts) :])
