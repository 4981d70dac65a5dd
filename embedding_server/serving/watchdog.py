"""Threads that are watched from outside: whether they live, and since when they are busy."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread, current_thread
from typing import TypeVar

Result = TypeVar("Result")

WATCH_SECONDS = 1.0


class WatchedThread:
    """One thread for one call after another.

    Asking about it never waits for it. A call's exception is carried back as a value, whatever it
    is, so no call ends the thread; yet it may end or stand still through what is beneath Python.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: Thread | None = None
        self._busy_since: float | None = None
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name, initializer=self._begin)

    def submit(
        self, call: Callable[[], Result], *, may_take_long: bool = False
    ) -> "Future[Result]":
        """Run the call after those before it; one that may take long never counts as stuck."""
        return self._executor.submit(call if may_take_long else lambda: self._run(call))

    def end(self) -> None:
        """Begin no further call, and end when the running one does; returns at once."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def join(self, seconds: float) -> None:
        """Wait until the thread has ended, but no longer than so many seconds."""
        if self._thread is not None:
            self._thread.join(seconds)

    @property
    def is_alive(self) -> bool:
        """Tell whether the thread has begun and not ended."""
        return self._thread is not None and self._thread.is_alive()

    def find_fault(self, stuck_seconds: float) -> str | None:
        """Say what is wrong with the thread: it has ended, or one call has taken too long."""
        if self._thread is not None and not self._thread.is_alive():
            return f"The {self._name} thread has ended."
        since = self._busy_since
        if since is not None and time.monotonic() - since > stuck_seconds:
            return f"The {self._name} thread has been stuck for over {stuck_seconds:g} s."
        return None

    def _begin(self) -> None:
        self._thread = current_thread()

    def _run(self, call: Callable[[], Result]) -> Result:
        self._busy_since = time.monotonic()
        try:
            return call()
        finally:
            self._busy_since = None


async def watch(find_fault: Callable[[], str | None], report: Callable[[str], None]) -> None:
    """Look once a second until there is a fault, and report it."""
    while True:
        fault = find_fault()
        if fault is not None:
            report(fault)
            return
        await asyncio.sleep(WATCH_SECONDS)
