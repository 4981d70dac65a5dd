"""The kinds of memories, and three tags; apart: settings and commands need no more."""

from typing import Final

KINDS: Final = (
    "daily_log", "note", "decision", "preference", "fact", "entity", "handoff", "observation",
    "summary",
)  # fmt: skip
# The tag of what a person said without saying that it is to be kept: it is told behind all else.
IN_PASSING: Final = "in-passing"
# The tag of a handoff that nobody wrote: it repeats what a session asked last, and answers nothing.
AUTOMATIC: Final = "automatic"
# The tag of what its document says does not hold any more: it counts less than what does.
OUTDATED: Final = "outdated"
