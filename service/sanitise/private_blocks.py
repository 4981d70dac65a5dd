"""Private blocks: what stands between <private> and </private> is stored nowhere; pure."""

import re
from typing import Final

_TAG: Final = re.compile(r"<(/?)private>", re.IGNORECASE)


def without_private(text: str) -> tuple[str, int]:
    """Return a text without its private blocks, and how many there were.

    Lines stay where they are. Of blocks that lie in each other the outer one counts; a tag without
    its other half is a word like others, as whoever writes about tags means no block.
    """
    kept: list[str] = []
    done = 0
    blocks = _blocks(text)
    for start, end in blocks:
        kept += [text[done:start], "\n" * text.count("\n", start, end)]
        done = end
    return "".join([*kept, text[done:]]), len(blocks)


def _blocks(text: str) -> list[tuple[int, int]]:
    """Return where the outermost blocks begin and end."""
    opened: list[int] = []
    found: list[tuple[int, int]] = []
    for tag in _TAG.finditer(text):
        if not tag[1]:
            opened.append(tag.start())
        elif opened:
            start = opened.pop()
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, tag.end()))
    return found
