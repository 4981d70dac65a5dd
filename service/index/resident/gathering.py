"""Lists of different lengths out of one array, those of some numbers one after the other; pure.

Plain Python, that setup.py compiles by the types in gathering.pxd.
"""

import numpy as np
from numpy.typing import NDArray


def gather(
    offsets: NDArray[np.int64], flat: NDArray[np.int32], numbers: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return how long the list of each number is, and all of them.

    A list lies in `flat` from its offset to the next one; numbers beyond the last have none.
    """
    found, last = np.zeros(len(numbers), np.intp), len(offsets) - 1
    sizes, total = found, 0
    for place in range(len(numbers)):
        if numbers[place] < last:
            sizes[place] = offsets[numbers[place] + 1] - offsets[numbers[place]]
            total += sizes[place]
    every = np.empty(total, np.int32)
    gathered, end = every, 0
    for place in range(len(numbers)):
        for at in range(sizes[place]):
            gathered[end] = flat[offsets[numbers[place]] + at]
            end += 1
    return found, every
