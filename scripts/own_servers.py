"""An embedding server and a service of one's own, on free ports and a temporary store."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

REPOSITORY = Path(__file__).resolve().parents[1]


def free_port() -> int:
    """Return a TCP port that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def own_servers(
    embedding_model: str = "all-MiniLM-L6-v2", **settings: str
) -> Iterator[str]:
    """Start both servers, yield the service's URL once it is ready, stop both at the end.

    `settings` are MEMORY_… variables by name.
    """
    ports = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "EMBEDDING_PORT": str(ports[0]), "EMBEDDING_MODEL": embedding_model,
            "MEMORY_PORT": str(ports[1]), "MEMORY_DATA_DIR": folder,
            "MEMORY_EMBEDDING_URL": f"http://127.0.0.1:{ports[0]}", "MEMORY_LOG_LEVEL": "warning",
        } | settings  # fmt: skip
        commands = [["-m", "embedding_server"], ["-m", "service", "serve"]]
        running = [
            subprocess.Popen([sys.executable, *command], env=environment, cwd=REPOSITORY)
            for command in commands
        ]
        try:
            url = f"http://127.0.0.1:{ports[1]}"
            wait_until_ready(url, running)
            yield url
        finally:
            for process in running:
                process.terminate()
            for process in running:
                process.wait(timeout=30)


def wait_until_ready(url: str, running: list[subprocess.Popen[bytes]]) -> None:
    """Wait until the service is ready; raises SystemExit when a server ends before that."""
    for _ in range(600):
        if any(process.poll() is not None for process in running):
            sys.exit("a server ended before it was ready")
        try:
            if httpx.get(f"{url}/health/ready", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    sys.exit("the servers were not ready within two minutes")
