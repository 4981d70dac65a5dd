"""Which memories say nearly the same, by their vectors; pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

# Cosine from which two memories are near-duplicates, and more than how many make a cluster.
LEAST_LIKENESS: Final = 0.85
_FEW: Final = 3
# Rows compared at once: 512 x 8,192 cosines are 16 MB, however many memories there are.
_BLOCK_ROWS: Final = 512
_LEADER_ROWS: Final = 8_192


def find_leaders(
    keys: Sequence[str], vectors: Matrix, known: Sequence[str], known_vectors: Matrix
) -> dict[str, str]:
    """Return for each member of a cluster the memory that it is like (leader clustering).

    One after the other, a memory joins the leader nearest to it, or else leads itself: so every
    member is as near to its leader as LEAST_LIKENESS asks, and chains of ever less alike memories
    cannot form. `known` are leaders of clusters that exist; those may grow by one, a new cluster
    needs more than three members and counts its leader. All vectors have length 1.
    """
    names = [*known]
    leaders = _Leaders(known_vectors, vectors.shape[1] if vectors.ndim == 2 else 0)
    chosen: list[int] = []
    for start in range(0, len(keys), _BLOCK_ROWS):
        block = vectors[start : start + _BLOCK_ROWS]
        places, likeness = leaders.nearest(block)
        before = leaders.count
        fresh: list[int] = []
        among = block @ block.T
        for row in range(len(block)):
            place, best = int(places[row]), float(likeness[row])
            if fresh:
                nearest = int(np.argmax(among[row, fresh]))
                if among[row, fresh[nearest]] > best:
                    place, best = before + nearest, float(among[row, fresh[nearest]])
            if best < LEAST_LIKENESS:
                place = before + len(fresh)
                fresh.append(row)
                names.append(keys[start + row])
            chosen.append(place)
        leaders.add(block[fresh])
    sizes = Counter(chosen)
    return {
        key: names[place]
        for key, place in zip(keys, chosen, strict=True)
        if place < len(known) or sizes[place] > _FEW
    }


class _Leaders:
    """The vectors of leaders, in the order in which they came."""

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
        """Return the nearest leader of each row and its cosine; of equal ones the first."""
        places = np.zeros(len(block), np.int64)
        best = np.full(len(block), -2, np.float32)
        for start in range(0, self.count, _LEADER_ROWS):
            cosines = block @ self._rows[start : min(start + _LEADER_ROWS, self.count)].T
            found = cosines.argmax(axis=1)
            values = cosines[np.arange(len(block)), found]
            better = values > best
            places[better], best[better] = found[better] + start, values[better]
        return places, best
