"""Clusters of near-duplicates, by the vectors of memories; pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.store.vector_forms import Matrix

# From this cosine on two memories are near-duplicates; more than three of them make a cluster.
LEAST_COSINE: Final = 0.85
_TOO_FEW: Final = 3
# Rows compared at once: 512 x 8,192 cosines are 16 MB, however many memories there are.
_BLOCK_ROWS: Final = 512
_LEADER_ROWS: Final = 8_192


def find_leaders(
    keys: Sequence[str], vectors: Matrix, known: Sequence[str], known_vectors: Matrix
) -> dict[str, str]:
    """Return for each member of a cluster its leader (leader clustering).

    One after the other, a memory joins the leader nearest to it, or becomes a leader itself if none
    is as near as LEAST_COSINE: chains in which the ends are unlike cannot form. `known` are leaders
    of clusters that exist; those may grow by one, a new cluster needs more than three members, its
    leader among them. All vectors have length 1.
    """
    names = [*known]
    leaders = _Leaders(known_vectors, vectors.shape[1] if vectors.ndim == 2 else 0)
    leader_of: list[int] = []
    for start in range(0, len(keys), _BLOCK_ROWS):
        block = vectors[start : start + _BLOCK_ROWS]
        nearest, cosines = leaders.nearest(block)
        before = leaders.count
        # Rows of this block that became leaders, not yet among `leaders`.
        fresh: list[int] = []
        among = block @ block.T
        for row in range(len(block)):
            leader, best = int(nearest[row]), float(cosines[row])
            if fresh:
                closest = int(np.argmax(among[row, fresh]))
                if among[row, fresh[closest]] > best:
                    leader, best = before + closest, float(among[row, fresh[closest]])
            if best < LEAST_COSINE:
                leader = before + len(fresh)
                fresh.append(row)
                names.append(keys[start + row])
            leader_of.append(leader)
        leaders.add(block[fresh])
    sizes = Counter(leader_of)
    return {
        key: names[leader]
        for key, leader in zip(keys, leader_of, strict=True)
        if leader < len(known) or sizes[leader] > _TOO_FEW
    }


class _Leaders:
    """The vectors of leaders, in the order in which they became ones."""

    def __init__(self, known: Matrix, dimensions: int) -> None:
        self.count = len(known)
        self._rows = np.zeros((max(64, self.count), dimensions), np.float32)
        self._rows[: self.count] = known

    def add(self, rows: Matrix) -> None:
        needed = self.count + len(rows)
        if needed > len(self._rows):
            grown = np.zeros((2 * needed, self._rows.shape[1]), np.float32)
            grown[: self.count] = self._rows[: self.count]
            self._rows = grown
        self._rows[self.count : needed] = rows
        self.count = needed

    def nearest(self, block: Matrix) -> tuple[NDArray[np.int64], Matrix]:
        """Return the index and cosine of each row's nearest leader; of equal ones the first."""
        nearest = np.zeros(len(block), np.int64)
        best = np.full(len(block), -2, np.float32)
        for start in range(0, self.count, _LEADER_ROWS):
            cosines = block @ self._rows[start : min(start + _LEADER_ROWS, self.count)].T
            highest = cosines.argmax(axis=1)
            values = cosines[np.arange(len(block)), highest]
            better = values > best
            nearest[better], best[better] = highest[better] + start, values[better]
        return nearest, best
