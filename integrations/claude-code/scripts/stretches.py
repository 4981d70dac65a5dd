"""A transcript in stretches of whole lines, from a place on: places are counted in bytes."""

import os
from collections.abc import Iterator
from typing import BinaryIO

MOST_STRETCH = 2_000_000
# A longer line is a picture or a file, which the service passes over; it has no room here.
MOST_LINE = 8_000_000


def stretches(path: object, start: int) -> Iterator[tuple[str, int]]:
    """Yield whole lines of a file behind a place, a stretch at a time, with their size in bytes.

    A line that is too long is passed over: an empty text.
    """
    if not isinstance(path, str) or not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        file.seek(start)
        while content := file.read(MOST_STRETCH):
            end = content.rfind(b"\n") + 1
            if not end:
                # A line longer than a stretch: the rest of it comes along.
                content += file.readline(MOST_LINE)
                end = len(content) if content.endswith(b"\n") else 0
            if len(content) > MOST_LINE:
                yield "", len(content) + rest_of_line(file, content)
                continue
            if not end:
                return
            file.seek(end - len(content), os.SEEK_CUR)
            # A byte that is no text becomes one of another: places are counted in bytes.
            told = content[:end].decode("utf-8", "surrogateescape").encode("utf-8", "replace")
            yield told.decode("utf-8"), end


def rest_of_line(file: BinaryIO, content: bytes) -> int:
    """Return how many bytes are left of a line that begins so, having read them."""
    size = 0
    while content and not content.endswith(b"\n"):
        content = file.readline(MOST_STRETCH)
        size += len(content)
    return size


def lines_before(path: object, place: int) -> Iterator[str]:
    """Yield the last lines of a file before a place, as far as anybody looks back."""
    if isinstance(path, str) and os.path.isfile(path):
        with open(path, "rb") as file:
            file.seek(max(0, place - MOST_STRETCH))
            # The first is half a line, or one more that nobody asks for.
            yield from file.read(place - file.tell()).decode("utf-8", "replace").split("\n")
