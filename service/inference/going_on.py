"""Work that goes on when whoever asked for it has no time left to wait."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from service.errors import EmbedderUnavailable
from service.records import Vector


class GoingOn:
    """Runs what asks for vectors to their own end, whoever waits for them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Vector]] = set()

    async def wait_for(self, work: Coroutine[Any, Any, Vector], seconds: float) -> Vector:
        """Return what `work` gives; raises EmbedderUnavailable after `seconds`; it goes on."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(heard)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            raise EmbedderUnavailable(f"No vector came within {seconds:g} s.")
        return task.result()

    async def close(self) -> None:
        """Break off what still goes on."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def heard(task: "asyncio.Task[Any]") -> None:
    """Take note of a task's failure: whoever waited for it may have given up."""
    if not task.cancelled():
        task.exception()
