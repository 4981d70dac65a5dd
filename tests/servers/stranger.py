"""Another program on a port where the service was, with an answer of its own to everything."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def stranger(status: int, told: bytes = b"", seconds_a_byte: float = 0.0) -> Iterator[str]:
    """Yield the URL of a server that refuses POST with a page, and tells this to whoever GETs.

    With `seconds_a_byte` it drips. Nobody need read it to the end.
    """

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            """Refuse."""
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_error(status)

        def do_GET(self) -> None:
            """Tell the bytes, and end the connection behind them."""
            self.send_response(status)
            self.end_headers()
            parts = [told[n : n + 1] for n in range(len(told))] if seconds_a_byte else [told]
            with suppress(ConnectionError):
                for part in parts:
                    self.wfile.write(part)
                    time.sleep(seconds_a_byte)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
