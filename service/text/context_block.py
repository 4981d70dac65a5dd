"""The block in which this service's words stand in an agent's context; pure.

Whoever reads a transcript knows it by its marks and leaves it out: nothing that was given comes
back as something that was said.
"""

import re
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


def _quoted(value: str) -> str:
    return _UNQUOTED.sub(" ", value)[:200]
