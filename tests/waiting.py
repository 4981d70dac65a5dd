"""Waiting for what another process does: until it is so, however busy the machine."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

Found = TypeVar("Found")

# Nothing is measured by it: a test that waits so long has failed.
_PATIENCE_SECONDS: Final = 90


def until(look: Callable[[], Found], every: float = 0.1) -> Found:
    """Look every so many seconds until something is there, and return it."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < end, found
        time.sleep(every)
    return found
