"""The kinds of memories, and a tag; apart, as settings and commands need no more of the records."""

from typing import Final

KINDS: Final = (
    "daily_log", "note", "decision", "preference", "fact", "entity", "handoff", "observation",
    "summary",
)  # fmt: skip
# The tag of what a person said without saying that it is to be kept: it is told behind all else.
IN_PASSING: Final = "in-passing"
