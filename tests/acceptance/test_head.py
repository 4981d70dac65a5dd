"""HEAD on what GET reads: the same answer without its body, to the same keys (RFC 9110, 9.3.2)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.servers.keyed import KeyedService, keyed_service
from tests.waiting import until

# What is told of an answer, its length beside: a receipt tells its time.
_TOLD = ("content-type", "cache-control", "x-frame-options", "www-authenticate")


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, embedding_url: str) -> Iterator[KeyedService]:
    """Yield a service that notes reads in its audit, too."""
    folder: Path = tmp_path_factory.mktemp("watched")
    with keyed_service(data_dir=folder, embedding_url=embedding_url, audit="all") as running:
        yield running


def _reading(admin: httpx.Client) -> list[str]:
    """Return the paths that GET reads, each at something that is there or may be."""
    made = admin.post("/memories", json={"text": "JR's code phrase is blue bunny."}).json()["id"]
    paths: dict[str, Any] = admin.get("/openapi.json").json()["paths"]
    found = [path.replace("{id}", made) for path, methods in paths.items() if "get" in methods]
    assert len(found) > 20
    return [*found, "/search?q=bunny", "/documents?path=no.md", "/memories?limit=0", "/docs"]


def test_the_head_of_whatever_is_read_is_told_to_the_same_keys(watched: KeyedService) -> None:
    _, writes = watched.key(["write"])
    with watched.client() as admin:
        paths = _reading(admin)
    statuses = set()
    for key in (None, writes, "", "wrong"):
        with watched.client(key) as client:
            for path in paths:
                whole, head = client.get(path), client.head(path)
                assert head.status_code == whole.status_code, path
                for name in _TOLD:
                    assert head.headers.get(name) == whole.headers.get(name), (path, name)
                assert head.content == b""
                assert int(head.headers["content-length"]) > 0
                statuses.add(head.status_code)
    assert statuses == {200, 401, 403, 404, 422}


def test_what_nobody_reads_has_no_head_and_what_is_read_says_so(watched: KeyedService) -> None:
    with watched.client() as admin:
        for path in ("/ingest", "/memories/batch", "/mcp", "/nope"):
            assert admin.head(path).status_code == admin.get(path).status_code, path
        taken = admin.put("/memories").headers["allow"]
        assert set(taken.split(", ")) == {"GET", "HEAD", "POST"}
        assert admin.put("/ingest").headers["allow"] == "POST"
        paths: dict[str, Any] = admin.get("/openapi.json").json()["paths"]
    assert not [path for path, methods in paths.items() if "head" in methods]


def test_of_a_head_the_audit_tells_denials_alone(watched: KeyedService) -> None:
    key, told = watched.key(["read"])
    other, wrong = watched.key(["write"])
    with watched.client(told) as client:
        assert client.head("/stats").status_code == 200
    with watched.client(wrong) as client:
        assert client.head("/stats").status_code == 403
    with watched.client() as admin:
        admin.delete(f"/keys/{other}")
    with watched.client(wrong) as client:
        assert client.head("/projects").status_code == 401
    with watched.client(told) as client:
        # Later than the others: once its line is there, theirs would be.
        assert client.get("/concepts").status_code == 200

    def lines(of: str) -> list[tuple[str, str]]:
        with watched.client() as admin:
            found = admin.get("/audit", params={"key_id": of}).json()["entries"]
        return sorted((one["operation"], one["outcome"]) for one in found)

    assert until(lambda: lines(key)) == [("list_concepts", "done")]
    assert lines(other) == [("list_projects", "denied"), ("stats", "denied")]
