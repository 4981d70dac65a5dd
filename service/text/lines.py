"""Lines of a text, counted as sections name theirs: at CRLF, CR and LF alone; pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

_END: Final = re.compile(r"(\r\n|\r|\n)")

# First and last line, from 1.
LineRange = tuple[int, int]


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their ends; the last is left out if it is empty."""
    lines = _END.split(text)[::2]
    return lines if lines[-1] else lines[:-1]


def blanked(text: str, ranges: Iterable[LineRange]) -> str:
    """Return a text with these lines empty; all others keep their numbers and their ends."""
    parts = _END.split(text)
    for first, last in ranges:
        for line in range(max(first, 1), min(last, (len(parts) + 1) // 2) + 1):
            parts[2 * (line - 1)] = ""
    return "".join(parts)


def merged(ranges: Iterable[Sequence[int]]) -> tuple[LineRange, ...]:
    """Return the same lines in as few ranges as possible, in order."""
    found: list[LineRange] = []
    for first, last in sorted((one[0], one[1]) for one in ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)
