"""What does not hold any more counts less than what does: the tag `outdated`; pure."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# What was decided before says the words of a question as well as what holds: of two that fit alike
# the one that holds comes first, and what has little of the question stays behind both.
_FACTOR: Final = 0.7


def factors_of(is_outdated: NDArray[Any]) -> Mapping[int, float]:
    """Return by how much the score of each row counts, of those alone that are outdated."""
    return dict.fromkeys(np.flatnonzero(is_outdated).tolist(), _FACTOR)
