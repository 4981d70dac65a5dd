import numpy as np
from numpy.typing import NDArray

def nearest_rows(
    dot: int,
    query: NDArray[np.int8],
    rows: NDArray[np.int8],
    scales: NDArray[np.float32],
    wanted: NDArray[np.intp],
    most: int,
    slack: float,
    found: NDArray[np.intp],
    near: NDArray[np.float32],
) -> int: ...
