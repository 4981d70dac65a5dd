"""What the embedded engine holds in RAM without a bound, and when it is to be given back."""

import os
import resource
from functools import cache
from pathlib import Path
from typing import Final

_PROCESS: Final = Path("/proc/self/statm")
# The engine keeps each block that it reads, up to half of the machine's memory less 1 GiB, and
# cannot be told another bound (docs/decisions/0023). A reopening gives them back. It takes 30 ms,
# but at about every third the engine rewrites its tables, .8 s for 100,000 memories, and holds the
# interpreter meanwhile: so there is one when a question has read much, and none for less. In the
# second after a start 50 MB are due to the first searches, which overlap with questions.
_MOST_GROWN_BYTES: Final = 100_000_000


def resident_bytes() -> int:
    """Return what this process holds in RAM without pages of files; 0 where no /proc tells it."""
    if (file := _opened()) is None:
        return 0
    pages, of_files = map(int, os.pread(file, 200, 0).split()[1:3])
    return (pages - of_files) * resource.getpagesize()


@cache
def _opened() -> int | None:
    """Return the file that tells it, opened once: to open it takes 15 microseconds of 17."""
    return os.open(_PROCESS, os.O_RDONLY) if _PROCESS.exists() else None


class EngineMemory:
    """By how much this process has grown while its store was asked, from when it was opened on.

    Searches make it grow, too, by their arrays, and ask the store nothing.
    """

    def __init__(self) -> None:
        self._at_begin = self._at_asking = resident_bytes()
        self._is_asked = False
        self._grown = 0

    def begin(self) -> None:
        """Count from now on: what is held is not the engine's.

        It has just been opened, or an index was read from a file beside it.
        """
        self._at_begin = self._at_asking = resident_bytes()
        self._grown = 0

    def asked(self) -> None:
        """Note that somebody asks the store, whom nobody else did."""
        self._at_asking, self._is_asked = resident_bytes(), True

    def answered(self) -> None:
        """Note that nobody asks it any more."""
        self._grown, self._is_asked = self._grown_while_asked(resident_bytes()), False

    def has_grown(self, log_bytes: int) -> bool:
        """Return whether a reopening may be worth it: by more than what the log alone has."""
        held = resident_bytes()
        # What a question took and gave back is not held.
        grown = min(self._grown_while_asked(held), held - self._at_begin)
        return grown - log_bytes > _MOST_GROWN_BYTES

    def _grown_while_asked(self, held: int) -> int:
        return self._grown + (max(0, held - self._at_asking) if self._is_asked else 0)
