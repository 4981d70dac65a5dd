"""How much a key may ask and store, over HTTP: 429, 507, nothing half written, nobody starved."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.servers.keyed import KeyedService, keyed_service
from tests.servers.running import running_service

ENGINES = ("resident", "database")
Json = dict[str, Any]


@pytest.fixture(scope="module")
def keyed(
    tmp_path_factory: pytest.TempPathFactory, embedding_url: str, engine: str
) -> Iterator[KeyedService]:
    folder = tmp_path_factory.mktemp("limits")
    (folder / "notes").mkdir()
    for number in range(4):
        path = folder / "notes" / f"{number}.md"
        path.write_text(f"# Note {number}\n\nA crane.\n", encoding="utf-8")
    with keyed_service(
        data_dir=folder / "data", embedding_url=embedding_url, search_engine=engine,
        sources=str(folder / "notes"), reads_at_once=2, reads_waiting=40, max_jobs=5,
    ) as running:  # fmt: skip
        yield running


def _stored(client: httpx.Client, agent: str) -> set[str]:
    listed = client.get("/memories", params={"agent": agent, "limit": 1000}).json()["memories"]
    return {memory["id"] for memory in listed}


def test_a_key_stores_no_more_memories_than_it_may(keyed: KeyedService, agent: str) -> None:
    _, told = keyed.key(["read", "write"], [agent], max_memories=3)
    with keyed.client(told) as client:
        for number in range(3):
            sent = {"text": f"Crane {number}.", "source_ref": f"r{number}"}
            assert client.post("/memories", json=sent).status_code == 201
        before = _stored(client, agent)
        full = client.post("/memories", json={"text": "One too many."})
        assert (full.status_code, full.json()["type"]) == (507, "/problems/quota-full")
        assert "3 memories" in full.json()["detail"]
        assert full.headers["content-type"] == "application/problem+json"
        document = {"source": "a.md", "text": "# A\n\nA crane.\n"}
        assert client.post("/ingest", json=document).status_code == 507
        assert client.get("/documents", params={"path": "a.md"}).status_code == 404
        # What is there already is changed, sent again and removed all the same.
        sent = {"text": "Another crane.", "source_ref": "r0"}
        assert client.post("/memories", json=sent).status_code == 201
        assert client.post("/memories", json={**sent, "text": "Crane 9."}).status_code == 201
        assert _stored(client, agent) == before
        assert client.delete(f"/memories/{min(before)}").status_code == 204
        assert client.post("/memories", json={"text": "Room again."}).status_code == 201
        assert client.post("/memories", json={"text": "And full."}).status_code == 507
    with keyed.client() as admin:
        assert admin.post("/memories", json={"text": "Mine.", "agent": agent}).status_code == 201


def test_pushes_at_once_exceed_no_quota(keyed: KeyedService, agent: str) -> None:
    _, told = keyed.key(["read", "write"], [agent, f"{agent}-2"], max_memories=20)
    with keyed.client(told) as client:

        def push(number: int) -> int:
            agents = (agent, f"{agent}-2")
            sent = {"text": f"Crane {number}.", "agent": agents[number % 2]}
            return client.post("/memories", json=sent).status_code

        with ThreadPoolExecutor(12) as threads:
            statuses = list(threads.map(push, range(40)))
        assert (statuses.count(201), statuses.count(507)) == (20, 20)
        assert len(_stored(client, agent)) + len(_stored(client, f"{agent}-2")) == 20


def test_a_batch_tells_what_had_no_room(keyed: KeyedService, agent: str) -> None:
    _, told = keyed.key(["read", "write"], [agent], max_memories=200)
    with keyed.client(told) as client:
        sent = [{"text": f"Crane {number}."} for number in range(300)]
        answer = client.post("/memories/batch", json={"memories": sent})
        assert answer.status_code == 200, answer.text
        told_of = answer.json()
        ids = {one for one in told_of["ids"] if one}
        # Groups of 128 are written whole: the second had no room.
        assert (told_of["created"], len(told_of["errors"])) == (128, 172)
        assert "200 memories" in told_of["errors"][0]["detail"]
        assert [error["index"] for error in told_of["errors"]] == [
            index for index, one in enumerate(told_of["ids"]) if one is None
        ]
        assert _stored(client, agent) == ids
        # Where there is room for nothing, the batch is refused.
        rest = [one for one, key in zip(sent, told_of["ids"], strict=True) if key is None]
        assert client.post("/memories/batch", json={"memories": rest[:73]}).status_code == 507


def test_a_key_stores_no_more_documents_than_it_may(keyed: KeyedService, agent: str) -> None:
    _, told = keyed.key(["read", "write"], [agent], max_documents=2)
    with keyed.client(told) as client:

        def ingest(name: str, text: str = "A crane.") -> int:
            document = {"source": f"{name}.md", "text": f"# {name}\n\n{text}\n"}
            return client.post("/ingest", json=document).status_code

        assert [ingest(name) for name in "abc"] == [200, 200, 507]
        assert [ingest(name, "Another crane.") for name in "ab"] == [200, 200]
        assert client.post("/memories", json={"text": "No document."}).status_code == 201


def test_what_is_stored_in_all_is_bounded_and_counted_after_a_restart(
    tmp_path: Path, embedding_url: str
) -> None:
    settings: Json = {"data_dir": tmp_path, "embedding_url": embedding_url}
    settings |= {"max_memories": 4, "max_documents": 1}
    with keyed_service(**settings) as keyed, keyed.client() as admin:
        _, told = keyed.key(["read", "write"], max_memories=1)

        def push(client: httpx.Client, text: str, agent: str = "main") -> int:
            return client.post("/memories", json={"text": text, "agent": agent}).status_code

        def ingest(name: str, text: str = "A crane.") -> int:
            document = {"source": f"{name}.md", "text": f"# {name}\n\n{text}\n"}
            return admin.post("/ingest", json=document).status_code

        with keyed.client(told) as client:
            assert push(client, "Of the key.", "other") == 201
        assert (ingest("a"), ingest("b"), ingest("a", "Another.")) == (200, 507, 200)
        assert push(admin, "The third.") == 201
    with running_service(**settings) as service:
        again = KeyedService(service, keyed.admin)
        with again.client(told) as client, again.client() as admin:
            full = client.post("/memories", json={"text": "One of the key too many."})
            assert (full.status_code, "This key stores 1" in full.json()["detail"]) == (507, True)
            assert push(admin, "The fourth.") == 201
            full = admin.post("/memories", json={"text": "One too many."})
            assert full.status_code == 507
            assert "This service stores 4 memories" in full.json()["detail"]
            assert (ingest("b"), ingest("a", "Once more.")) == (507, 200)
            # What one agent lets go is room for all.
            [gone] = _stored(admin, "other")
            where = {"agent": "other"}
            assert admin.delete(f"/memories/{gone}", params=where).status_code == 204
            assert push(client, "The key has room again.") == 201
            assert push(admin, "And full.") == 507


def test_bytes_of_a_minute(keyed: KeyedService, agent: str) -> None:
    _, told = keyed.key(["read", "write"], [agent], byte_rate=2000)
    with keyed.client(told) as client:
        assert client.post("/memories", json={"text": "c" * 5000}).status_code == 201
        refused = client.post("/memories", json={"text": "One more."})
        assert refused.status_code == 429
        assert 60 <= int(refused.headers["retry-after"]) <= 120
        # What has no body is free of it.
        assert len(_stored(client, agent)) == 1


def test_requests_in_all_leave_the_watchers_alone(tmp_path: Path, embedding_url: str) -> None:
    with running_service(data_dir=tmp_path, embedding_url=embedding_url, rate=3) as service:
        statuses = [service.client.get("/memories").status_code for _ in range(6)]
        assert statuses[-1] == 429
        assert statuses.count(429) >= 2
        for path in ("/health/live", "/health/ready"):
            assert service.client.get(path).status_code == 200


async def _single(keyed: KeyedService, told: str, times: int) -> list[int]:
    async with httpx.AsyncClient(
        base_url=keyed.url, headers={"Authorization": f"Bearer {told}"}, timeout=60
    ) as client:
        return [
            (await client.post("/search", json={"query": "crane"})).status_code
            for _ in range(times)
        ]


async def _flood(keyed: KeyedService, told: str, stop: asyncio.Event) -> list[int]:
    limits = httpx.Limits(max_connections=64, keepalive_expiry=None)
    async with httpx.AsyncClient(
        base_url=keyed.url, headers={"Authorization": f"Bearer {told}"}, timeout=60, limits=limits
    ) as client:

        async def back_to_back() -> list[int]:
            statuses = []
            while not stop.is_set():
                answer = await client.post("/search", json={"query": "crane"})
                statuses.append(answer.status_code)
            return statuses

        every = await asyncio.gather(*(back_to_back() for _ in range(64)))
        return [status for statuses in every for status in statuses]


def test_a_flood_of_one_starves_no_other(keyed: KeyedService, agent: str) -> None:
    # Two are worked on and 40 wait: 64 at once fill the line, and some of them are refused.
    _, many = keyed.key(["read", "write"], [agent])
    _, few = keyed.key(["read"], [agent])
    with keyed.client(many) as client:
        assert client.post("/memories", json={"text": "A crane."}).status_code == 201

    async def beside() -> tuple[list[int], list[int]]:
        stop = asyncio.Event()
        flood = asyncio.create_task(_flood(keyed, many, stop))
        await asyncio.sleep(0.5)
        single = await _single(keyed, few, 15)
        stop.set()
        return single, await flood

    single, flood = asyncio.run(beside())
    assert single == [200] * 15
    assert set(flood) == {200, 503}
