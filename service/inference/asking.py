"""One HTTP call that is bounded as a whole: in seconds, in bytes, and it is not led elsewhere."""

import asyncio
import io
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson

from service.access.addresses import is_loopback
from service.redaction import redacted

_HEADERS: Final = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})
# Either header, of gzip or of zlib.
_EITHER_HEADER: Final = zlib.MAX_WBITS | 32
# Waiting ends with the call, so that only connecting has a limit of its own.
_LIMITS: Final = aiohttp.ClientTimeout(total=None, sock_connect=2.0)
# A reason that a person reads.
_LONGEST_REASON: Final = 300


class AnswerUnusable(Exception):
    """An answer that cannot be read, or not within its bounds; the text says why."""


class Unreachable(Exception):
    """Nobody listens there, or not in time."""


class Untrusted(Unreachable):
    """Who listens there has no certificate that is good: one that ended, or of its own making."""


class BrokenOff(Exception):
    """A connection that ended before the answer did, or an answer that is no HTTP."""


class UnusableUrl(Exception):
    """Not an address that can be asked over HTTP with the key that there is."""


@dataclass(frozen=True, slots=True)
class Call:
    """What to ask, and its bounds: `until` on the monotonic clock, `most_bytes` unpacked.

    `is_cut` says that it has much less time than one like it has elsewhere: no answer within that
    says nothing of the server.
    """

    method: str
    url: str
    body: object
    until: float
    most_bytes: int
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; the names of `headers` match in any case."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    is_on_new_connection: bool

    def refusal(self) -> str:
        """Return what OpenAI's, Cohere's or FastAPI's fields say to its status."""
        try:
            said = orjson.loads(self.content)
            error = said.get("error") or said.get("message") or said["detail"]
            reason = str(error["message"] if isinstance(error, dict) else error)
        except (orjson.JSONDecodeError, AttributeError, KeyError):
            reason = self.content.decode(errors="replace")
        # Before it is cut, for half a key would not be known.
        return redacted(reason)[:_LONGEST_REASON]


class Client:
    """Asks one server over connections that it keeps; follows no redirect and sends the key."""

    def __init__(self, url: str, api_key: str | None) -> None:
        self._headers = _HEADERS | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
        self._proxy = _proxy_for(url)
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connections."""
        if self._session:
            await self._session.close()

    async def ask(self, call: Call) -> Answer:
        """Ask once.

        Raises TimeoutError when the whole answer is not there in time, however busily it drips,
        AnswerUnusable for one that is too large or cannot be unpacked, Unreachable, Untrusted,
        BrokenOff and UnusableUrl.
        """
        # In pieces, so that a large body does not hold up the loop.
        content = io.BytesIO(orjson.dumps(call.body)) if call.body is not None else None
        made = SimpleNamespace(connections=0)
        session = self._session = self._session or self._begin()
        try:
            async with (
                asyncio.timeout(max(0.0, call.until - time.monotonic())),
                session.request(
                    call.method, call.url, data=content, allow_redirects=False,
                    proxy=self._proxy, trace_request_ctx=made,
                ) as response,
            ):  # fmt: skip
                whole = await _read(response, call.most_bytes)
                return Answer(response.status, response.headers, whole, made.connections > 0)
        except aiohttp.ClientConnectorCertificateError as error:
            # A ValueError too, of aiohttp's.
            raise Untrusted(str(error.certificate_error)) from error
        except ValueError as error:
            # Of a URL that is none, or one with a password beside a key.
            raise UnusableUrl(str(error)) from error
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise Unreachable(repr(error)) from error
        except aiohttp.ClientError as error:
            raise BrokenOff(repr(error)) from error

    def _begin(self) -> aiohttp.ClientSession:
        trace = aiohttp.TraceConfig()
        trace.on_connection_create_end.append(_count_connection)
        return aiohttp.ClientSession(
            headers=self._headers,
            timeout=_LIMITS,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            trace_configs=[trace],
        )


async def _count_connection(
    _session: aiohttp.ClientSession,
    context: SimpleNamespace,
    _params: aiohttp.TraceConnectionCreateEndParams,
) -> None:
    context.trace_request_ctx.connections += 1


def _proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).

    None of another machine leads back to this one.
    """
    parts = urlsplit(url)
    if is_loopback(parts.hostname or "") or proxy_bypass(parts.netloc):
        return None
    return getproxies().get(parts.scheme)


async def _read(response: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > most_bytes:
        raise _too_large(most_bytes)
    packing = response.headers.get("content-encoding", "identity").lower()
    if packing not in _PACKED | {"identity", ""}:
        msg = f"is packed by {packing[:20]!r}, which was not asked for"
        raise AnswerUnusable(msg)
    unpacker = zlib.decompressobj(_EITHER_HEADER) if packing in _PACKED else None
    whole = bytearray()
    async for packed in response.content.iter_any():
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
