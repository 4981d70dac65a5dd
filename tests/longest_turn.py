"""How long the event loop is kept from everybody else.

Counted in the CPU time of the loop's own thread between two of its rounds, so that neither a busy
machine nor another thread's work is taken for it.
"""

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def longest_turn() -> AsyncIterator[list[float]]:
    """Watch the loop; the list holds the longest turn, in seconds of CPU, once it is over."""
    # A collection takes as long as this process of tests is large.
    gc.collect()
    gc.disable()
    longest, last = [0.0], time.thread_time()

    def look() -> None:
        nonlocal last
        now = time.thread_time()
        longest[0] = max(longest[0], now - last)
        last = now

    async def watch() -> None:
        while True:
            look()
            await asyncio.sleep(0.001)

    watching = asyncio.create_task(watch())
    # Without a pause here and there, what never waits would be over before anyone looked.
    await asyncio.sleep(0)
    try:
        yield longest
    finally:
        look()
        gc.enable()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
