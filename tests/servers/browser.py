"""A real browser, and the server of a page that means harm."""

import json
import os
import queue
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlsplit

PAGE: Final = Path(__file__).with_name("hostile_page.html").read_bytes()
NAMES: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
_REPORT_SECONDS: Final = 60

# By what the page tried: the status that it saw and what it could read.
Learned = Mapping[str, Mapping[str, Any]]


def find_browser() -> str | None:
    """Return the program of CHROME_PATH or one of the usual names; None without any."""
    return os.environ.get("CHROME_PATH") or next(filter(None, map(shutil.which, NAMES)), None)


def rendered(browser: str, url: str, profile: Path) -> str:
    """Return the elements of a page once its scripts have run."""
    told = ["--virtual-time-budget=15000", f"--timeout={_REPORT_SECONDS * 1000}", "--dump-dom"]
    done = subprocess.run(
        [browser, *_arguments(profile), *told, url],
        capture_output=True, text=True, check=True, timeout=2 * _REPORT_SECONDS,
    )  # fmt: skip
    return done.stdout


def _arguments(profile: Path) -> list[str]:
    """Return how a browser is started without a window; evil.example is this machine to it."""
    arguments = [
        "--headless", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}",
        "--disable-background-networking", "--disable-component-update",
        "--host-resolver-rules=MAP evil.example 127.0.0.1",
    ]  # fmt: skip
    # Without its own user the browser cannot build its sandbox.
    return [*arguments, "--no-sandbox"] if os.geteuid() == 0 else arguments


class HostileServer(ThreadingHTTPServer):
    """Serves the page, takes its report, and hands every other request on to the service.

    What is handed on is what a name sends that was rebound: it belonged to the page's server when
    the page was loaded, and to the service afterwards. Nothing else of a request is changed.
    """

    daemon_threads = True

    def __init__(self, service_port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service_port = service_port
        self.reports: queue.Queue[Learned] = queue.Queue()

    @classmethod
    @contextmanager
    def running(cls, service_port: int) -> Iterator[Self]:
        """Serve in a thread."""
        server = cls(service_port)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def visit(self, browser: str, url: str, profile: Path) -> Learned:
        """Open the page in the browser; return what it reports."""
        process = subprocess.Popen(
            [browser, *_arguments(profile), url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            return self.reports.get(timeout=_REPORT_SECONDS)
        finally:
            process.terminate()
            process.wait(timeout=30)


class _Handler(BaseHTTPRequestHandler):
    server: HostileServer

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        asked = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if asked.path == "/page":
            self._send(200, ("Content-Type", "text/html"), PAGE)
        elif asked.path == "/led":
            self._send(307, ("Location", parse_qs(asked.query)["to"][0]))
        elif asked.path == "/learned":
            self._send(204, ("Cache-Control", "no-store"))
            self.server.reports.put(json.loads(body))
        else:
            self._hand_on(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer  # noqa: N815

    def _send(self, status: int, header: tuple[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header(*header)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _hand_on(self, body: bytes) -> None:
        del self.headers["Connection"]
        self.headers["Connection"] = "close"
        head = f"{self.requestline}\r\n{self.headers.as_string().rstrip()}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", self.server.service_port)) as service:
            service.sendall(head.encode("latin-1").replace(b"\n", b"\r\n").replace(b"\r\r", b"\r"))
            service.sendall(body)
            while part := service.recv(65536):
                self.wfile.write(part)
        self.close_connection = True
