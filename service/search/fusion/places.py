"""The places of some memories among all by each signal; pure.

Plain Python, that setup.py compiles by the types in places.pxd.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Floats

Rows = NDArray[np.intp]


def places_of(values: Floats, columns: Rows, keys: Sequence[str]) -> Rows:
    """Return the place of some columns' values in each row [column, row], from 0.

    The greatest comes first, ties by id. A value that is not above 0 has none, and is told as 0.
    """
    found = np.zeros((len(columns), values.shape[0]), np.intp)
    places = found
    for at in range(len(columns)):
        column = columns[at]
        for row in range(values.shape[0]):
            value, place, equal = values[row, column], 0, 0
            if not value > 0:  # nor NaN
                continue
            for other in range(values.shape[1]):
                place += values[row, other] > value
                equal += values[row, other] == value
            if equal > 1:
                own = keys[column]
                for other in range(values.shape[1]):
                    if other != column and values[row, other] == value and keys[other] < own:
                        place += 1
            places[at, row] = place
    return found
