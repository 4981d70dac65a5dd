"""Fenced code in markdown: which line opens it, which closes it, and a text without it."""

import re
from typing import Final

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")


def fence_of(line: str) -> str:
    """Return the run of backticks or tildes that a line begins with, "" if it has none."""
    match = _FENCE.match(line)
    return match[1] if match else ""


def closes_fence(line: str, fence: str) -> bool:
    """Say whether a line ends the code that `fence` opened: the same marks, as many or more."""
    marks = line.strip()
    return marks.startswith(fence) and set(marks) == set(fence)


def outside_fences(text: str) -> str:
    """Return the text with an empty line for each line of fenced code."""
    kept, fence = [], ""
    for line in text.split("\n"):
        mark = fence_of(line)
        kept.append("" if fence or mark else line)
        if not fence:
            fence = mark
        elif mark and closes_fence(line, fence):
            fence = ""
    return "\n".join(kept)
