"""An embedding server and a service of one's own, on free ports and a temporary store."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from scripts.servers.processes import REPOSITORY, free_port, wait_until_answered

# The packaged model loads in about 10 s.
_PATIENCE_SECONDS = 120


@dataclass(frozen=True)
class Servers:
    """Where the service and its embedding server are."""

    url: str
    embedding_url: str


@contextmanager
def own_servers(embedding_model: str = "all-MiniLM-L6-v2", **settings: str) -> Iterator[Servers]:
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
            wait_until_answered(f"{servers.url}/health/ready", running, _PATIENCE_SECONDS)
            yield servers
        finally:
            for process in running:
                process.terminate()
            for process in running:
                process.wait(timeout=30)
