"""Another program on a port where the service was: it knows no path, and says so in a page."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def stranger(status: int) -> Iterator[str]:
    """Yield the URL of a server that answers everything with a status and a page of its own."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            """Refuse."""
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_error(status)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
