"""Turns: what must happen one at a time, for each agent by itself; and what goes on behind it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final
from weakref import WeakValueDictionary

from service.errors import Unavailable

log = logging.getLogger(__name__)

# The database may be away; it is tried again.
_REST_SECONDS: Final = 2.0


class Turns:
    """A lock for each agent, there for as long as somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, agent: str) -> asyncio.Lock:
        """Return the agent's lock, to be held by `async with`."""
        lock = self._locks.get(agent)
        if lock is None:
            lock = self._locks[agent] = asyncio.Lock()
        return lock


async def keep_doing(
    work: Callable[[], Awaitable[None]], is_left: asyncio.Event, what: str
) -> None:
    """Do what the last run left, and then again each time that something is left.

    While the database is away `what` waits, as the log says.
    """
    while True:
        is_left.clear()
        try:
            await work()
        except Unavailable as error:
            log.warning("%s: %s", what, error.logged)
            is_left.set()
            await asyncio.sleep(_REST_SECONDS)
        await is_left.wait()
