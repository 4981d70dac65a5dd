"""The way to the service: one request, a time by which it ends, JSON in and out."""

import http.client
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

MOST_ANSWER = 4_000_000
MOST_CONNECT_SECONDS = 1.0


class Refused(Exception):
    """The service answered, and it was no."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"the service answered {status}: {said[:300]}")
        self.status = status


@dataclass(frozen=True)
class Service:
    """Where the service is, and the key to it; `agent` whose memory, if not the key's.

    Without a key what is captured says which `program` it is of.
    """

    url: str
    key: str | None
    program: str
    agent: str | None = None

    @classmethod
    def of(cls, home: Path, program: str) -> "Service":
        """Return what `graph-memory connect` wrote down, else what the environment says."""
        try:
            told = json.loads((home / "graph-memory" / "client.json").read_text("utf-8"))
        except (OSError, ValueError):
            told = {}
        url = told.get("url") or os.environ.get("GRAPH_MEMORY_URL") or "http://127.0.0.1:8080"
        key = told.get("key") or os.environ.get("GRAPH_MEMORY_KEY")
        return cls(url, key, program, told.get("agent"))

    def ask(self, path: str, body: dict[str, Any], until: float) -> object:
        """Post a body and return the answer's; raises Refused, and OSError past the time."""
        if self.agent:
            own = body.get("graph_memory")
            if isinstance(own, dict):
                own.setdefault("agent", self.agent)
            else:
                body.setdefault("agent", self.agent)
        parts = urlsplit(self.url)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("no time is left")
        connection = kind(parts.hostname or "", parts.port, timeout=min(left, MOST_CONNECT_SECONDS))
        try:
            connection.connect()
            connection.sock.settimeout(max(0.05, until - time.monotonic()))
            sent = json.dumps(body).encode()
            connection.request("POST", parts.path.rstrip("/") + path, sent, self._headers())
            answer = connection.getresponse()
            content = answer.read(MOST_ANSWER)
        finally:
            connection.close()
        if answer.status >= 300:
            raise Refused(answer.status, content.decode("utf-8", "replace"))
        return json.loads(content)

    def _headers(self) -> dict[str, Any]:
        named = f"graph-memory-{self.program}/0.1"
        headers = {"content-type": "application/json", "user-agent": named}
        return headers | ({"authorization": f"Bearer {self.key}"} if self.key else {})
