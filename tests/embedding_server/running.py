"""The real server on a free port, run by uvicorn in a thread of the test process."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import httpx
import uvicorn
from fastapi import FastAPI

from embedding_server.web.connections import configure

# Importing torch takes seconds, and several times that on a busy machine.
READY_SECONDS = 120


@contextmanager
def serve(app: FastAPI) -> Iterator[str]:
    """Serve the app and yield its base URL once it listens; the model may still be loading."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = uvicorn.Server(configure(app))
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, name="uvicorn")
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def wait_until_ready(url: str, seconds: float = READY_SECONDS) -> None:
    """Return when the server's health is good; fail with its last answer when it never is."""
    last = "no answer"
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            answer = httpx.get(f"{url}/health")
        except httpx.TransportError as error:
            last = repr(error)
        else:
            if answer.status_code == 200:
                return
            last = answer.text
        time.sleep(0.05)
    raise TimeoutError(f"{url} was not ready after {seconds} s: {last}")
