"""A job that a command waits for."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

from service.errors import InvalidRequest

Status = TypeVar("Status", bound=Mapping[str, object])

# A short job is told at once, a long one is not asked after all the time.
_FIRST_WAIT_SECONDS: Final = 0.02
_LONGEST_WAIT_SECONDS: Final = 0.3


async def follow(ask: Callable[[], Awaitable[Status]], tell: Callable[[Status], None]) -> Status:
    """Ask after a job until it is done, telling each answer; raises InvalidRequest if it fails."""
    wait_seconds = _FIRST_WAIT_SECONDS
    while True:
        status = await ask()
        tell(status)
        if status["state"] == "done":
            return status
        if status["state"] == "failed":
            raise InvalidRequest(str(status["detail"]))
        await asyncio.sleep(wait_seconds)
        wait_seconds = min(1.5 * wait_seconds, _LONGEST_WAIT_SECONDS)
