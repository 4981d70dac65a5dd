"""Expressions of long tables, most of which no text ever asks for."""

import re
from functools import cached_property


class LatePattern:
    """An expression that is compiled when it is first asked.

    All of a program's are a fifth of what importing it takes, and a text meets few rows of a table.
    What is no expression is found out as late: by the tests, which compile all.
    """

    def __init__(self, text: str, flags: int = 0) -> None:
        self._text = text
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression itself; raises re.error for what is none."""
        return re.compile(self._text, self._flags)
