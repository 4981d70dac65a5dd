import numpy as np
from numpy.typing import NDArray

def is_fast() -> bool: ...
def add_up(
    sketches: NDArray[np.uint8],
    table: NDArray[np.uint8],
    sums: NDArray[np.uint16],
    plainly: bool = False,
) -> None: ...
