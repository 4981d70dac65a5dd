"""Bodies on their way in: how large one may be, how long it may take, how much all may hold."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import BodyTooSlow, Overloaded, RequestTooLarge, ServiceError
from service.settings import Settings
from service.web.problems import problem

# Of each body so much is free: questions are answered while documents fill the room.
_FREE_BYTES: Final = 65_536


class BodyRoom:
    """The RAM that bodies hold together: `bytes` now, `most_bytes` at most."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self.refused = {"size": 0, "memory": 0, "time": 0}


@dataclass(slots=True)
class _Held:
    """What one body holds of the room."""

    room: BodyRoom
    bytes: int = 0

    def grow(self, size: int) -> None:
        """Hold room for a body of this size; raises Overloaded."""
        more = max(0, size - _FREE_BYTES) - self.bytes
        if more <= 0:
            return
        if self.room.bytes + more > self.room.most_bytes:
            msg = (
                f"Bodies of requests hold {self.room.bytes:,} bytes and this one would exceed "
                "MEMORY_BODIES_MEMORY_MB. Ask again in a second, or send less at once."
            )
            raise Overloaded(msg)
        self.room.bytes += more
        self.bytes += more

    def free(self) -> None:
        """Give it all back."""
        self.room.bytes -= self.bytes
        self.bytes = 0


class _ClientLeft(Exception):
    """Nobody waits for an answer."""


class Bodies:
    """Reads each body whole before the work begins: 413, 503 or 408 to one out of bounds.

    Its room is held until the answer is given.
    """

    def __init__(self, app: ASGIApp, settings: Settings, room: BodyRoom) -> None:
        self.app = app
        self.room = room
        self._max_bytes = settings.max_request_bytes
        self._seconds = settings.body_timeout_seconds
        self._bytes_per_second = settings.body_bytes_per_second

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body and hand it on whole."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        held = _Held(self.room)
        try:
            with suppress(_ClientLeft):
                await self._answer(scope, receive, send, held)
        finally:
            held.free()

    async def _answer(self, scope: Scope, receive: Receive, send: Send, held: _Held) -> None:
        request = Request(scope)
        try:
            body = [await self._read(request, receive, held)]
        except ServiceError as error:
            held.free()
            await self._refuse(request, error)(scope, receive, send)
            return

        async def replay() -> Message:
            # Given away, so that it lives no longer than its reader wants it.
            return {"type": "http.request", "body": body.pop()} if body else await receive()

        await self.app(scope, replay, send)

    async def _read(self, request: Request, receive: Receive, held: _Held) -> bytes:
        announced = request.headers.get("content-length", "")
        if announced.isdecimal():
            self._check(int(announced))
            held.grow(int(announced))
        size, parts, has_more = 0, [], True
        begun = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._seconds) as limit:
                while has_more:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise _ClientLeft
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    has_more = message.get("more_body", False)
                    self._check(size)
                    held.grow(size)
                    limit.reschedule(begun + self._seconds + size / self._bytes_per_second)
        except TimeoutError as error:
            msg = (
                f"{size:,} bytes arrived in {self._seconds + size / self._bytes_per_second:.0f} s "
                "(MEMORY_BODY_TIMEOUT_SECONDS, MEMORY_BODY_BYTES_PER_SECOND). Send them faster."
            )
            raise BodyTooSlow(msg) from error
        return b"".join(parts)

    def _check(self, size: int) -> None:
        if size > self._max_bytes:
            msg = f"Send at most {self._max_bytes:,} bytes at once (MEMORY_MAX_REQUEST_BYTES)."
            raise RequestTooLarge(msg)

    def _refuse(self, request: Request, error: ServiceError) -> ASGIApp:
        reasons = {RequestTooLarge: "size", Overloaded: "memory", BodyTooSlow: "time"}
        self.room.refused[reasons[type(error)]] += 1
        answer = problem(request, error)
        if isinstance(error, BodyTooSlow):
            # What still drips in is of no use.
            answer.headers["Connection"] = "close"
        return answer
