"""An embedding server that misbehaves on demand: hung, dripping, refusing, lying."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Any, Final, Literal

from scripts.generated.word_vectors import WordVectors

Mood = Literal["good", "hung", "dripping", "refusing", "not_a_number", "renamed", "swapped"]
MODEL: Final = "attacked-model"
_DIMENSIONS: Final = 64
_DRIP_SECONDS: Final = 0.5


class Embedder:
    """Its mood, its address, and the status of a refusing one; the mood changes while it runs.

    `renamed` answers with other vectors under another name, `swapped` under the old name. A
    refusal echoes the Authorization header, as some proxies do.
    """

    def __init__(self) -> None:
        self.url = ""
        self.mood: Mood = "good"
        self.refusal = 401
        self.let_go = threading.Event()
        self._vectors = WordVectors(_DIMENSIONS)

    def body(self, texts: list[str]) -> dict[str, Any]:
        """Return the answer for some texts in the present mood."""
        data = [
            {"index": place, "embedding": self._packed(text)} for place, text in enumerate(texts)
        ]
        return {"model": "quite-another" if self.mood == "renamed" else MODEL, "data": data}

    def _packed(self, text: str) -> str:
        vector = self._vectors.embed(text).astype("<f4")
        if self.mood in {"renamed", "swapped"}:
            vector = -vector[::-1]
        if self.mood == "not_a_number":
            vector = vector * float("nan")
        return base64.b64encode(vector.tobytes()).decode()


@contextmanager
def embedder() -> Iterator[Embedder]:
    """Run one in threads; hung requests are let go at the end."""
    outer = Embedder()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(outer))
    server.daemon_threads = True
    outer.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield outer
    finally:
        outer.let_go.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(outer: Embedder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send({"data": [{"id": MODEL, "owned_by": "attacks"}]})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            if outer.mood == "hung":
                outer.let_go.wait()
            elif outer.mood == "refusing":
                told = f"refused {self.headers.get('authorization', '')}"
                self._send({"error": {"message": told}}, outer.refusal)
            else:
                self._send(outer.body(texts))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Keep quiet."""

        def _send(self, value: object, status: int = 200) -> None:
            payload = json.dumps(value).encode()
            is_dripping = outer.mood == "dripping" and self.command == "POST"
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            with suppress(OSError):  # who asked has gone
                if is_dripping:
                    _drip(self.wfile, payload, outer.let_go)
                else:
                    self.wfile.write(payload)

    return Handler


def _drip(answer: BufferedIOBase, payload: bytes, let_go: threading.Event) -> None:
    """Write a byte now and then, until let go."""
    for byte in payload:
        if let_go.wait(_DRIP_SECONDS):
            return
        answer.write(bytes([byte]))
