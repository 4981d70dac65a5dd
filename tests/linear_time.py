"""Whether a function's time grows with its text and no faster; in CPU time of this thread."""

import time
from collections.abc import Callable
from typing import Final

MOST_GROWTH: Final = 2.5
# Under this nobody waits, and a clock tells too little.
QUICK_SECONDS: Final = 0.003
_QUICK_TRIES: Final = 3
# What grows faster does so in each of them; a machine that others use is slow in some.
_TRIES: Final = 8


def seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of one call."""
    started = time.thread_time()
    call()
    return time.thread_time() - started


def is_quick(call: Callable[[], object], within: float = QUICK_SECONDS) -> bool:
    """Say whether nobody waits for a call: one of three, for others use the machine too."""
    return any(seconds(call) < within for _ in range(_QUICK_TRIES))


def growth(call: Callable[[int], Callable[[], object]], length: int) -> float:
    """Return how many times longer twice the text takes: at least, over several tries.

    `call` makes a call on a text of a length. What takes no time at all grows by nothing. Each try
    takes turns between the lengths, doubled until the shorter is slow enough to be timed.
    """
    least = float("inf")
    for _ in range(_TRIES):
        short, long = call(length), call(2 * length)
        once = min(seconds(short) for _ in range(2))
        twice = min(seconds(long) for _ in range(2))
        if twice < QUICK_SECONDS:
            return 0.0
        least = min(least, twice / max(once, 1e-6))
        if least <= MOST_GROWTH:
            return least
        if once < QUICK_SECONDS:
            length *= 2
    return least
