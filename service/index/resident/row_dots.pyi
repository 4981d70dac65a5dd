import numpy as np
from numpy.typing import NDArray

def scale_dots(
    dot: int,
    query: NDArray[np.int8],
    rows: NDArray[np.int8],
    scales: NDArray[np.float32],
    near: NDArray[np.float32],
) -> None: ...
def scale_dots_at(
    dot: int,
    query: NDArray[np.int8],
    rows: NDArray[np.int8],
    places: NDArray[np.intp],
    scales: NDArray[np.float32],
    near: NDArray[np.float32],
) -> None: ...
