"""A circuit breaker: a server that does not answer is left alone, and tested now and then."""

import time
from collections.abc import Callable
from typing import Final

_FIRST_REST_SECONDS: Final = 1.0
_LONGEST_REST_SECONDS: Final = 15.0
# One slow answer is no dead server; a refused connection counts as so many.
_MOST_FAILURES: Final = 2


class Breaker:
    """Says whether a server may be asked, by what its last calls gave.

    Closed, everybody may ask. Open, nobody may, for a rest that grows from 1 to 15 s. After it the
    next call alone finds out (half-open): where `is_watched`, a probe in the background, so that
    nobody else pays for it. One success closes it.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        first_rest_seconds: float = _FIRST_REST_SECONDS,
    ) -> None:
        self.is_watched = False
        self._clock = clock
        self._first_rest = first_rest_seconds
        self._rest = first_rest_seconds
        self._failures = 0
        self._until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the server counts as away."""
        return self._failures >= _MOST_FAILURES

    @property
    def leaves_alone(self) -> bool:
        """Whether nobody but a probe asks, so that nobody else need wait for what it finds."""
        return self.is_open and self.is_watched

    @property
    def rest_seconds(self) -> float:
        """How long nobody may ask from now on; 0 when somebody may."""
        return max(0.0, self._until - self._clock()) if self.is_open else 0.0

    def may_ask(self, *, is_probe: bool = False) -> bool:
        """Return whether a call that proves nothing may go, such as one for the models' names."""
        return not self.is_open or not (self.rest_seconds or (self.leaves_alone and not is_probe))

    def admit(self, *, is_probe: bool = False) -> bool:
        """Return whether this call may go; half-open, the others then wait for its outcome."""
        if not self.may_ask(is_probe=is_probe):
            return False
        if self.is_open:
            self._until = self._clock() + self._rest
        return True

    def succeed(self) -> None:
        """Count an answer, whatever it says: the server is there."""
        self._failures, self._rest = 0, self._first_rest

    def fail(self, *, is_gone: bool = False) -> None:
        """Count a call without an answer; `is_gone` when nobody listens."""
        was_open = self.is_open
        self._failures += _MOST_FAILURES if is_gone else 1
        if not self.is_open:
            return
        if was_open:
            self._rest = min(2 * self._rest, max(_LONGEST_REST_SECONDS, self._first_rest))
        self._until = self._clock() + self._rest
