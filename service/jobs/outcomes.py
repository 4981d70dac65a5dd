"""How jobs end, for whoever waits for one."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from service.errors import ServiceError, StoreUnavailable, Unavailable

# What a job did so far, by name.
Counts = Mapping[str, Any]

_PATIENCE_SECONDS: Final = 2.0


async def finish(update: asyncio.Future[None]) -> None:
    """Wait until the store knows that a job is done, also through a stop, for a moment.

    Whoever reads there that it is done may stop the service before the store's answer is here.
    """
    try:
        await asyncio.shield(update)
    except asyncio.CancelledError:
        await asyncio.wait([update], timeout=_PATIENCE_SECONDS)
        if not update.done() or update.cancelled() or update.exception():
            update.cancel()
            raise


def interruption(error: BaseException) -> ServiceError:
    """Return what a job that did not end tells those who wait for it."""
    return error if isinstance(error, Unavailable) else StoreUnavailable("The service stops.")


def resolve(future: asyncio.Future[Counts], outcome: Counts | ServiceError) -> None:
    """Tell who waits what came of it, unless they know."""
    if future.done():
        return
    if isinstance(outcome, ServiceError):
        future.set_exception(outcome)
        future.exception()  # whoever asked may have gone: nobody need read it
    else:
        future.set_result(outcome)
