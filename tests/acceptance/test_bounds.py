"""More than the service can do at once: it answers what it took, and refuses the rest quickly."""

import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from tests.conftest import Start
from tests.effort import amount
from tests.servers.outer_embeddings import OuterEmbeddings, outer_embeddings
from tests.servers.running import RunningService

# What comes at once takes far less, and what is waited for takes longer.
AT_ONCE_SECONDS = 2.0


@pytest.fixture
def outer() -> Iterator[OuterEmbeddings]:
    """Yield an embedding server that hangs on the word `slowly`."""
    with outer_embeddings(hangs_on="slowly") as server:
        yield server
        server.let_go.set()


@pytest.fixture
def together() -> Iterator[ThreadPoolExecutor]:
    """Yield threads to ask from at once."""
    with ThreadPoolExecutor(16) as threads:
        yield threads


def metrics_of(service: RunningService) -> dict[str, float]:
    """Return every number of /metrics by name and labels, without the prefix."""
    lines = service.client.get("/metrics").text.splitlines()
    pairs = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
    return {name.removeprefix("graph_memory_"): float(number) for name, number in pairs}


def wait_until(service: RunningService, name: str, number: float) -> None:
    """Wait until a metric has this value."""
    end = time.monotonic() + 10
    while metrics_of(service)[name] != number:
        assert time.monotonic() < end, metrics_of(service)[name]
        time.sleep(0.02)


def search(service: RunningService, words: str) -> tuple[httpx.Response, float]:
    """Ask, and return how many seconds it took."""
    begun = time.monotonic()
    answer = httpx.get(f"{service.url}/search", params={"q": words}, timeout=60)
    return answer, time.monotonic() - begun


def fill(
    service: RunningService, together: ThreadPoolExecutor, running: int, waiting: int
) -> list[Future[tuple[httpx.Response, float]]]:
    """Let so many searches hang, and wait until they do."""
    count = running + waiting
    asked = [together.submit(search, service, f"slowly {n}") for n in range(count)]
    wait_until(service, 'requests_running{lane="reads"}', running)
    wait_until(service, 'requests_waiting{lane="reads"}', waiting)
    return asked


def test_one_too_many_is_refused_at_once(
    start: Start, outer: OuterEmbeddings, together: ThreadPoolExecutor
) -> None:
    service = start(
        embedding_url=outer.url, reads_at_once=2, reads_waiting=3, wait_timeout_seconds=60
    )
    service.client.post("/memories", json={"text": "The kettle is blue."})
    asked = fill(service, together, running=2, waiting=3)
    refused, seconds = search(service, "kettle")
    assert seconds < AT_ONCE_SECONDS
    assert refused.status_code == 503
    assert refused.headers["Retry-After"] == "1"
    problem = refused.json()
    assert problem["type"] == "/problems/overloaded"
    assert "MEMORY_READS_WAITING" in problem["detail"]
    assert problem["request_id"] == refused.headers["X-Request-ID"]
    # Whoever watches is heard, and whoever writes is not held up by those who read.
    for path in ("/health/live", "/health/ready", "/metrics"):
        begun = time.monotonic()
        assert service.client.get(path).status_code == 200
        assert time.monotonic() - begun < AT_ONCE_SECONDS
    assert service.client.post("/memories", json={"text": "A bell."}).status_code == 201
    outer.let_go.set()
    answers = [one.result()[0].status_code for one in asked]
    assert answers == [200] * 5
    assert metrics_of(service)['refused_total{bound="reads_full"}'] == 1
    assert search(service, "kettle")[0].json()["results"]


def test_who_waits_in_vain_is_told_in_time(
    start: Start, outer: OuterEmbeddings, together: ThreadPoolExecutor
) -> None:
    service = start(embedding_url=outer.url, reads_at_once=1, wait_timeout_seconds=0.3)
    fill(service, together, running=1, waiting=0)
    refused, seconds = search(service, "kettle")
    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/overloaded")
    assert 0.3 <= seconds < AT_ONCE_SECONDS
    assert metrics_of(service)['requests_waiting{lane="reads"}'] == 0
    outer.let_go.set()
    wait_until(service, 'requests_running{lane="reads"}', 0)


def test_writes_and_long_work_have_a_lane_of_their_own(
    start: Start, outer: OuterEmbeddings, together: ThreadPoolExecutor
) -> None:
    service = start(embedding_url=outer.url, writes_at_once=1, writes_waiting=0, jobs_waiting=0)
    body = {"text": "It boils slowly."}
    writing = together.submit(httpx.post, f"{service.url}/memories", json=body, timeout=60)
    wait_until(service, 'requests_running{lane="writes"}', 1)
    assert service.client.post("/memories", json=body).status_code == 503
    assert search(service, "kettle")[0].status_code == 200
    assert service.client.get("/stats").status_code == 200
    outer.let_go.set()
    assert writing.result().status_code == 201


def test_an_overdue_answer_is_a_refusal_and_its_place_stays_taken(
    start: Start, outer: OuterEmbeddings
) -> None:
    service = start(embedding_url=outer.url, read_timeout_seconds=0.3, reads_at_once=1)
    overdue, seconds = search(service, "slowly")
    assert overdue.json()["type"] == "/problems/took-too-long"
    assert (overdue.status_code, overdue.headers["Retry-After"]) == (503, "2")
    assert 0.3 <= seconds < AT_ONCE_SECONDS
    assert metrics_of(service)['requests_running{lane="reads"}'] == 1
    outer.let_go.set()
    wait_until(service, 'requests_running{lane="reads"}', 0)
    assert search(service, "kettle")[0].status_code == 200


def test_an_overdue_write_is_stored_all_the_same(start: Start, outer: OuterEmbeddings) -> None:
    service = start(embedding_url=outer.url, write_timeout_seconds=0.3)
    body = {"text": "The pot boils slowly.", "agent": "cook"}
    answer = service.client.post("/memories", json=body)
    assert answer.json()["type"] == "/problems/took-too-long"
    outer.let_go.set()
    wait_until(service, 'requests_running{lane="writes"}', 0)
    found = service.client.get("/search", params={"q": "pot", "agent": "cook"}).json()
    assert [hit["content"] for hit in found["results"]] == ["The pot boils slowly."]
    again = service.client.post("/memories", json=body).json()
    assert (again["action"], again["id"]) == ("duplicate", found["results"][0]["id"])


def test_the_line_is_left_by_who_is_refused(
    start: Start, outer: OuterEmbeddings, together: ThreadPoolExecutor
) -> None:
    """Storms one after the other leave every place free again."""
    service = start(
        embedding_url=outer.url, reads_at_once=2, reads_waiting=2, wait_timeout_seconds=0.2
    )
    for _ in range(3):
        outer.let_go.clear()
        asked = [together.submit(search, service, f"slowly {n}") for n in range(10)]
        time.sleep(0.4)
        outer.let_go.set()
        statuses = [one.result()[0].status_code for one in asked]
        assert (statuses.count(200), statuses.count(503)) == (2, 8)
    told = metrics_of(service)
    assert told['requests_running{lane="reads"}'] == told['requests_waiting{lane="reads"}'] == 0
    assert told['refused_total{bound="reads_full"}'] == 18
    assert told['refused_total{bound="reads_late"}'] == 6


@pytest.mark.soak
def test_agents_that_were_made_up_leave_no_trace(start: Start) -> None:
    service = start()
    client = service.client
    client.post("/memories", json={"text": "The kettle is blue."})
    before = metrics_of(service)["resident_agents"]
    for n in range(amount("made-up agents")):
        ghost = {"agent": f"ghost{n}"}
        assert client.get("/search", params={"q": "kettle", **ghost}).status_code == 404
        for path in ("/memories", "/concepts", "/index", "/stats", "/documents"):
            client.get(path, params={"path": "a.md", **ghost} if path == "/documents" else ghost)
        client.get("/graph-recall", params={"q": "kettle", **ghost})
        client.post("/consolidate", json={"dry_run": True, **ghost})
        client.patch("/memories/nothing", params=ghost, json={"tags": []})
        client.delete("/memories/nothing", params=ghost)
        client.post("/index/rebuild", json=ghost)
    assert metrics_of(service)["resident_agents"] == before
    # The first memory makes an agent known.
    client.post("/memories", json={"text": "A bell rings.", "agent": "ghost1"})
    found = client.get("/search", params={"q": "bell", "agent": "ghost1"}).json()
    assert [hit["content"] for hit in found["results"]] == ["A bell rings."]
    assert metrics_of(service)["resident_agents"] == before + 1


def test_no_more_agents_are_in_ram_than_may_be(start: Start) -> None:
    service = start(index_agents=3)
    for n in range(7):
        service.client.post("/memories", json={"text": f"Bell {n}.", "agent": f"a{n}"})
    for n in [*range(7), *range(7)]:
        found = service.client.get("/search", params={"q": "bell", "agent": f"a{n}"}).json()
        assert [hit["content"] for hit in found["results"]] == [f"Bell {n}."]
    told = metrics_of(service)
    assert told["resident_agents"] == 3
    assert told["evicted_agents_total"] >= 8


def test_metrics_tell_what_is_counted_and_held(start: Start) -> None:
    service = start()
    service.client.post("/memories", json={"text": "The Blue Kettle is old."})
    service.client.get("/search", params={"q": "kettle"})
    for n in range(20):
        service.client.get(f"/memories/made-up-{n}")
        service.client.get(f"/no/such/path/{n}")
    told = metrics_of(service)
    assert told['requests_total{method="GET",route="/search",status="200"}'] == 1
    assert told['requests_total{method="GET",route="/memories/{id}",status="404"}'] == 20
    assert told['request_duration_seconds_count{route="/search"}'] == 1
    for name in (
        "connections_open", "body_bytes", "waiting_jobs", "memories_without_vector",
        'held_bytes{of="indexes"}', 'held_bytes{of="dictionaries"}',
        'refused_total{bound="body_time"}', 'refused_total{bound="connection_headers"}',
    ):  # fmt: skip
        assert name in told
    assert told['held_bytes{of="indexes"}'] > 0
    assert not [name for name in told if re.search(r"made-up|no/such", name)]


def test_metrics_answer_without_the_resident_engine(start: Start) -> None:
    told = metrics_of(start(search_engine="database"))
    assert "resident_agents" not in told
    assert "connections_open" in told
