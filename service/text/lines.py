"""Lines of a text, counted as sections name theirs: at CRLF, CR and LF alone; pure."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

_END: Final = re.compile(r"(\r\n|\r|\n)")

# First and last line, from 1.
LineRange = tuple[int, int]


class Placed(NamedTuple):
    """Where a section of a text stands, and whether it may be shown."""

    first: int
    last: int
    heading_path: tuple[str, ...]
    is_shown: bool


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their ends; the last is left out if it is empty."""
    lines = _END.split(text)[::2]
    return lines if lines[-1] else lines[:-1]


def blanked(text: str, ranges: Iterable[LineRange]) -> str:
    """Return a text with these lines empty; all others keep their numbers and their ends.

    The last one gets an end where it had none: it would be no line any more.
    """
    parts = _END.split(text)
    ends_open = parts[-1] != ""
    for first, last in ranges:
        for line in range(max(first, 1), min(last, (len(parts) + 1) // 2) + 1):
            parts[2 * (line - 1)] = ""
    return "".join(parts) + ("\n" if ends_open and not parts[-1] else "")


def merged(ranges: Iterable[Sequence[int]]) -> tuple[LineRange, ...]:
    """Return the same lines in as few ranges as possible, in order."""
    found: list[LineRange] = []
    for first, last in sorted((one[0], one[1]) for one in ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def hidden(text: str, sections: Iterable[Placed]) -> tuple[LineRange, ...]:
    """Return the lines that go with the sections that may not be shown.

    What stands in none goes too: headings without text of their own, and front matter above them,
    where no section below them is shown; what is left behind the last section where none is.
    """
    lines, every = lines_of(text), sorted(sections)
    ends = [0, *accumulate((one.last for one in every), max)]
    found: list[LineRange] = []
    shown: tuple[str, ...] | None = None  # the path of the nearest one below that is
    for end, one in zip(reversed(ends[:-1]), reversed(every), strict=True):
        if one.is_shown:
            shown = one.heading_path
        else:
            found.append((one.first, one.last))
        above = one.heading_path[:-1]
        if shown is None or shown[: len(above)] != above:
            found += _said(lines, end, one.first - 1)
    if every and shown is None:
        found += _said(lines, ends[-1], len(lines))
    return merged(found)


def _said(lines: Sequence[str], start: int, end: int) -> list[LineRange]:
    """Return the lines behind `start` up to `end` from the first on that says anything."""
    said = (number for number, line in enumerate(lines[start:end], start + 1) if line.strip())
    return [(first, end)] if (first := next(said, None)) else []
