"""The `ref` of a summary says why its sources belong together; it is stored, and never changes.

`concept:gpu`, `week:daily:memory:2026-W07`, or `likeness:ID` with the id of the memory that the
others are near-duplicates of.
"""

from datetime import datetime
from typing import Final

_CONCEPT: Final = "concept:"
_WEEK: Final = "week:"
_NEAR_DUPLICATES: Final = "likeness:"


def concept_ref(slug: str) -> str:
    """Return the `ref` of the group of a concept."""
    return f"{_CONCEPT}{slug}"


def week_ref(line: str, moment: datetime) -> str:
    """Return the `ref` of the group of a line of time (`daily:memory`) and an ISO week."""
    year, week, _ = moment.isocalendar()
    return f"{_WEEK}{line}:{year:04}-W{week:02}"


def near_duplicates_ref(leader: str) -> str:
    """Return the `ref` of a cluster of near-duplicates by the id of its leader."""
    return f"{_NEAR_DUPLICATES}{leader}"


def is_of_near_duplicates(ref: str) -> bool:
    """Say whether a `ref` is that of a cluster of near-duplicates."""
    return ref.startswith(_NEAR_DUPLICATES)


def leader_of(ref: str) -> str:
    """Return the leader of a cluster of near-duplicates by its `ref`."""
    return ref.removeprefix(_NEAR_DUPLICATES)


def line_name(ref: str) -> str:
    """Return what the line of time in the `ref` of a week is called; "log" if it has no name.

    `week:daily:memory:2026-W07` gives `memory`.
    """
    line = ref.removeprefix(_WEEK).rpartition(":")[0]
    return line.partition(":")[2] or "log"
