"""Real servers for tests: the embedding server as a process, the service in a thread."""

import asyncio
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from service.app import create_app
from service.settings import Settings
from service.store.address import StoreAddress
from service.web.connections import configure
from tests.stores.template import lay_store

REPOSITORY = Path(__file__).resolve().parents[2]
_READY_SECONDS = 120
# A service that stops lets requests go on for 10 s, and its store is closed.
_END_SECONDS = 120


@dataclass(frozen=True, slots=True)
class RunningService:
    """A service that answers: its address and a client for it."""

    url: str
    client: httpx.Client


@contextmanager
def running_service(*, wait: bool = True, **settings: Any) -> Iterator[RunningService]:
    """Run the service in a thread on a free port; `wait` until its vectors are ready too."""
    given = Settings(_env_file=None, **settings)
    if folder := StoreAddress(given.store_url).folder:
        lay_store(folder)
    app = create_app(given)
    # With its protocol named, answers are not held back 40 ms for more to send (TCP_NODELAY).
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(2048)
    server = _Server(configure(app, app.state.bounds.connections))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        with httpx.Client(base_url=url, timeout=60) as client:
            wait_for(f"{url}/health/{'ready' if wait else 'live'}", thread.is_alive)
            yield RunningService(url, client)
    finally:
        server.should_exit = True
        thread.join(_END_SECONDS)
        listening.close()
        assert not thread.is_alive(), f"The service does not end:\n{server.tasks()}"


class _Server(uvicorn.Server):
    """Can tell what it is at, should it hang."""

    loop: asyncio.AbstractEventLoop

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until it should exit."""
        self.loop = asyncio.get_running_loop()
        await super().serve(sockets)

    def tasks(self) -> str:
        """Return where each task of the event loop stands."""
        told = StringIO()
        for task in asyncio.all_tasks(self.loop):
            task.print_stack(file=told)
        return told.getvalue()


@contextmanager
def embedding_server(model: str, port: int = 0) -> Iterator[str]:
    """Run the embedding server as a process of its own; yields its base URL when it is ready."""
    port = port or free_port()
    environment = os.environ | {"EMBEDDING_MODEL": model, "EMBEDDING_PORT": str(port)}
    process = subprocess.Popen(
        [sys.executable, "-m", "embedding_server"], env=environment, cwd=REPOSITORY,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/health", lambda: process.poll() is None)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=90)


@contextmanager
def service_process(**environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run `graph-memory serve` as a process of its own, to be killed or watched."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("MEMORY_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "service", "serve"], env=given | environment, cwd=REPOSITORY,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=90)


def free_port() -> int:
    """Return a TCP port that nobody uses at this moment, nor is given unasked afterwards.

    Systems give the ports from 32,768 on to whoever asks for any, so one of those may be another
    test's before the server of this one listens. Browsers and Node ask nobody at 10,080 and some
    lower ones (WHATWG Fetch, bad port).
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_for(url: str, is_running: Any = lambda: True) -> httpx.Response:
    """Return the first good answer of `url`; fail when its server ends or takes too long."""
    last, end = "no answer", time.monotonic() + _READY_SECONDS
    while time.monotonic() < end and is_running():
        try:
            answer = httpx.get(url)
        except httpx.TransportError as error:
            last = repr(error)
        else:
            if answer.status_code == 200:
                return answer
            last = answer.text
        time.sleep(0.03)
    msg = f"{url} was not ready: {last}"
    raise TimeoutError(msg)
