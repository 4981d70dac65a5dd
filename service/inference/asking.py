"""One HTTP call that is bounded as a whole: in seconds, in bytes, and it is not led elsewhere."""

import asyncio
import time
import zlib
from dataclasses import dataclass
from typing import Final

import httpx
import orjson

from service.redaction import redacted

_HEADERS: Final = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})
# Either header, of gzip or of zlib.
_EITHER_HEADER: Final = zlib.MAX_WBITS | 32
# Waiting ends with the call, so that only connecting has a limit of its own.
_LIMITS: Final = httpx.Timeout(None, connect=2.0)
# A reason that a person reads.
_LONGEST_REASON: Final = 300


class AnswerUnusable(Exception):
    """An answer that cannot be read, or not within its bounds; the text says why."""


@dataclass(frozen=True, slots=True)
class Call:
    """What to ask, and its bounds: `until` on the monotonic clock, `most_bytes` unpacked."""

    method: str
    url: str
    body: object
    until: float
    most_bytes: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; `connection` is the same object for all answers of one connection."""

    status: int
    headers: httpx.Headers
    content: bytes
    connection: object

    def refusal(self) -> str:
        """Return the status and what OpenAI's, Cohere's or FastAPI's fields say to it."""
        try:
            said = orjson.loads(self.content)
            error = said.get("error") or said.get("message") or said["detail"]
            reason = str(error["message"] if isinstance(error, dict) else error)
        except (orjson.JSONDecodeError, AttributeError, KeyError):
            reason = self.content.decode(errors="replace")
        # Before it is cut, for half a key would not be known.
        return f"{self.status}: {redacted(reason)[:_LONGEST_REASON]}"


def client_of(api_key: str | None) -> httpx.AsyncClient:
    """Return a client that follows no redirect and sends the key."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return httpx.AsyncClient(headers=headers | _HEADERS, timeout=_LIMITS)


async def ask(client: httpx.AsyncClient, call: Call) -> Answer:
    """Ask once.

    Raises TimeoutError when the whole answer is not there in time, however busily it drips,
    AnswerUnusable for one that is too large or cannot be unpacked, httpx.TransportError for none,
    httpx.InvalidURL.
    """
    content = orjson.dumps(call.body) if call.body is not None else None
    async with (
        asyncio.timeout(max(0.0, call.until - time.monotonic())),
        client.stream(call.method, call.url, content=content) as response,
    ):
        whole = await _read(response, call.most_bytes)
        connection = response.extensions.get("network_stream")
        return Answer(response.status_code, response.headers, whole, connection)


async def _read(response: httpx.Response, most_bytes: int) -> bytes:
    announced = response.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > most_bytes:
        raise _too_large(most_bytes)
    packing = response.headers.get("content-encoding", "identity").lower()
    if packing not in _PACKED | {"identity", ""}:
        msg = f"is packed by {packing[:20]!r}, which was not asked for"
        raise AnswerUnusable(msg)
    unpacker = zlib.decompressobj(_EITHER_HEADER) if packing in _PACKED else None
    whole = bytearray()
    async for packed in response.aiter_raw():
        # A kilobyte may unpack to a gigabyte: never more than there is room for.
        whole += _unpack(unpacker, packed, most_bytes - len(whole)) if unpacker else packed
        if len(whole) > most_bytes:
            raise _too_large(most_bytes)
    if unpacker and not unpacker.eof:
        raise AnswerUnusable("cannot be unpacked")
    return bytes(whole)


def _unpack(unpacker: "zlib._Decompress", packed: bytes, room: int) -> bytes:
    try:
        return unpacker.decompress(packed, room + 1)
    except zlib.error as error:
        raise AnswerUnusable("cannot be unpacked") from error


def _too_large(most_bytes: int) -> AnswerUnusable:
    return AnswerUnusable(f"has more than {most_bytes:,} bytes")
