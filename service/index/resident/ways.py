"""Ways along time from some rows, as far as they are seen, and all rows on them numbered; pure.

Plain Python, that setup.py compiles by the types in ways.pxd.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Steps = NDArray[np.int32]

NOBODY: Final = -1


def see_ways(rows: Rows, ways: Steps, mask: NDArray[np.uint8], reach: int) -> Steps:
    """Return what the mask shows of the ways from each row: [place, side, step].

    `ways` are those of all rows [row, side, step], nearest first. One ends with what is hidden.
    """
    found = np.full((len(rows), 2, reach), NOBODY, np.int32)
    seen = found
    for place in range(len(rows)):
        for side in range(2):
            for step in range(reach):
                end = ways[rows[place], side, step]
                if end < 0 or end >= len(mask) or mask[end] == 0:
                    break
                seen[place, side, step] = end
    return found


def number_rows(rows: Rows, before: Steps, after: Steps, size: int) -> tuple[Rows, int]:
    """Return all rows that are met, each once, and how many are asked about or right beside one.

    Those asked about come first, then what is right beside one, then the others. In `before` and
    `after` [place, step] the rows' numbers take the place of the rows; `size` is above every row.
    """
    found = np.empty(len(rows) * (1 + 2 * before.shape[1]), np.intp)
    # A number counts where it is that of its row: so nothing has to be cleared before.
    met, numbers = found, np.empty(size, np.int32)
    near = len(rows)
    for place in range(near):
        met[place] = rows[place]
        numbers[rows[place]] = place
    near = _number(before[:, :1], met, numbers, near)
    near = _number(after[:, :1], met, numbers, near)
    count = _number(before[:, 1:], met, numbers, near)
    count = _number(after[:, 1:], met, numbers, count)
    return found[:count], near


def number_places(rows: Steps, size: int) -> tuple[Rows, Rows]:
    """Return all of these rows, each once as it is met, and where each of them stands there.

    `size` is above every row, and none is below 0.
    """
    met = np.empty(len(rows), np.intp)
    places = rows.reshape(1, -1).copy()
    count = _number(places, met, np.empty(size, np.int32), 0)
    return met[:count], places[0].astype(np.intp)


def _number(ways: Steps, met: Rows, numbers: NDArray[np.int32], count: int) -> int:
    """Put numbers in the place of the rows on ways, new ones behind `count`; returns the last."""
    for place in range(ways.shape[0]):
        for step in range(ways.shape[1]):
            row = ways[place, step]
            if row < 0:
                break
            number = numbers[row]
            if number < 0 or number >= count or met[number] != row:
                number = count
                numbers[row] = number
                met[number] = row
                count += 1
            ways[place, step] = number
    return count
