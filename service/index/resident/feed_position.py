"""How far the change feed was read: where the next look begins, and whether it shows a gap; pure.

A version stamp is the database's time in milliseconds, shifted, and a counter. Moments are those
of time.monotonic, in seconds.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

STAMP_BITS: Final = 16
# Two writers' commits may become visible in another order than their stamps: looked at again.
_OVERLAP_MS: Final = 2000
# A gap is looked for this often: the newest commit, which may be a large one, is read again then.
_CHECK_SECONDS: Final = 60.0
# How far the clocks of several database nodes may differ.
MARGIN_MS: Final = 10_000


def stamp_before(milliseconds: int) -> int:
    """Return a version stamp that lies surely before every commit from a moment on, since 1970."""
    return (milliseconds - MARGIN_MS) << STAMP_BITS


def stamp_after(milliseconds: int) -> int:
    """Return a version stamp that lies surely behind every commit up to a moment, since 1970."""
    return (milliseconds + MARGIN_MS) << STAMP_BITS


@dataclass(slots=True)
class FeedPosition:
    """How far one feed was read.

    `cursor` is the last stamp that was read, or that reading began at; it says nothing while the
    position `is_lost`. `seen` are the stamps of the two seconds up to it. `newest` is the newest
    commit that was read, None before the first and after a gap: the feed must still hold it, or
    commits are missing behind it. `moved_at` is when something new was read last, `checked_at`
    when a gap was looked for.
    """

    moved_at: float
    checked_at: float
    cursor: int = 0
    is_lost: bool = True
    newest: int | None = None
    seen: set[int] = field(default_factory=set)

    def lose(self) -> None:
        """Forget where reading stands."""
        self.is_lost, self.newest = True, None

    def begin_at(self, stamp: int) -> None:
        """Read on from a stamp."""
        self.is_lost, self.cursor = False, stamp

    def next_stamp(self, now: float) -> int:
        """Return the stamp to read from: as a rule the first that was not read yet.

        The commits of several writers may become visible out of order for a while.
        """
        if now - self.moved_at < _OVERLAP_MS / 1000:
            return self.cursor - (_OVERLAP_MS << STAMP_BITS)
        is_due = self.newest is None or now - self.checked_at >= _CHECK_SECONDS
        return self.cursor if is_due else self.cursor + 1

    def has_gap(self, since: int, stamps: Collection[int], now: float) -> bool:
        """Say whether a look from `since` on should have shown the newest commit, and did not.

        A gap is told once: after it reading goes on from where it is.
        """
        if self.newest is None or since > self.cursor:
            return False
        self.checked_at = now
        if self.newest in stamps:
            return False
        self.newest = None
        return True

    def advance(self, stamps: Collection[int], now: float) -> None:
        """Move on over the commits that were read."""
        if stamps:
            latest = max(stamps)
            if latest > self.cursor:
                self.moved_at = now
            self.newest = self.cursor = latest
        horizon = self.cursor - (_OVERLAP_MS << STAMP_BITS)
        self.seen = {stamp for stamp in (*self.seen, *stamps) if stamp >= horizon}
