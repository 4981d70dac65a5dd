"""Reading one file beneath its folder: what was opened is what was checked, whoever else writes.

Between a listing and a reading anybody may put something else in a file's place. So a file is
opened component by component from its folder down, no link is followed on the way, and all that
is asked (a plain file? how large? whose?) is asked of what was opened.
"""

import os
import stat
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from service.errors import NotText, PathOutsideSources, SourceTooLarge

# Opening a pipe waits for nobody, and a terminal does not become ours.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
# Room is made for so much at once, however small the file is.
_PART_BYTES: Final = 1_000_000
_BINARY: Final = "a binary file: it holds NUL bytes."
_NOT_A_FILE: Final = "not a file: a folder, a link, a pipe or a device."
_OUTSIDE: Final = "a link that leads out of its folder; it is not followed."
_HARD_LINKED: Final = (
    "it has {} names (hard links), and one may lie outside of the folders: not read. Put a copy "
    "in its place, or set MEMORY_READ_HARD_LINKS=true."
)


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text, and when it was last changed; None for a time outside of the years 1 to 9999.

    Such times come from broken clocks and archives: they say nothing of the note.
    """

    text: str
    modified_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """What is read: files of up to `max_bytes`, and such with several names only if `hard_links`.

    A hard link cannot be told from the file that it was made of, which may lie anywhere on the
    disk: whoever may write into the folder could have the service read what only it may read.
    """

    max_bytes: int
    hard_links: bool = False


def read_file(folder: Path, path: Path, rules: ReadingRules) -> FileText:
    """Return the text of a file beneath `folder`; a link is followed as far as it stays inside.

    Raises PathOutsideSources, SourceTooLarge, NotText for what is no text or no plain file, and
    OSError; ELOOP among them where a link was put in the way while it was read.
    """
    try:
        real = path.resolve()
    except RuntimeError as error:
        raise NotText("a link that leads round to itself.") from error
    if not real.is_relative_to(folder):
        raise PathOutsideSources(_OUTSIDE)
    with _opened(folder, real) as descriptor:
        status = os.fstat(descriptor)
        _refuse(status, rules)
        data = _read(descriptor, rules.max_bytes + 1)
    if len(data) > rules.max_bytes:
        _refuse_size(max(status.st_size, len(data)), rules.max_bytes)
    return FileText(decode(data), moment_of(status.st_mtime))


def decode(data: bytes) -> str:
    """Return bytes as text: UTF-8, or UTF-16 that says so by its first two bytes.

    Raises NotText for anything else, and for binary data.
    """
    encoding = "UTF-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "UTF-8"
    if encoding == "UTF-8" and b"\x00" in data:
        raise NotText(_BINARY)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        found = f"byte {data[error.start]:#04x} at position {error.start}"
        raise NotText(f"not {encoding}: {found}. Save it as UTF-8.") from error
    if "\x00" in text:
        raise NotText(_BINARY)
    return text


def moment_of(seconds: float) -> datetime | None:
    """Return a file's time, in seconds since 1970; None outside of the years 1 to 9999."""
    try:
        return datetime.fromtimestamp(seconds, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return None


@contextmanager
def opened_folder(folder: Path, names: Sequence[str]) -> Iterator[int]:
    """Open a folder beneath `folder`, name by name, no link followed; yields its descriptor."""
    # The folder itself is named by the user, links in its own path among it.
    descriptor = os.open(folder, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for name in names:
            descriptor = _replaced(descriptor, os.open(name, _FOLDER, dir_fd=descriptor))
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _opened(folder: Path, path: Path) -> Iterator[int]:
    """Open a real path beneath a folder; yields the descriptor of what lies there."""
    *names, name = path.relative_to(folder).parts or (".",)
    with opened_folder(folder, names) as place:
        # A pipe that is opened wakes whoever waits at its other end: looked at before.
        if not stat.S_ISREG(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode):
            raise NotText(_NOT_A_FILE)
        descriptor = os.open(name, _FILE, dir_fd=place)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _replaced(old: int, new: int) -> int:
    os.close(old)
    return new


def _refuse(status: os.stat_result, rules: ReadingRules) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NotText(_NOT_A_FILE)
    if status.st_nlink > 1 and not rules.hard_links:
        raise PathOutsideSources(_HARD_LINKED.format(status.st_nlink))
    if status.st_size > rules.max_bytes:
        _refuse_size(status.st_size, rules.max_bytes)


def _refuse_size(size: int, most: int) -> None:
    msg = f"{size:,} bytes; the largest file taken is {most:,} (MEMORY_MAX_SOURCE_BYTES)."
    raise SourceTooLarge(msg)


def _read(descriptor: int, most: int) -> bytes:
    """Read at most so many bytes: a file may grow, and those of /proc say that they are empty."""
    parts, left = [], most
    while left > 0 and (part := os.read(descriptor, min(left, _PART_BYTES))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
