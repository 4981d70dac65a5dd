"""The block in which this service's words stand in an agent's context; pure.

Whoever reads a transcript knows it by its marks and leaves it out: nothing that was given comes
back as something that was said.
"""

import re
from collections.abc import Sequence
from typing import Final

_NAME: Final = "graph-memory-context"
CLOSE: Final = f"</{_NAME}>"
# What a text has in it that looks like a mark, in any case and with spaces.
_MARK: Final = re.compile(rf"<(?=\s{{0,9}}/?\s{{0,9}}{_NAME})", re.IGNORECASE)
_UNQUOTED: Final = re.compile(r'[\s<>"]{1,200}')


def open_mark(**told: str | None) -> str:
    """Return the first line of a block, with what it is of."""
    attributes = (f' {name}="{_quoted(value)}"' for name, value in told.items() if value)
    return f"<{_NAME}{''.join(attributes)}>"


def inside(text: str) -> str:
    """Return a text that can stand in a block: no mark in it ends or begins one."""
    return _MARK.sub("\u2039", text)


def plain(text: str) -> str:
    """Return a text as it stands in a block, on one line."""
    return " ".join(inside(text).split())


def without_blocks(text: str, names: Sequence[str] = ()) -> str:
    """Return a text without the blocks of this service, and those of other tags with these names.

    One that is opened and not closed goes on to the end: its rest was cut off.
    """
    for name in (_NAME, *names):
        text = _without(text, name)
    return text


def _without(text: str, name: str) -> str:
    folded, opening, closing = text.lower(), f"<{name}", f"</{name}>"
    if len(folded) != len(text):
        # A letter that has two in lower case: places would not agree.
        folded = text
    kept, place = [], 0
    while (start := folded.find(opening, place)) >= 0:
        after = folded[start + len(opening) : start + len(opening) + 1]
        if after not in {">", " ", "\n", "/"}:
            kept.append(text[place : start + len(opening)])
            place = start + len(opening)
            continue
        kept.append(text[place:start])
        end = folded.find(closing, start)
        if end < 0:
            return "".join(kept)
        place = end + len(closing)
    return "".join([*kept, text[place:]])


def _quoted(value: str) -> str:
    return _UNQUOTED.sub(" ", value)[:200]
