"""Whether several ask at once, so that readers are worth their RAM; pure."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# So many searches within so long that came while another one was answered: one agent whose hook
# asks twice at once is no crowd.
_CROWD: Final = 16
_CROWD_SECONDS: Final = 10.0
# Readers stay for so long after the last crowd.
_QUIET_SECONDS: Final = 600.0


class Demand:
    """Counts searches that are answered at once; times are of the monotonic clock, in seconds."""

    def __init__(self) -> None:
        self._now_answered = 0
        self._overlaps: deque[float] = deque(maxlen=_CROWD)
        self._lasts_until = float("-inf")

    @contextmanager
    def answering(self, now: float) -> Iterator[None]:
        """Count one that is answered from now on, until the context ends."""
        if self._now_answered:
            self._overlaps.append(now)
            if len(self._overlaps) == _CROWD and now - self._overlaps[0] <= _CROWD_SECONDS:
                self._lasts_until = now + _QUIET_SECONDS
        self._now_answered += 1
        try:
            yield
        finally:
            self._now_answered -= 1

    def is_there(self, now: float) -> bool:
        """Return whether several have asked at once, not long ago."""
        return now < self._lasts_until
