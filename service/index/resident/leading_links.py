"""Links along concepts: which concepts link, and where they lead; pure.

Plain Python, that setup.py compiles by the types in leading_links.pxd.
"""

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Ends = NDArray[np.int32]
# How many of each link, and all of them one after the other.
Gathered = tuple[Rows, Ends]


def keep_linking(
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


def keep_leading(
    starts: Rows,
    is_few: NDArray[np.uint8],
    ends: Gathered,
    subjects: NDArray[np.int64],
    names: tuple[Rows, NDArray[np.int64]],
) -> tuple[Rows, Rows, Ends]:
    """Return which links lead anywhere, how many ends each of these has, and all of them.

    A concept leads to all its memories if there are few, or if its start is about it; else to
    those that are about it. `names` are how many digests of its names each link's concept has, and
    all of these; `subjects` are those of all rows, what is beyond is not there yet.
    """
    sizes, every_end = ends
    of_names, every_name = names
    kept, found_sizes = np.empty(len(starts), np.intp), np.empty(len(starts), np.intp)
    found = np.empty(len(every_end), np.int32)
    links, told, led = kept, found_sizes, found
    count, total, at, first = 0, 0, 0, 0
    for link in range(len(starts)):
        last = first + of_names[link]
        leads = is_few[link] > 0 or _is_named(subjects[starts[link]], every_name, first, last)
        before = total
        for _ in range(sizes[link]):
            end = every_end[at]
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
    return kept[:count], found_sizes[:count], found[:total]


def _is_named(subject: int, names: NDArray[np.int64], first: int, last: int) -> bool:
    """Return whether a subject is one of the names between two places."""
    for place in range(first, last):  # noqa: SIM110 - compiled, no generator is made
        if names[place] == subject:
            return True
    return False
