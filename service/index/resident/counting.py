"""How often terms stand in documents of one part, and how long these are; pure.

Plain Python, that setup.py compiles by the types in counting.pxd.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Places = NDArray[np.int32]


def count_terms(
    columns: Sequence[NDArray[Any] | None],
    sizes: Floats,
    places: Places,
    slot: int,
    counts: Floats,
    lengths: Floats,
) -> None:
    """Write counts [row, term] and lengths of the places that lie in this part.

    Of each term `columns` has a count for each document, of one byte or two; None where it stands
    in none. `sizes` are the lengths of documents; places are as in TextIndex, of this slot.
    """
    here = np.empty(len(places), np.intp)
    rows, found = here, 0
    for row in range(len(places)):
        if places[row] >> 16 == slot:
            lengths[row] = sizes[places[row] & 0xFFFF]
            rows[found] = row
            found += 1
    for term in range(len(columns)):
        column = columns[term]
        if column is None:
            continue
        width, held = column.itemsize, column.view(np.uint8)
        for place in range(found):
            row = rows[place]
            at = (places[row] & 0xFFFF) * width
            counts[row, term] = held[at]
            if width > 1:
                counts[row, term] += 256.0 * held[at + 1]
