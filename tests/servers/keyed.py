"""A service with keys: one that may do everything, and others as a test wants them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.servers.running import RunningService, running_service


@dataclass(frozen=True, slots=True)
class KeyedService:
    """A running service, and the key `admin` that is good for everything and every agent."""

    service: RunningService
    admin: str

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.service.url

    def client(self, key: str | None = None) -> httpx.Client:
        """Return a client with this key, or the admin's; "" for none."""
        told = self.admin if key is None else key
        headers = {"Authorization": f"Bearer {told}"} if told else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def key(
        self, scopes: Sequence[str], agents: Sequence[str] | None = None, **more: Any
    ) -> tuple[str, str]:
        """Make a key; returns its id and what is sent."""
        body = {"name": "of a test", "scopes": list(scopes), "agents": agents, **more}
        with self.client() as admin:
            made = admin.post("/keys", json=body)
        assert made.status_code == 201, made.text
        return made.json()["id"], made.json()["key"]


@contextmanager
def keyed_service(**settings: Any) -> Iterator[KeyedService]:
    """Run the service in a thread, and make the first key as a program of this machine may."""
    with running_service(**settings) as service:
        body = {"name": "first", "scopes": ["read", "write", "admin"]}
        made = service.client.post("/keys", json=body)
        assert made.status_code == 201, made.text
        yield KeyedService(service, made.json()["key"])
