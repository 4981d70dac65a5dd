"""Turns: what must happen one at a time, for each agent by itself."""

import asyncio
from weakref import WeakValueDictionary


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
