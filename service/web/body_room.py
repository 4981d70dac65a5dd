"""Bodies on their way in: how large one may be, how long it may take, how much all may hold."""

import asyncio
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.access.caller import caller
from service.access.errors import TooManyRequests
from service.access.rates import Rates
from service.errors import BodyTooSlow, Overloaded, RequestTooLarge, ServiceError
from service.settings import Settings
from service.web.problems import problem

# Of each body so much is free: questions are answered while documents fill the room.
_FREE_BYTES: Final = 65_536


class BodyRoom:
    """The RAM that bodies hold together: `bytes` now, `most_bytes` at most.

    One caller may hold half of it, or one body of `body_bytes` if that is more: the rest is for
    others.
    """

    def __init__(self, most_bytes: int, body_bytes: int = 0) -> None:
        self.most_bytes = most_bytes
        self.share_bytes = min(most_bytes, max(most_bytes // 2, body_bytes))
        self.bytes = 0
        self.held: Counter[str] = Counter()
        self.refused = {"size": 0, "memory": 0, "time": 0, "rate": 0}


@dataclass(slots=True)
class _Held:
    """What one body holds of the room."""

    room: BodyRoom
    rival: str
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
        if self.room.held[self.rival] + more > self.room.share_bytes:
            msg = (
                f"Your bodies hold {self.room.held[self.rival]:,} bytes, and this one would exceed "
                "half of MEMORY_BODIES_MEMORY_MB: the rest is for others. Ask again in a second."
            )
            raise Overloaded(msg)
        self.room.bytes += more
        self.room.held[self.rival] += more
        self.bytes += more

    def free(self) -> None:
        """Give it all back."""
        self.room.bytes -= self.bytes
        self.room.held[self.rival] -= self.bytes
        if not self.room.held[self.rival]:
            del self.room.held[self.rival]
        self.bytes = 0


class _ClientLeft(Exception):
    """Nobody waits for an answer."""


class Bodies:
    """Reads each body whole before the work begins: 413, 503, 429 or 408 to one out of bounds.

    Its room is held until the answer is given.
    """

    def __init__(self, app: ASGIApp, settings: Settings, room: BodyRoom, rates: Rates) -> None:
        self.app = app
        self.room = room
        self.rates = rates
        self._max_bytes = settings.max_request_bytes
        self._seconds = settings.body_timeout_seconds
        self._bytes_per_second = settings.body_bytes_per_second

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body and hand it on whole."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        held = _Held(self.room, caller().rival)
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
        # What is asked for another request was counted with that one.
        is_counted = getattr(request.state, "is_passed_on", False)
        has_body = announced.strip("0") or "transfer-encoding" in request.headers
        if has_body and not is_counted:
            self.rates.check_bytes(caller(), time.monotonic())
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
        if not is_counted:
            self.rates.take_bytes(caller(), size, time.monotonic())
        return b"".join(parts)

    def _check(self, size: int) -> None:
        if size > self._max_bytes:
            msg = f"Send at most {self._max_bytes:,} bytes at once (MEMORY_MAX_REQUEST_BYTES)."
            raise RequestTooLarge(msg)

    def _refuse(self, request: Request, error: ServiceError) -> ASGIApp:
        reasons = {
            RequestTooLarge: "size", Overloaded: "memory", BodyTooSlow: "time",
            TooManyRequests: "rate",
        }  # fmt: skip
        self.room.refused[reasons[type(error)]] += 1
        answer = problem(request, error)
        if isinstance(error, BodyTooSlow):
            # What still drips in is of no use.
            answer.headers["Connection"] = "close"
        return answer
