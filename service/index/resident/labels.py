"""The different values of one field of memories, by number."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray


class Labels:
    """Different values of one field, numbered in the order of their arrival."""

    def __init__(self) -> None:
        self.codes: dict[Hashable, int] = {}

    def code(self, value: Hashable) -> int:
        """Return the number of a value, a new one if need be."""
        return self.codes.setdefault(value, len(self.codes))

    def used(self, codes: NDArray[np.int32]) -> list[Hashable]:
        """Return the values by their code; the code itself for one that is not among `codes`."""
        used = np.zeros(len(self.codes), np.bool_)
        used[codes] = True
        return [value if used[code] else code for value, code in self.codes.items()]

    def chosen(self, codes: Sequence[int]) -> NDArray[np.bool_]:
        """Return, by code, which of them are among `codes`."""
        table = np.zeros(len(self.codes), np.bool_)
        table[list(codes)] = True
        return table
