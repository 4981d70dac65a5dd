"""A server that takes each request and answers nothing, or late."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_LONGEST_SECONDS = 60.0


@contextmanager
def silent_server(seconds: float = _LONGEST_SECONDS) -> Iterator[str]:
    """Yield the URL of a server that answers `{}` after so many seconds."""
    release = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            """Wait as well."""
            self.do_POST()

        def do_POST(self) -> None:
            """Wait, then answer whoever still listens."""
            self.rfile.read(int(self.headers.get("content-length") or 0))
            release.wait(seconds)
            try:
                self.send_response(200)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")
            except OSError:
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        release.set()
        server.shutdown()
        server.server_close()
        thread.join()
