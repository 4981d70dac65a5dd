"""The kinds of memories; apart, as settings and commands need no more of the records."""

from typing import Final

KINDS: Final = (
    "daily_log", "note", "decision", "preference", "fact", "entity", "handoff", "observation",
    "summary",
)  # fmt: skip
