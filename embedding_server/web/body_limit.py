"""How large a request's body may be, how long it may take, and how much all may hold."""

import asyncio
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from embedding_server.errors import ApiError, BodyTooLarge, BodyTooSlow, ServerBusy
from embedding_server.instruments import Instruments
from embedding_server.settings import Settings
from embedding_server.web.error_responses import render_error

# The 300,000 tokens that OpenAI takes in a request are about 1.5 MB of text; even where JSON
# escapes each character (six bytes), it is half of this.
MAX_BODY_BYTES = 16 * 2**20
# Of each body so much is free: a question is answered while lists fill the room.
_FREE_BYTES: Final = 65_536
_BYTES_PER_SECOND: Final = 100_000
_RETRY_SECONDS: Final = 1


@dataclass(slots=True)
class _Room:
    """The RAM that bodies hold together."""

    most_bytes: int
    bytes: int = 0


class _ClientLeft(Exception):
    """Nobody waits for an answer."""


class BodyLimit:
    """Reads each body whole: 413, 429 or 408 to one out of bounds, as soon as that is known."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        instruments: Instruments,
        max_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self._seconds = settings.body_timeout_seconds
        self._instruments = instruments
        self._room = _Room(settings.bodies_memory_mb * 1_000_000)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body up to the limits and hand it on whole."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        held = _Held(self._room, self._instruments)
        try:
            whole = [await self._read(Request(scope), receive, held)]
        except _ClientLeft:
            return
        except ApiError as error:
            reason = {BodyTooLarge: "size", ServerBusy: "memory", BodyTooSlow: "time"}[type(error)]
            self._instruments.refused_bodies.labels(reason).inc()
            await render_error(error)(scope, receive, send)
            return
        finally:
            # What is read is small beside what is unpacked of it; that, admission bounds.
            held.free()

        async def replay() -> Message:
            return {"type": "http.request", "body": whole.pop()} if whole else await receive()

        await self.app(scope, replay, send)

    async def _read(self, request: Request, receive: Receive, held: "_Held") -> bytes:
        # A body sent in chunks announces nothing, so what arrives is counted as well.
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
                    if message["type"] == "http.disconnect":
                        raise _ClientLeft
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    has_more = message.get("more_body", False)
                    self._check(size)
                    held.grow(size)
                    limit.reschedule(begun + self._seconds + size / _BYTES_PER_SECOND)
        except TimeoutError as error:
            seconds = self._seconds + size / _BYTES_PER_SECOND
            msg = f"{size:,} bytes of the body arrived in {seconds:.0f} s. Send them faster."
            raise BodyTooSlow(msg) from error
        return b"".join(parts)

    def _check(self, size: int) -> None:
        if size > self.max_bytes:
            raise BodyTooLarge(
                f"The body has more than {self.max_bytes:,} bytes. Send fewer texts at once."
            )


@dataclass(slots=True)
class _Held:
    """What one body holds of the room."""

    room: _Room
    instruments: Instruments
    bytes: int = 0

    def grow(self, size: int) -> None:
        """Hold room for a body of this size; raises ServerBusy."""
        more = max(0, size - _FREE_BYTES) - self.bytes
        if more > 0 and self.room.bytes + more > self.room.most_bytes:
            raise ServerBusy(
                "The server is busy: bodies of other requests fill EMBEDDING_BODIES_MEMORY_MB. "
                "Try again later, or send fewer texts at once.",
                _RETRY_SECONDS,
            )
        self._add(max(0, more))

    def free(self) -> None:
        """Give it all back."""
        self._add(-self.bytes)

    def _add(self, size: int) -> None:
        self.bytes += size
        self.room.bytes += size
        self.instruments.body_bytes.set(self.room.bytes)
