"""Chains: which memory follows which, in the order of time; pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """One memory's place in its chain; the order of the fields is the order of the chain.

    `position` is a section's place in its document; of what is pushed when it was told first, in
    microseconds of Unix time.
    """

    occurred_at: datetime
    uri: str
    position: int
    key: str


def session_chain(session: str) -> str:
    """Return the chain of what was pushed in a session."""
    return f"session:{session}"


def expected_edges(links: Iterable[Link]) -> set[tuple[str, str]]:
    """Return the (later, earlier) pairs that a chain of these memories has."""
    ordered = sorted(links)
    return {(later.key, earlier.key) for earlier, later in pairwise(ordered)}
