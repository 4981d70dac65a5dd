"""Foreign servers for tests: the outer edge, as real HTTP servers on free ports."""

import base64
import json
import socket
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Any, Protocol

import numpy as np

from service.inference.model import CANARY

# How long a client may take to hang up as well.
_PATIENCE_SECONDS = 5.0
# Longer than everything that must not wait for it.
_PATIENCE_HANGING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What to answer: a JSON value, or bytes as they are.

    One that `breaks_off` ends in the middle of its body, as when its server dies; `let_go` is set
    when the client has closed the connection of such a one too. `announced_bytes` is what it lies
    about its length; one that drips sends a byte, rests so long, and so on.
    """

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    breaks_off: bool = False
    let_go: threading.Event = field(default_factory=threading.Event)
    announced_bytes: int | None = None
    drips_seconds: float = 0.0

    def payload(self) -> bytes:
        """Return the body as it goes over the wire."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Outer(Protocol):
    """A server that stands for somebody else's."""

    url: str

    def answer(self, asked: Asked) -> Answer:
        """Choose the answer to one request."""


@dataclass(slots=True)
class OuterEmbeddings:
    """What the server is and what it was asked; `next_answers` are given before good ones.

    A request with the word `hangs_on` is answered only once it is `let_go`; an empty word stands in
    every request. Another `weights` is another model, whatever its name.
    """

    url: str = ""
    model: str = "outer-model"
    owned_by: str = "somebody"
    dimensions: int = 16
    requests: list[Asked] = field(default_factory=list)
    next_answers: deque[Answer] = field(default_factory=deque)
    refused_words: str | None = None
    refusal: Answer = field(
        default_factory=lambda: Answer({"error": {"message": "input too long"}}, 400)
    )
    lists_models: bool = True
    listed: Answer | None = None
    before_answering: Callable[[], None] | None = None
    hangs_on: str | None = None
    weights: str = ""
    is_hanging: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)

    def embedded_texts(self) -> list[str]:
        """Return every text that was to be embedded, in the order they came, but the canary."""
        return [
            text
            for asked in self.requests
            if asked.path == "/v1/embeddings"
            for text in asked.body["input"]
            if text != CANARY
        ]

    def answer(self, asked: Asked) -> Answer:
        """Choose the answer to one request."""
        self.requests.append(asked)
        if asked.path == "/v1/models" and not self.lists_models:
            return Answer({"error": {"message": "no such path"}}, status=404)
        if asked.path == "/v1/models":
            return self.listed or Answer({"data": [{"id": self.model, "owned_by": self.owned_by}]})
        if self.before_answering:
            self.before_answering()
        if self.hangs_on is not None and self.hangs_on in " ".join(asked.body["input"]):
            self.is_hanging.set()
            self.let_go.wait(_PATIENCE_HANGING_SECONDS)
        if self.next_answers:
            return self.next_answers.popleft()
        if self.refused_words and self.refused_words in " ".join(asked.body["input"]):
            return self.refusal
        return self.embeddings(asked.body["input"])

    def vector(self, text: str) -> list[float]:
        """Return what the model makes of a text."""
        return vector_of(self.weights + text, self.dimensions)

    def embeddings(self, texts: Sequence[str]) -> Answer:
        """Return the good answer for these texts."""
        return Answer(
            {
                "model": self.model,
                "data": [
                    {"index": index, "embedding": encoded(self.vector(text))}
                    for index, text in enumerate(texts)
                ],
            }
        )


def vector_of(text: str, dimensions: int = 16) -> list[float]:
    """Return a vector that depends on the text alone; not at unit length."""
    values = np.random.default_rng(zlib.crc32(text.encode())).normal(size=dimensions)
    return [float(value) for value in values.astype(np.float32)]


def encoded(vector: Sequence[float]) -> str:
    """Return a vector as base64 of little-endian float32."""
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()


@contextmanager
def outer_embeddings(port: int = 0, **settings: Any) -> Iterator[OuterEmbeddings]:
    """Run such a server in a thread."""
    outer = OuterEmbeddings(**settings)
    with serving(outer, port):
        yield outer


@contextmanager
def serving(outer: Outer, port: int = 0) -> Iterator[None]:
    """Answer HTTP requests by `outer` in a thread, and tell it its address."""
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler(outer))
    server.daemon_threads = True
    outer.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(outer: Outer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Keep quiet."""

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            read = json.loads(body) if body else {}
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, read)
            answer = outer.answer(asked)
            payload = answer.payload()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            announced = len(payload) if answer.announced_bytes is None else answer.announced_bytes
            self.send_header("content-length", str(announced))
            self.end_headers()
            if answer.drips_seconds:
                with suppress(BrokenPipeError, ConnectionResetError):
                    _drip(self.wfile, payload, answer.drips_seconds)
                return
            with suppress(BrokenPipeError, ConnectionResetError):  # who asked has gone
                self.wfile.write(payload[: len(payload) // 2] if answer.breaks_off else payload)
            if answer.breaks_off:
                self.close_connection = True
                _hang_up(self.connection, answer.let_go)

    return Handler


def _drip(file: BufferedIOBase, payload: bytes, rest_seconds: float) -> None:
    for value in payload:
        file.write(bytes([value]))
        time.sleep(rest_seconds)


def _hang_up(connection: socket.socket, let_go: threading.Event) -> None:
    """End a connection from this side, and see whether the other side ends it too."""
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(_PATIENCE_SECONDS)
    with suppress(TimeoutError):
        if not connection.recv(1):
            let_go.set()
