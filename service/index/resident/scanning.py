"""The one long sum over an agent's vectors, shared by all cores when it is very long."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numkong
import numpy as np
from numpy.typing import NDArray

# A scan of so many rows takes tens of milliseconds: then every core takes a part of it.
_SHARED_ROWS: Final = 250_000
_CORES: Final = os.cpu_count() or 1
_SCANNERS: Final = ThreadPoolExecutor(_CORES, thread_name_prefix="scan")


def dots(query: NDArray[np.int8], rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the dot product of one vector, of shape (1, n), with every row.

    The GIL is released meanwhile.
    """

    def scan(part: NDArray[np.int8]) -> NDArray[np.float32]:
        return np.asarray(numkong.cdist(query, part, "dot"), np.float32).reshape(-1)

    if len(rows) < _SHARED_ROWS:
        return scan(rows)
    return np.concatenate(list(_SCANNERS.map(scan, np.array_split(rows, _CORES))))
