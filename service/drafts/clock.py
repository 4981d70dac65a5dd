"""Moments for what is told without one: in the order of their telling."""

from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Final

# How far time services step a clock back; further, and it was wrong before.
_STEP: Final = timedelta(minutes=1)
_MICROSECOND: Final = timedelta(microseconds=1)


class Clock:
    """The wall clock, made to go forwards, so that what comes later is told to be later.

    While it is behind its last moment by up to a minute, each moment is a microsecond after the
    one before. Further back it is believed: better a wrong order than wrong days for long.
    """

    def __init__(self) -> None:
        self._last = datetime.fromtimestamp(0, UTC)
        self._lock = Lock()

    def now(self, wall: datetime | None = None) -> datetime:
        """Return the moment of the call, UTC; `wall` is what the wall clock says, for tests."""
        wall = wall or datetime.now(UTC)
        with self._lock:
            is_behind = wall <= self._last <= wall + _STEP
            self._last = self._last + _MICROSECOND if is_behind else wall
            return self._last


CLOCK: Final = Clock()
