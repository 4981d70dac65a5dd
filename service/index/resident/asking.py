"""How an index is asked: here and now for what takes little, else in a thread."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from service.index.resident.agent_index import AgentIndex

Answer = TypeVar("Answer")

# What the event loop answers itself: the way to a thread and back costs more than another core
# wins up to some 130,000 vectors of 384 numbers.
_MOST_SECONDS: Final = 0.003


class Asking:
    """The threads beside the event loop in which indexes answer."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="index")

    async def in_thread(
        self, index: AgentIndex, question: Callable[[AgentIndex], Answer]
    ) -> Answer:
        """Ask an index in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, question, index)

    async def look_up(
        self, index: AgentIndex, question: Callable[[AgentIndex], Answer], seconds: float = 0.0
    ) -> Answer:
        """Ask for what takes little: here and now, unless a thread holds the index.

        A search asks a dozen times, and the way to a thread and back costs as much as most answers.
        `seconds` estimates what the answer takes; what would hold up others goes to a thread.
        """
        if seconds <= _MOST_SECONDS and index.lock.acquire(blocking=False):
            try:
                return question(index)
            finally:
                index.lock.release()
        return await self.in_thread(index, question)

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown(wait=False, cancel_futures=True)
