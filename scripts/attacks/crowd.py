"""Many requests at once over raw connections: a client's pool would be the slow part."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a crowd: 0 is none. `says` is its head and body as text."""

    status: int
    seconds: float
    says: str = ""

    @property
    def has_retry_after(self) -> bool:
        """Whether a refusal says when to come again."""
        return "\r\nretry-after:" in self.says.lower()


def wire(method: str, path: str, body: Any = None) -> bytes:
    """Return a request as bytes; the connection closes after its answer."""
    payload = b"" if body is None else json.dumps(body).encode()
    kind = "" if body is None else "content-type: application/json\r\n"
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{kind}"
    return f"{head}content-length: {len(payload)}\r\n\r\n".encode() + payload


def ask_at_once(port: int, requests: Sequence[bytes], patience: float, most: int) -> list[Reply]:
    """Send all requests, at most `most` at one time, and return what came of each in order."""
    return asyncio.run(_ask_all(port, requests, time.monotonic() + patience, most))


async def _ask_all(port: int, requests: Sequence[bytes], end: float, most: int) -> list[Reply]:
    turns = asyncio.Semaphore(most)
    return list(await asyncio.gather(*(_ask(port, one, end, turns) for one in requests)))


async def _ask(port: int, request: bytes, end: float, turns: asyncio.Semaphore) -> Reply:
    async with turns:
        started = time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, end - started)):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    writer.write(request)
                    says = (await reader.read(-1)).decode(errors="replace")
                finally:
                    writer.close()
        except (TimeoutError, OSError):
            return Reply(0, time.monotonic() - started)
    first = says[9:12]
    return Reply(int(first) if first.isdigit() else 0, time.monotonic() - started, says)
