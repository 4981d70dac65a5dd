"""What the embedded engine holds in RAM without a bound, and when it is to be given back."""

import resource
from pathlib import Path
from typing import Final

_PROCESS: Final = Path("/proc/self/statm")
# The engine keeps each block that it reads, up to half of the machine's memory less 1 GiB, and
# cannot be told another bound (docs/decisions/0023). A reopening gives them back and takes 30 ms;
# so much is read in a second while an index is loaded, and in minutes or hours by searches.
_MOST_GROWN_BYTES: Final = 100_000_000
_GROWN_BYTES_WHEN_IDLE: Final = 32_000_000


def resident_bytes() -> int:
    """Return what this process holds in RAM without pages of files; 0 where no /proc tells it."""
    if not _PROCESS.exists():
        return 0
    pages, of_files = map(int, _PROCESS.read_text(encoding="ascii").split()[1:3])
    return (pages - of_files) * resource.getpagesize()


class EngineMemory:
    """By how much this process has grown since its store was opened."""

    def __init__(self) -> None:
        self._at_opening = resident_bytes()

    def opened(self) -> None:
        """Note that the store was opened: what is held now is not the engine's."""
        self._at_opening = resident_bytes()

    def has_grown(self, log_bytes: int, *, is_quiet: bool) -> bool:
        """Return whether a reopening may be worth it: by more than what the log alone has."""
        bound = _GROWN_BYTES_WHEN_IDLE if is_quiet else _MOST_GROWN_BYTES
        return resident_bytes() - self._at_opening - log_bytes > bound
