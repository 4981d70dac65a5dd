"""What a memory is called where it was given no title; pure."""

from typing import Final

_MOST_CHARACTERS: Final = 80


def title_of(title: str, content: str) -> str:
    """Return a memory's title, or the beginning of its text when it was given none.

    That is its first line with text, without the marks around it, of at most 80 characters.
    """
    lines = (line.strip(" #*->`\t") for line in content.splitlines() if line.strip())
    first = next(lines, "")
    if title or len(first) <= _MOST_CHARACTERS:
        return title or first
    return f"{first[: _MOST_CHARACTERS - 1].rstrip()}…"
