"""The app in a command's own process: all of the service, which takes a second or two to load."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx

from service.app import create_app, only_jobs
from service.client.endpoints import AsyncGraphMemory
from service.settings import Settings


@asynccontextmanager
async def open_own(settings: Settings, url: str, client: str) -> AsyncIterator[AsyncGraphMemory]:
    """Yield a client of the app on the configured store, by these names of both.

    Raises what opening does.

    Nobody but this process reaches it: whoever may open the store needs no key.
    """
    app = create_app(settings, only_jobs)
    app.state.is_private = True
    async with AsyncExitStack() as opened:
        if settings.log_level == "info":
            # What a service tells of its start is nothing to somebody who asks one thing.
            ours = logging.getLogger("service")
            opened.callback(ours.setLevel, ours.level)
            ours.setLevel(logging.WARNING)
        await opened.enter_async_context(app.router.lifespan_context(app))
        own = httpx.ASGITransport(app, raise_app_exceptions=False)
        yield await opened.enter_async_context(AsyncGraphMemory(url, transport=own, client=client))
