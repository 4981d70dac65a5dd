"""The place of one memory among all by each signal; pure.

Plain Python, that setup.py compiles by the types in places.pxd.
"""

from collections.abc import Sequence

from service.index.evidence import Floats


def places_of(values: Floats, column: int, keys: Sequence[str]) -> list[int]:
    """Return the place of one column's value in each row, from 0: the greatest first, ties by id.

    A value that is not above 0 has none, and is told as 0.
    """
    places = []
    for row in range(values.shape[0]):
        value, place = values[row, column], 0
        for other in range(values.shape[1] if value > 0 else 0):
            place += values[row, other] > value
            if values[row, other] == value and keys[other] < keys[column]:
                place += 1
        places.append(int(place))
    return places
