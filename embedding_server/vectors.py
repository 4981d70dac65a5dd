"""What is done to a model's raw vectors before they leave the server."""

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


def find_unusable(vectors: Vectors) -> list[int]:
    """Return the rows that have no direction: NaN, infinite or zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(vectors, axis=1)
    return [int(row) for row in np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))]


def shorten(vectors: Vectors, dimensions: int) -> Vectors:
    """Return the first `dimensions` numbers of every row, scaled to unit length in float32.

    The scaling comes after the cut: a unit vector that is cut is no longer of unit length. A row
    that has no direction becomes NaN.
    """
    prefix = np.ascontiguousarray(vectors[:, :dimensions], dtype=np.float32)
    lengths: Vectors = np.linalg.norm(prefix, axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return prefix / lengths
