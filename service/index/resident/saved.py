"""An index taken apart into arrays and facts that a file can hold; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(slots=True)
class Saved:
    """What one part of an index is made of.

    `facts` are what JSON can say; `by_row` are the arrays with a row for each memory, which go on
    growing once they are restored: there they have room for more rows, all zero.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    by_row: dict[str, Array] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """How much its arrays hold."""
        return sum(array.nbytes for array in (*self.arrays.values(), *self.by_row.values()))

    def put(self, name: str, part: "Saved") -> None:
        """Take in a smaller part under its name."""
        self.facts[name] = part.facts
        self.arrays |= {f"{name}/{inner}": array for inner, array in part.arrays.items()}
        self.by_row |= {f"{name}/{inner}": array for inner, array in part.by_row.items()}

    def part(self, name: str) -> "Saved":
        """Return a smaller part that was put; raises KeyError."""
        return Saved(self.facts[name], _under(name, self.arrays), _under(name, self.by_row))

    def put_strings(self, name: str, strings: Sequence[str]) -> None:
        """Take in texts as one array of bytes and one of their lengths."""
        encoded = [text.encode(errors="surrogatepass") for text in strings]
        self.arrays[f"{name} bytes"] = np.frombuffer(b"".join(encoded), np.uint8)
        self.arrays[f"{name} lengths"] = np.array([len(text) for text in encoded], np.uint32)

    def strings(self, name: str) -> list[str]:
        """Return texts that were put, each one anew; raises KeyError, UnicodeDecodeError."""
        whole = self.arrays[f"{name} bytes"].tobytes()
        ends = np.cumsum(self.arrays[f"{name} lengths"], dtype=np.int64).tolist()
        starts = [0, *ends][:-1]
        return [
            whole[start:end].decode(errors="surrogatepass")
            for start, end in zip(starts, ends, strict=True)
        ]


def _under(name: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {
        inner.removeprefix(f"{name}/"): array
        for inner, array in arrays.items()
        if inner.startswith(f"{name}/")
    }
