"""An embedding server and a service of one's own, on free ports and a temporary store."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Servers:
    """Where the service and its embedding server are."""

    url: str
    embedding_url: str


def free_port() -> int:
    """Return a TCP port that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def own_servers(embedding_model: str = "all-MiniLM-L6-v2", **settings: str) -> Iterator["Servers"]:
    """Start both servers, yield their addresses once they are ready, stop both at the end.

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
            servers = Servers(f"http://127.0.0.1:{ports[1]}", f"http://127.0.0.1:{ports[0]}")
            wait_until_ready(servers.url, running)
            yield servers
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
