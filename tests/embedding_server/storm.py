"""Many rude clients at once on plain sockets, and the check of every answer they get."""

import asyncio
import json
import math
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import numpy as np
import orjson

from tests.embedding_server.garbage import EMBEDDINGS, Sent

# An answer that takes longer counts as none. A busy machine is slow, but not so slow.
ANSWER_SECONDS = 60
# What is no HTTP may announce more than it sends, and the server waits for it rightly.
PATIENCE_SECONDS = 0.2
REFUSALS = {400, 401, 404, 405, 413, 415, 421, 429}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Hung(Exception):
    """No answer within ANSWER_SECONDS."""


@dataclass
class Storm:
    """What a storm found: answers counted by status (0: closed without one), and faults."""

    dimensions: int
    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    async def run(self, port: int, requests: Sequence[Sent], connections: int) -> None:
        """Send all requests from so many clients at once."""
        waiting = iter(requests)
        chooser = Random(len(requests))
        await asyncio.gather(*(self._be_client(port, waiting, chooser) for _ in range(connections)))

    async def _be_client(self, port: int, waiting: Iterator[Sent], chooser: Random) -> None:
        connection = Connection(port)
        for sent in waiting:
            try:
                answer = await connection.exchange(sent, chooser)
            except Hung:
                self.faults.append(f"no answer within {ANSWER_SECONDS} s to {describe(sent)}")
                connection.close()
                continue
            self.statuses[answer.status if answer else 0] += 1
            if fault := find_fault(sent, answer, self.dimensions):
                self.faults.append(f"{fault}; answer {answer!r:.600} to {describe(sent)}")
        connection.close()


class Connection:
    """A client's connection, kept for the next request while both sides agree to it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    def close(self, *, is_rude: bool = True) -> None:
        """End the connection, rudely by a reset."""
        if self._streams:
            transport = self._streams[1].transport
            (transport.abort if is_rude else transport.close)()
        self._streams = None

    async def exchange(self, sent: Sent, chooser: Random) -> Answer | None:
        """Send one request and return its answer; None if the server closed, or the client left.

        Raises Hung.
        """
        is_kept = self._streams is not None
        answer = await self._exchange_once(sent, chooser)
        if answer is None and is_kept and sent.leaves_after is None:
            # A kept connection may be closed by the other side at any moment.
            answer = await self._exchange_once(sent, chooser)
        return answer

    async def _exchange_once(self, sent: Sent, chooser: Random) -> Answer | None:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        raw, answer = sent.raw[: sent.leaves_after], None
        try:
            async with asyncio.timeout(ANSWER_SECONDS if sent.is_http else PATIENCE_SECONDS):
                with suppress(ConnectionError):
                    await _write(writer, raw, chooser)
                if sent.leaves_after is None:
                    with suppress(ConnectionError, asyncio.IncompleteReadError):
                        answer = await _read(reader, sent.method)
        except TimeoutError as error:
            if sent.is_http:
                raise Hung from error
        if answer is None or not sent.is_http or answer.headers.get("connection") == "close":
            self.close(is_rude=chooser.random() < 0.5)
        return answer


async def _write(writer: asyncio.StreamWriter, raw: bytes, chooser: Random) -> None:
    """Write at once, or in two parts with the server's turn between them."""
    middle = chooser.randrange(len(raw) + 1) if chooser.random() < 0.2 else len(raw)
    for part in (raw[:middle], raw[middle:]):
        writer.write(part)
        await writer.drain()
        await asyncio.sleep(0)


async def _read(reader: asyncio.StreamReader, method: bytes) -> Answer:
    status = 100
    while status < 200:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        status = int(first.split(" ")[1])
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = b""
    if method != b"HEAD" and status not in {204, 304}:
        if headers.get("transfer-encoding") == "chunked":
            while size := int(await reader.readuntil(b"\r\n"), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readexactly(2)
        elif "content-length" in headers:
            body = await reader.readexactly(int(headers["content-length"]))
        else:
            body = await reader.read()
    return Answer(status, headers, body)


def describe(sent: Sent) -> str:
    """Return enough of a request to send it again."""
    raw = sent.raw
    shown = repr(raw) if len(raw) < 1500 else f"{raw[:1000]!r}…{raw[-300:]!r} ({len(raw)} bytes)"
    return f"{shown} left after {sent.leaves_after}" if sent.leaves_after is not None else shown


def find_fault(sent: Sent, answer: Answer | None, dimensions: int) -> str | None:
    """Return what is wrong with an answer, if something is."""
    if answer is None:
        return None if sent.leaves_after is not None or not sent.is_http else "no answer"
    if not sent.is_http and not answer.headers.get("content-type", "").endswith("json"):
        # Written by the web server below, which knows no OpenAI.
        return None if answer.status in REFUSALS else "wrong status for broken HTTP"
    if "x-request-id" not in answer.headers:
        return "no x-request-id"
    if answer.status != 200:
        return _find_refusal_fault(sent, answer)
    is_embedding = sent.method == b"POST" and sent.target.split(b"?")[0] in EMBEDDINGS
    return _find_vector_fault(sent, answer, dimensions) if is_embedding else None


def _find_refusal_fault(sent: Sent, answer: Answer) -> str | None:
    if sent.texts is not None and answer.status != 429:
        return "a valid request was refused"
    if answer.status == 307:
        # The framework's: the same path without the slash at its end.
        return None if answer.headers.get("location") else "a redirection to nowhere"
    if answer.status not in REFUSALS and not _is_declared_failure(answer):
        return "a status that is not declared"
    if answer.status == 429 and not answer.headers.get("retry-after", "").isdigit():
        return "429 without Retry-After"
    return None if sent.method == b"HEAD" else _find_shape_fault(answer.body)


def _is_declared_failure(answer: Answer) -> bool:
    if answer.status != 500 or answer.headers.get("x-should-retry") != "false":
        return False
    return b'"code":"embedding_failed"' in answer.body


def _find_shape_fault(body: bytes) -> str | None:
    """Tell whether this is OpenAI's error body: four keys, two of them always texts."""
    try:
        error = json.loads(body)["error"]
        texts, optional = (error["message"], error["type"]), (error["param"], error["code"])
    except (ValueError, LookupError, TypeError):
        return "no error body in OpenAI's shape"
    if not all(isinstance(text, str) and text for text in texts):
        return "message or type is no text"
    if not all(value is None or isinstance(value, str) for value in optional):
        return "param or code is no text"
    return None if len(error) == 4 else "more keys than OpenAI's four"


def _find_vector_fault(sent: Sent, answer: Answer, dimensions: int) -> str | None:
    found = orjson.loads(answer.body)
    data = found["data"]
    asked = json.loads(sent.body)
    expected = 1 if isinstance(asked["input"], str) else len(asked["input"])
    if len(data) != expected or sent.texts not in {None, expected}:
        return f"{len(data)} vectors for {expected} texts"
    if [item["index"] for item in data] != list(range(expected)):
        return "wrong indexes"
    if asked.get("encoding_format") == "base64":
        rows = [np.frombuffer(b64decode(item["embedding"]), "<f4") for item in data]
    else:
        rows = [np.array(item["embedding"], dtype=np.float32) for item in data]
    if any(row.shape != (dimensions,) for row in rows):
        return "a vector of the wrong length"
    lengths = np.linalg.norm(np.stack(rows).astype(np.float64), axis=1)
    # NaN and infinity are close to nothing.
    if not all(math.isclose(length, 1.0, abs_tol=1e-5) for length in lengths):
        return "a vector that is not of unit length"
    used = found["usage"]["prompt_tokens"]
    return None if used >= expected else "fewer tokens than texts"
