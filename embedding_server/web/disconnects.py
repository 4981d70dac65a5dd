"""Clients that leave before they are answered: their work is given up."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

from embedding_server.errors import ClientDisconnected

Answer = TypeVar("Answer")


async def finish_unless_disconnected(work: Coroutine[Any, Any, Answer], receive: Receive) -> Answer:
    """Return what the work gives. Raises ClientDisconnected if the client leaves first.

    The work is cancelled then, and has ended when this returns. `receive` is that of the request,
    whose body has been read: the only message left is the client's departure.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_wait_for_disconnect(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        leaving.result()
        raise ClientDisconnected("The client left before it was answered.")
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
