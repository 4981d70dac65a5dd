"""Where the concepts of memories lead, by rows of one agent's index.

Plain Python, that setup.py compiles by the types in concept_links.pxd.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.index.resident.graph import AgentGraph
from service.records import FEW_MEMORIES

Rows = NDArray[np.intp]
Ends = NDArray[np.int32]


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
    starts, concepts, memories = _linking(rows, sizes, concepts, memories, most_memories)
    sizes, ends = graph.references.gather_behind(concepts)
    names = graph.digests(concepts.tolist())
    of_names = np.array([len(one) for one in names], np.intp)
    every_name = np.array([digest for one in names for digest in one], np.int64)
    is_few = (memories <= FEW_MEMORIES).view(np.uint8)
    starts, concepts, sizes, ends = _led(
        starts, concepts, is_few, sizes, ends, subjects, of_names, every_name
    )
    return _numbered(starts, concepts, sizes, ends, len(subjects))


def _linking(
    rows: Rows, sizes: Rows, concepts: Ends, memories: NDArray[np.int64], most_memories: int
) -> tuple[Rows, Ends, NDArray[np.int64]]:
    """Return of every concept that links its row, its number, and in how many memories it stands.

    Those stand in two memories at least, and in `most_memories` at most.
    """
    starts, kept = np.empty(len(concepts), np.intp), np.empty(len(concepts), np.intp)
    own, places, told, count, at = starts, kept, memories, 0, 0
    for place in range(len(rows)):
        for _ in range(sizes[place]):
            if 1 < told[at] <= most_memories:
                own[count] = rows[place]
                places[count] = at
                count += 1
            at += 1
    kept = kept[:count]
    return starts[:count], concepts[kept], memories[kept]


def _led(
    starts: Rows,
    concepts: Ends,
    is_few: NDArray[np.uint8],
    sizes: Rows,
    ends: Ends,
    subjects: NDArray[np.int64],
    of_names: Rows,
    every_name: NDArray[np.int64],
) -> tuple[Rows, Ends, Rows, Ends]:
    """Return starts, concepts, sizes and ends of the links that lead anywhere.

    A concept leads to all its memories if there are few, or if its start is about it; else to
    those that are about it. `of_names` says how many digests of its names each link's concept has.
    """
    kept, found_sizes = np.empty(len(starts), np.intp), np.empty(len(starts), np.intp)
    found = np.empty(len(ends), np.int32)
    links, told, led = kept, found_sizes, found
    count, total, at, first = 0, 0, 0, 0
    for link in range(len(starts)):
        last = first + of_names[link]
        leads = is_few[link] > 0 or _is_named(subjects[starts[link]], every_name, first, last)
        before = total
        for _ in range(sizes[link]):
            end = ends[at]
            at += 1
            if end >= len(subjects) or end == starts[link]:
                continue
            if leads or _is_named(subjects[end], every_name, first, last):
                led[total] = end
                total += 1
        first = last
        if total > before:
            links[count] = link
            told[count] = total - before
            count += 1
    kept = kept[:count]
    return starts[kept], concepts[kept], found_sizes[:count], found[:total]


def _is_named(subject: int, names: NDArray[np.int64], first: int, last: int) -> bool:
    """Return whether a subject is one of the names between two places."""
    for place in range(first, last):  # noqa: SIM110 - compiled, no generator is made
        if names[place] == subject:
            return True
    return False


def _numbered(starts: Rows, concepts: Ends, sizes: Rows, ends: Ends, size: int) -> ConceptLinks:
    """Return links with each row once, and its place for the row; `size` is above every row."""
    found = np.empty(len(starts) + len(ends), np.intp)
    places = np.empty(len(starts) + len(ends), np.intp)
    # A number counts where it is that of its row: so nothing has to be cleared before.
    met, own, numbers, count = found, places, np.empty(size, np.int32), 0
    for at in range(len(starts) + len(ends)):
        row = starts[at] if at < len(starts) else ends[at - len(starts)]
        number = numbers[row]
        if number < 0 or number >= count or met[number] != row:
            number = count
            numbers[row] = number
            met[number] = row
            count += 1
        own[at] = number
    return ConceptLinks(found[:count], concepts, places[: len(starts)], sizes, places[len(starts) :])
