"""What lies beside memories and concepts in one agent's index; see Engine for each of them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from service.index.evidence import KeysOfRows, Question
from service.index.links import Links
from service.index.resident.agent_index import AgentIndex
from service.index.resident.concept_links import follow_concepts
from service.index.resident.left_out import lacks_some
from service.index.resident.values import Told
from service.records import Concept, ConceptId, Related, RelatedEdge


def concepts_of(
    index: AgentIndex, keys: Iterable[str], most_memories: int
) -> dict[str, tuple[Concept, ...]]:
    """Return each memory's concepts that stand in two to `most_memories` memories, by id."""
    with index.lock:
        return {
            key: index.graph.concepts_of(row, most_memories)
            for key, row in index.held(keys).items()
        }


def concepts_named(index: AgentIndex, question: Question) -> list[Concept]:
    """Return the concepts that a question names and a memory mentions without their words."""
    with index.lock:
        return list(Told.of(index, question).concepts)


def memories_of(index: AgentIndex, slugs: Iterable[str]) -> dict[ConceptId, list[str]]:
    """Return the ids of the memories that reference each concept, in ascending order."""
    with index.lock:
        return {
            (index.agent, slug): _named(index, index.graph.rows_of(slug))
            for slug in slugs
            if index.graph.knows(slug)
        }


def referencing(index: AgentIndex, slugs: Iterable[str]) -> set[str] | None:
    """Return the ids of the memories that reference one of these concepts.

    None where the index leaves out memories of the store, with what they reference.
    """
    with index.lock:
        if lacks_some(index, "memory", "references"):
            return None
        return {index.keys[row] for slug in slugs for row in index.graph.rows_of(slug)}


def related_edges(index: AgentIndex, slugs: Iterable[str]) -> list[RelatedEdge]:
    """Return all edges of `related_to` at these concepts, each once.

    The lock is let go between two concepts: a report asks about thousands, for a second.
    """
    edges: dict[RelatedEdge, None] = {}
    for slug in slugs:
        with index.lock:
            edges |= dict.fromkeys(index.graph.related_edges(slug))
    return list(edges)


def summaries_of(index: AgentIndex, keys: Iterable[str]) -> dict[str, str]:
    """Return the id of the summary that each memory is part of; those of none are absent."""
    summaries = index.columns.summaries
    if not summaries:
        return {}
    with index.lock:
        return {key: summaries[row] for key, row in index.held(keys).items() if row in summaries}


def summary_rows(index: AgentIndex, rows: Iterable[int]) -> dict[int, int]:
    """Return the row of the summary that each row is part of; rows of none are absent.

    Of a summary that is not there a number below 0, of this answer another one for each.
    """
    summaries = index.columns.summaries
    if not summaries:
        return {}
    with index.lock:
        found = {row: summaries[row] for row in rows if row in summaries}
        lost = dict.fromkeys(key for key in found.values() if key not in index.rows)
        numbers = {key: ~number for number, key in enumerate(lost)}
        return {row: index.rows.get(key, numbers.get(key, -1)) for row, key in found.items()}


def linked(index: AgentIndex, rows: Sequence[int], most_memories: int) -> tuple[list[int], Links]:
    """Return the rows of the links' keys, and the memories beside each row by concept."""
    with index.lock:
        here = index.columns.standing(rows)
        found = follow_concepts(index.graph, here, most_memories, index.columns.subjects)
        links = Links(
            KeysOfRows(index.keys, found.rows),
            [concept for one in found.concepts.tolist() if (concept := index.graph.concepts[one])],
            found.starts,
            found.sizes,
            found.ends,
        )
    return found.rows.tolist(), links


def beside(index: AgentIndex, rows: Sequence[int]) -> list[int]:
    """Return the rows just before and just after these; some may come twice."""
    with index.lock:
        sides = index.graph.follows.beside(index.columns.standing(rows).tolist())
        return [row for side in sides for ends in side for row in ends]


def related(
    index: AgentIndex, slugs: Iterable[str], edges: set[str]
) -> dict[ConceptId, list[Related]]:
    """Return the concepts beside each one along `related_to` and `is_a`, tightest first."""
    with index.lock:
        return {
            (index.agent, slug): index.graph.related(slug, edges)
            for slug in slugs
            if index.graph.knows(slug)
        }


def before_and_after(
    index: AgentIndex, keys: Iterable[str]
) -> dict[str, tuple[list[str], list[str]]]:
    """Return the ids of the memories just before and just after each one."""
    with index.lock:
        rows = index.held(keys)
        sides = index.graph.follows.beside(list(rows.values()))
        name = index.keys.__getitem__
        # Most have one neighbour on a side, or none: they are named without a call for each.
        before, after = (
            [[name(ends[0])] if len(ends) == 1 else sorted(map(name, ends)) for ends in side]
            for side in sides
        )
        return dict(zip(rows, zip(before, after, strict=True), strict=True))


def slugs_by_agent(concepts: Iterable[ConceptId]) -> defaultdict[str, list[str]]:
    """Return the slugs of concepts by their agent; none of an agent without any."""
    by_agent: defaultdict[str, list[str]] = defaultdict(list)
    for agent, slug in concepts:
        by_agent[agent].append(slug)
    return by_agent


def _named(index: AgentIndex, rows: Sequence[int]) -> list[str]:
    return sorted(index.keys[row] for row in rows)
