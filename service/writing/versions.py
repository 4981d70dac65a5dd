"""Which version of a document came last: a hung embedder must not let an older one win."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count


@dataclass(slots=True)
class _Line:
    """The versions of one document that are under way, and the newest that is written."""

    under_way: int = 0
    written: int = 0


class Versions:
    """Numbers versions as they come in; forgets a document once none of it is under way."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._lines: dict[tuple[str, str], _Line] = {}

    def __len__(self) -> int:
        return len(self._lines)

    @contextmanager
    def under_way(self, agent: str, uris: Sequence[str]) -> Iterator["Version"]:
        """Give what comes in now its number, for as long as it is not written."""
        lines = {uri: self._lines.setdefault((agent, uri), _Line()) for uri in uris}
        for line in lines.values():
            line.under_way += 1
        try:
            yield Version(next(self._numbers), lines)
        finally:
            for uri, line in lines.items():
                line.under_way -= 1
                if not line.under_way:
                    del self._lines[agent, uri]


@dataclass(frozen=True, slots=True)
class Version:
    """Documents that came in together, or are to go together."""

    number: int
    _lines: dict[str, _Line] = field(repr=False)

    def is_newest(self, uri: str) -> bool:
        """Return whether nothing that came later is written already."""
        return self._lines[uri].written < self.number

    def is_written(self, uris: Sequence[str]) -> None:
        """Note that these documents are in the store as this version says."""
        for uri in uris:
            self._lines[uri].written = self.number
