"""A full disk: telling it from other failures, and not writing into one."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from service.errors import StoreFull

# How the engine and the system tell it: no space (28), a quota (122, 69), a file that may not grow
# any more (27).
_FULL: Final = re.compile(
    r"no storage space|no space left|quota exceeded|file too large|os error (?:27|28|69|122)\b",
    re.IGNORECASE,
)
# What a transaction says whose commit failed, with no word of why.
_UNSAID: Final = "not executed due to a failed transaction"
# Larger than a page of any file system, smaller than what one wants to write.
_PROBE_BYTES: Final = 1_000_000


def says_full(text: str) -> bool:
    """Return whether a failure's text tells of a full disk."""
    return bool(_FULL.search(text))


def words_of_full(text: str) -> str:
    """Return the words that tell it, without what stands around them in a failure's text."""
    found = _FULL.search(text)
    return found[0] if found else ""


def may_be_torn(text: str) -> bool:
    """Return whether a failed write may have left half a record at the end of the log."""
    return says_full(text) or _UNSAID in text


def full(place: object, reason: str) -> StoreFull:
    """Return the error that names the place and what to do."""
    told = f"The disk of the store {place} is full ({reason})."
    return StoreFull(f"{told} Make room there: a running service goes on by itself.")


def free_bytes(folder: Path) -> int:
    """Return the room that is left for us on a folder's disk."""
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize


def reason_not_to_grow(folder: Path, size: int) -> str | None:
    """Try to write where a log of `size` bytes would go on; return why not, None if it may."""
    return _reason(lambda: _write_at(folder / ".room", size))


def _reason(write: Callable[[], None]) -> str | None:
    try:
        write()
    except OSError as error:
        return error.strerror or str(error)
    return None


def _write_at(path: Path, size: int) -> None:
    try:
        with path.open("wb") as file:
            file.seek(size)
            file.write(bytes(_PROBE_BYTES))
    finally:
        path.unlink(missing_ok=True)
