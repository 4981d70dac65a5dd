"""Feedback: of two equally good memories the one that helped comes first, within bounds; pure."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# The most that votes may change a score, up or down, however many they are: what fits is never
# buried, and what does not fit is never lifted to the top.
_MOST: Final = 0.1


def factors_of(votes: NDArray[Any]) -> Mapping[int, float]:
    """Return by how much the score of each row counts, of those alone that have votes.

    `votes` are how many said that a memory helped, and how many that it did not [memory, 2]. One
    vote counts half of the most.
    """
    if not votes.any():
        return {}
    told = np.flatnonzero(votes.any(axis=1)).tolist()
    return {row: _factor(*votes[row].tolist()) for row in told}


def _factor(helpful: int, unhelpful: int) -> float:
    # A hand may have written anything into the store.
    helpful, unhelpful = max(helpful, 0), max(unhelpful, 0)
    return 1 + _MOST * (helpful - unhelpful) / (helpful + unhelpful + 1)
