"""A file of a transcript in stretches of whole lines, each with its place in bytes."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

_STRETCH_BYTES: Final = 1_000_000
# A longer line is a picture or a file: the service would pass over it, and takes no 20 MB at once.
_LONGEST_LINE_BYTES: Final = 8_000_000


def stretches(path: Path, start: int = 0) -> Iterator[tuple[int, str, bool]]:
    """Yield a file from a place on: where each stretch begins, its text, and if it is the last.

    Whole lines, about a million bytes each. A line that is too long is in none of them. Where
    nothing is left the last one is empty: what was read may still be made the last.
    """
    with path.open("rb") as file:
        before = start, ""
        for following in _stretches(file, start):
            if before[1]:
                yield *before, False
            before = following
        yield *before, True


def _stretches(file: BinaryIO, start: int) -> Iterator[tuple[int, str]]:
    file.seek(start)
    lines: list[bytes] = []
    end = start
    for place, line in lines_of(file):
        if lines and (place != end or place + len(line) - start > _STRETCH_BYTES):
            yield start, _text_of(b"".join(lines))
            lines = []
        if not lines:
            start = place
        lines.append(line)
        end = place + len(line)
    if lines:
        yield start, _text_of(b"".join(lines))


def lines_of(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield where each line begins, and the line; one that is too long is passed over."""
    place = file.tell()
    while line := file.readline(_LONGEST_LINE_BYTES + 1):
        if len(line) <= _LONGEST_LINE_BYTES:
            yield place, line
        while line and not line.endswith(b"\n"):
            line = file.readline(_STRETCH_BYTES)
        place = file.tell()


def _text_of(raw: bytes) -> str:
    """Return a text that has as many bytes of UTF-8: places are counted in them."""
    return raw.decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode("utf-8")
