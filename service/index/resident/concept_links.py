"""Where the concepts of memories lead, by rows of one agent's index."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.index.resident.graph import AgentGraph
from service.records import FEW_MEMORIES

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ConceptLinks:
    """Links as in index/links.py: `starts` are places among the rows asked for, `ends` are rows.

    `concepts` are numbers.
    """

    starts: Rows
    concepts: NDArray[np.int32]
    sizes: Rows
    ends: NDArray[np.int32]


def follow_concepts(
    graph: AgentGraph, rows: Rows, most_memories: int, subjects: NDArray[np.int64]
) -> ConceptLinks:
    """Return where the concepts of these rows lead: see Engine.linked.

    `subjects` are the subjects' digests by row. What leads nowhere is left out.
    """
    sizes, concepts = graph.references.gather_ahead(rows)
    starts = np.repeat(np.arange(len(rows)), sizes)
    memories = graph.concepts.memories(concepts)
    linking = (memories > 1) & (memories <= most_memories)
    starts, concepts, memories = starts[linking], concepts[linking], memories[linking]
    sizes, ends = graph.references.gather_behind(concepts)
    of_ends = np.repeat(np.arange(len(starts)), sizes)
    from_rows = rows[starts]
    is_other = (ends < len(subjects)) & (ends != from_rows[of_ends])
    ends, of_ends = ends[is_other], of_ends[is_other]
    is_open, is_own = _about(graph, concepts, subjects[from_rows], subjects[ends], of_ends)
    is_led = (is_open | (memories <= FEW_MEMORIES))[of_ends] | is_own
    sizes = np.bincount(of_ends[is_led], minlength=len(starts))
    leads = sizes > 0
    return ConceptLinks(starts[leads], concepts[leads], sizes[leads], ends[is_led])


def _about(
    graph: AgentGraph,
    concepts: NDArray[np.int32],
    of_starts: NDArray[np.int64],
    of_ends: NDArray[np.int64],
    links: Rows,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return of each link whether its start's subject is the concept, of each end whether its is.

    `of_starts` and `of_ends` are subjects, `links` the link of each end.
    """
    digests = graph.digests(concepts.tolist())
    own = np.array([one[0] for one in digests], np.int64)
    is_open, is_own = of_starts == own, of_ends == own[links]
    for link, names in enumerate(digests):
        if len(names) > 1:
            is_open[link] = of_starts[link] in names
            is_own |= (links == link) & np.isin(of_ends, names)
    return is_open, is_own
