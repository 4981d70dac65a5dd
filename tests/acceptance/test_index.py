"""GET /index, POST /index/rebuild and what /health/ready says of the index."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.conftest import Start
from tests.servers.running import RunningService

Json = dict[str, Any]

TABLES = {"memory", "embedding", "concept", "references", "related_to", "is_a", "follows"}


@pytest.fixture
def resident(start: Start) -> httpx.Client:
    """Yield a service over the resident index, with memories of agents `main` and `second`."""
    client = start(search_engine="resident").client
    for agent, count in (("main", 12), ("second", 5)):
        memories = [
            {
                "text": f"Number {n}: Anna Berg and the blue bunny at Blue Harbour.",
                "agent": agent, "session": "s1", "source_ref": f"{agent}-{n}",
            }
            for n in range(count)
        ]  # fmt: skip
        answer = client.post("/memories/batch", json={"memories": memories})
        assert answer.json()["created"] == count
        assert len(search(client, agent)["results"]) == count  # it is in RAM from now on
    return client


def get_index(client: httpx.Client, agent: str = "main") -> Json:
    answer = client.get("/index", params={"agent": agent})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def search(client: httpx.Client, agent: str = "main") -> Json:
    answer = client.post("/search", json={"query": "blue bunny", "agent": agent, "limit": 50})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def test_the_index_is_compared_with_the_store(resident: httpx.Client) -> None:
    before = datetime.now(UTC)
    told = get_index(resident, "second")
    agent, index = told["agent"], told["index"]
    assert agent["counts"].keys() == TABLES
    assert (agent["agent"], agent["counts"]["memory"], agent["counts"]["embedding"]) == (
        "second", 5, 5,
    )  # fmt: skip
    assert (agent["counts"]["follows"], agent["counts"]["references"]) == (4, 10)
    assert (agent["drift"], agent["left_out"]) == ({}, {})
    assert index["agents"] == 2
    assert index["memories"] == 17
    assert 0 < agent["bytes"] < index["bytes"] < index["budget_bytes"]
    assert (index["loading"], index["left_out"], index["drift"]) == ({}, {}, {})
    assert index["unknown_tables"] == {}
    assert datetime.fromisoformat(index["indexed_through"]) >= before


def test_the_default_is_the_first_agent_and_writes_show_at_once(resident: httpx.Client) -> None:
    assert resident.get("/index").json()["agent"]["agent"] == "main"
    for number in range(3):
        resident.post("/memories", json={"text": f"One more, {number}."})
        assert get_index(resident)["agent"]["counts"]["memory"] == 13 + number


@pytest.mark.parametrize("body", [None, {}, {"agent": "main"}, {"agent": None}])
def test_a_rebuild_loads_what_is_there(resident: httpx.Client, body: Json | None) -> None:
    before = get_index(resident)["agent"]["counts"]
    answer = (
        resident.post("/index/rebuild", json=body)
        if body is not None
        else resident.post("/index/rebuild")
    )
    assert answer.status_code == 200, answer.text
    told = answer.json()
    is_of_one = bool(body and body.get("agent"))
    assert set(told["rebuilt"]) == ({"main"} if is_of_one else {"main", "second"})
    assert told["took_ms"] > 0
    assert told["index"]["memories"] == 17
    assert get_index(resident)["agent"]["counts"] == before


def test_searches_and_writes_go_on_while_it_is_rebuilt(resident: httpx.Client) -> None:
    expected = {hit["id"] for hit in search(resident)["results"]}
    assert len(expected) == 12
    is_done = threading.Event()

    def read(agent: str) -> int:
        rounds = 0
        while not is_done.is_set():
            found = search(resident, agent)
            assert len(found["results"]) >= (12 if agent == "main" else 5)
            assert found["receipt"]["fallback_reason"] is None
            rounds += 1
        return rounds

    def write() -> int:
        rounds = 0
        while not is_done.is_set():
            sent = resident.post("/memories", json={"text": f"A blue bunny, {rounds} of many."})
            assert sent.json()["id"] in {hit["id"] for hit in search(resident)["results"]}
            rounds += 1
        return rounds

    with ThreadPoolExecutor(3) as threads:
        working = [threads.submit(read, agent) for agent in ("main", "second")]
        working.append(threads.submit(write))
        try:
            for _ in range(6):
                assert resident.post("/index/rebuild").status_code == 200
        finally:
            is_done.set()
        assert all(one.result() for one in working)
    assert get_index(resident)["agent"]["drift"] == {}


def test_an_agent_that_nobody_knows_is_not_found(resident: httpx.Client) -> None:
    for answer in (
        resident.get("/index", params={"agent": "nobody"}),
        resident.post("/index/rebuild", json={"agent": "nobody"}),
    ):
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
        assert "'nobody' has never stored a memory" in answer.json()["detail"]
    assert get_index(resident)["index"]["agents"] == 2


@pytest.mark.parametrize("body", [{"agents": ["main"]}, {"agent": ""}, {"agent": 7}, []])
def test_a_request_that_says_something_else_is_refused(resident: httpx.Client, body: Any) -> None:
    answer = resident.post("/index/rebuild", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


def test_health_tells_of_the_index(resident: httpx.Client) -> None:
    answer = resident.get("/health/ready")
    assert answer.status_code == 200
    ready = answer.json()
    assert ready["checks"]["engine"] == {"ok": True, "detail": "resident"}
    assert ready["index"].keys() == {
        "agents", "memories", "bytes", "budget_bytes", "loading", "left_out", "drift",
        "unknown_tables", "indexed_through",
    }  # fmt: skip
    assert ready["index"]["memories"] == 17


def test_the_database_engine_has_no_index_and_says_so(start: Start) -> None:
    running: RunningService = start(search_engine="database")
    client = running.client
    client.post("/memories", json={"text": "The blue bunny."})
    for answer in (client.get("/index"), client.post("/index/rebuild", json={"agent": "main"})):
        assert answer.status_code == 409
        assert answer.headers["content-type"] == "application/problem+json"
        assert "MEMORY_SEARCH_ENGINE is `database`" in answer.json()["detail"]
    ready = client.get("/health/ready").json()
    assert ready["index"] is None
    assert ready["checks"]["engine"] == {"ok": True, "detail": "database"}
    assert search(client)["receipt"]["engine"] == "database"
