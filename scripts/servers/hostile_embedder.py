"""A fake at the outer edge: an embedding server that hangs, drips, lies and goes away when told.

It speaks OpenAI's contract. A well one gives vectors that depend on the text alone, so that every
stored vector can be compared with the one that belongs to its text.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from tests.servers.outer_embeddings import encoded, vector_of

MODEL: Final = "steady-model"
DIMENSIONS: Final = 16
WELL: Final = "well"
# A byte at a time: each comes within every time-out between two of them, the whole in minutes.
_DRIP_SECONDS: Final = 0.25
# However long it hangs, a thread of it ends with the test.
_MOST_HANGING_SECONDS: Final = 300.0
_REFUSALS: Final = {"500": 500, "401": 401, "429": 429}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that was killed."""


@dataclass(slots=True)
class HostileEmbedder:
    """The server, and its mood: `well`, or one of scripts/chaos_rounds/draws.py."""

    mood: str = WELL
    port: int = 0
    asked: int = 0
    _changed: threading.Event = field(default_factory=threading.Event)
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """Its base URL, the same however often it goes away."""
        return f"http://127.0.0.1:{self.port}"

    def become(self, mood: str) -> None:
        """Change its mood; whoever hangs is let go first, without an answer."""
        self.mood = mood
        self._changed.set()
        self._changed = threading.Event()
        if mood == "gone":
            self.stop()
        elif self._server is None:
            self.start()

    def start(self) -> None:
        """Listen; on the port that it had before, if any."""
        handler = type("Handler", (_Handler,), {"embedder": self})
        server = _Server(("127.0.0.1", self.port), handler)
        self.port, self._server = server.server_address[1], server
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Listen no more."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def wait(self, seconds: float) -> bool:
        """Wait until its mood changes or the time is over; says whether it changed."""
        return self._changed.wait(seconds)


@contextmanager
def hostile_embedder() -> Iterator[HostileEmbedder]:
    """Run such a server in threads of this process; it begins well."""
    embedder = HostileEmbedder()
    embedder.start()
    try:
        yield embedder
    finally:
        embedder.become(WELL)
        embedder.stop()


def answer_to(mood: str, path: str, body: Any) -> tuple[int, bytes]:
    """Return status and body of an answer given in this mood."""
    if status := _REFUSALS.get(mood):
        return status, _json({"error": {"message": f"{status} is all you get today"}})
    if path == "/v1/models":
        return 200, _json({"data": [{"id": MODEL, "owned_by": "chaos"}]})
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    if mood == "not numbers":
        made: list[Any] = [[float("nan")] * DIMENSIONS for _ in texts]
    elif mood == "other length":
        made = [encoded(vector_of(text, DIMENSIONS * 2)) for text in texts]
    elif mood == "other model":
        made = [encoded(vector_of(f"another model reads: {text}", DIMENSIONS)) for text in texts]
    else:
        made = [encoded(vector_of(text, DIMENSIONS)) for text in texts]
    return 200, _answered(made, "strange-model" if mood == "other model" else MODEL)


def _answered(vectors: Sequence[Any], model: str) -> bytes:
    data = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return _json({"model": model, "data": data})


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    embedder: HostileEmbedder

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Keep quiet."""

    def _answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.embedder.asked += 1
        mood = self.embedder.mood
        if mood == "gone" or (mood == "hung" and self.embedder.wait(_MOST_HANGING_SECONDS)):
            self.close_connection = True
            return
        status, payload = answer_to(mood, self.path, json.loads(content) if content else {})
        with suppress(OSError):  # who asked has gone
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            drips = len(payload) if mood == "dripping" else 0
            self._drip(payload[:drips])
            self.wfile.write(payload[drips:])

    def _drip(self, payload: bytes) -> None:
        for place in range(len(payload)):
            if self.embedder.wait(_DRIP_SECONDS):
                self.wfile.write(payload[place:])
                return
            self.wfile.write(payload[place : place + 1])
