"""An HTTP client that costs little: thousands of requests at once must not be slowed by it."""

import asyncio
import http.client
import multiprocessing
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from urllib.parse import urlencode, urlsplit

import orjson

_PROBE_REST_SECONDS = 0.02
_PATIENCE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Ask:
    """One request; with a body it is a POST."""

    path: str
    params: Mapping[str, str]
    body: Mapping[str, object] | None = None
    method: str = "GET"

    def wire(self) -> bytes:
        """Return it as it goes over the wire."""
        query = f"?{urlencode(self.params)}" if self.params else ""
        body = b"" if self.body is None else orjson.dumps(self.body)
        head = f"{self.method} {self.path}{query} HTTP/1.1\r\nHost: localhost\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode("ascii") + body


@dataclass(frozen=True, slots=True)
class Told:
    """One answer: its status, 0 for a connection that was cut off, and its seconds."""

    status: int
    seconds: float


class Line:
    """A connection that is opened anew when the server has closed it."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._address = address.hostname, address.port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: Ask) -> Told:
        """Send a request and read its answer whole."""
        begun = time.perf_counter()
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(*self._address)
            status = await _exchange(*self._streams, request.wire())
        except (OSError, asyncio.IncompleteReadError):
            status = 0
        if status in {0, 408}:
            self.close()
        return Told(status, time.perf_counter() - begun)

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, wire: bytes) -> int:
    writer.write(wire)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    lengths = [line[15:] for line in head.split(b"\r\n") if line.startswith(b"content-length:")]
    await reader.readexactly(int(lengths[0]) if lengths else 0)
    return int(head.split(b" ", 2)[1])


@dataclass(slots=True)
class Probed:
    """What a look at /health/live again and again has found; filled at the end."""

    longest_seconds: float = 0.0
    failed: int = 0
    count: int = 0


@contextmanager
def probing(url: str) -> Iterator[Probed]:
    """Ask /health/live from a process of its own for as long as the context lasts."""
    found = Probed()
    mine, theirs = multiprocessing.Pipe()
    prober = multiprocessing.get_context("spawn").Process(target=_probe, args=(url, theirs))
    prober.start()
    mine.recv()
    try:
        yield found
    finally:
        mine.send("enough")
        found.longest_seconds, found.failed, found.count = mine.recv()
        prober.join()


def _probe(url: str, told: Connection) -> None:
    address = urlsplit(url)
    told.send("begun")
    longest, failed, count = 0.0, 0, 0
    while not told.poll(_PROBE_REST_SECONDS):
        begun = time.perf_counter()
        client = http.client.HTTPConnection(
            str(address.hostname), address.port, timeout=_PATIENCE_SECONDS
        )
        try:
            client.request("GET", "/health/live")
            failed += client.getresponse().status != 200
        except OSError:
            failed += 1
        finally:
            client.close()
        longest, count = max(longest, time.perf_counter() - begun), count + 1
    told.send((longest, failed, count))
