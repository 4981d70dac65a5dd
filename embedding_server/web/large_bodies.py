"""JSON of large bodies, read and written in a thread: the event loop goes on answering."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute

# A body of 64 kB is read in 0.1 ms, which is what a thread costs; one of 16 MB takes 20 to 300 ms.
LARGE_BYTES: Final = 65_536

Result = TypeVar("Result")


async def run_by_size(size: int, call: Callable[[], Result]) -> Result:
    """Return what the call gives: made here, or in a thread for more than LARGE_BYTES of JSON."""
    return call() if size <= LARGE_BYTES else await asyncio.to_thread(call)


class LargeJsonRequest(Request):
    """A request whose body is parsed in a thread when it is large."""

    async def json(self) -> Any:
        """Return the body; raises JSONDecodeError, and UnicodeDecodeError for other encodings."""
        body = await self.body()
        return await run_by_size(len(body), lambda: json.loads(body))


class LargeJsonRoute(APIRoute):
    """A route whose body is read so."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler that reads the body so."""
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            return await handle(LargeJsonRequest(request.scope, request.receive))

        return handle_json
