"""The whole service over a database server: at work, while the server is gone, and after."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.store.address import StoreAddress
from tests.servers.outer_embeddings import outer_embeddings
from tests.servers.running import RunningService, free_port, running_service, service_process
from tests.servers.surreal_server import Credentials, SurrealProcess
from tests.stores.open_store import OpenStore
from tests.stores.template import lay_store
from tests.waiting import until

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PASSWORD = Credentials().password
NOTE = "# 2026-02-13\n\n## 09:15 Smoke test\n\nJR's code phrase is blue bunny.\n"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SurrealProcess]:
    lay_store(tmp_path / "store")
    async with SurrealProcess(tmp_path / "store") as process:
        yield process


@contextmanager
def service_over(
    database: SurrealProcess, embedding_url: str, **settings: Any
) -> Iterator[RunningService]:
    with running_service(
        database_url=database.url, database_user="root", database_password=PASSWORD,
        embedding_url=embedding_url, **settings,
    ) as service:  # fmt: skip
        yield service


def search(service: RunningService) -> httpx.Response:
    return service.client.post("/search", json={"query": "what is JR's code phrase?"})


def is_found(answer: httpx.Response) -> bool:
    return answer.status_code == 200 and "blue bunny" in answer.json()["results"][0]["content"]


def wait_until_found(service: RunningService) -> None:
    until(lambda: is_found(search(service)))


def assert_unavailable(service: RunningService) -> None:
    answer = search(service)
    assert answer.status_code == 503, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) > 0
    assert answer.json()["status"] == 503
    ready = service.client.get("/health/ready")
    assert ready.status_code == 503
    assert ready.json()["checks"]["database"]["ok"] is False
    assert service.client.get("/health/live").status_code == 200


async def test_what_goes_in_comes_out(database: SurrealProcess, embedding_url: str) -> None:
    with service_over(database, embedding_url) as service:
        sent = service.client.post("/ingest", json={"source": "memory/2026-02-13.md", "text": NOTE})
        assert sent.json()["created"] == 1
        pushed = service.client.post("/memories", json={"text": "The blue bunny is a code phrase."})
        assert pushed.status_code == 201
        assert is_found(search(service))
        recalled = service.client.post("/graph-recall", json={"query": "blue bunny"})
        assert recalled.status_code == 200, recalled.text
        assert "blue bunny" in recalled.text
        deleted = service.client.delete(f"/memories/{pushed.json()['id']}")
        assert deleted.status_code == 204


async def test_a_killed_server_is_missed_and_found_again(
    database: SurrealProcess, embedding_url: str
) -> None:
    with service_over(database, embedding_url) as service:
        service.client.post("/ingest", json={"source": "memory/2026-02-13.md", "text": NOTE})
        assert is_found(search(service))
        for _ in range(2):
            await database.send_signal(signal.SIGKILL)
            assert_unavailable(service)
            refused = service.client.post("/memories", json={"text": "Nobody keeps this."})
            assert refused.status_code == 503
            await database.start()
            wait_until_found(service)
            assert service.client.get("/health/ready").status_code == 200
        stored = service.client.get("/memories").json()["memories"]
        assert len(stored) == 1
        again = service.client.post("/memories", json={"text": "Now it is kept."})
        assert again.status_code == 201


async def test_a_server_that_does_not_answer_costs_a_time_out(
    database: SurrealProcess, embedding_url: str
) -> None:
    with service_over(database, embedding_url, database_timeout_seconds=0.5) as service:
        service.client.post("/ingest", json={"source": "memory/2026-02-13.md", "text": NOTE})
        await database.send_signal(signal.SIGSTOP)
        # Longer than keys are believed without a look: to be alive takes no database.
        await asyncio.sleep(1.2)
        started = time.perf_counter()
        assert service.client.get("/health/live").status_code == 200
        assert search(service).status_code == 503
        assert time.perf_counter() - started < 5
        await database.send_signal(signal.SIGCONT)
        wait_until_found(service)


async def test_a_job_goes_on_when_the_server_is_back(
    database: SurrealProcess, embedding_url: str, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(200):
        (notes / f"{number}.md").write_text(f"## Part {number}\n\nBlue bunny number {number}.\n")
    with service_over(database, embedding_url, sources=(notes,)) as service:
        job = service.client.post("/ingest/scan", json={"wait": False}).json()["job"]
        await asyncio.sleep(0.3)
        await database.send_signal(signal.SIGKILL)
        assert_unavailable(service)
        await database.start()
        for _ in range(400):
            answer = service.client.get(f"/ingest/jobs/{job}")
            if answer.status_code == 200 and answer.json()["state"] == "done":
                break
            await asyncio.sleep(0.05)
        assert answer.json()["state"] == "done"
        assert answer.json()["files"] == 200
    async with agent_store(database, tmp_path) as opened:
        assert len(await opened.ids()) == 200
        assert await opened.complaints() == []


@asynccontextmanager
async def agent_store(database: SurrealProcess, folder: Path) -> AsyncIterator[OpenStore]:
    """Open the server's store as another service would; its model is not asked."""
    with outer_embeddings() as embeddings:
        opened = OpenStore(folder, embeddings, StoreAddress(database.url, "root", PASSWORD))
        try:
            yield opened
        finally:
            await opened.close()


async def test_two_services_on_one_server_write_a_sound_store(
    database: SurrealProcess, tmp_path: Path
) -> None:
    texts = [f"Rush met Blue Harbour and the GPU, number {n}." for n in range(4)]
    async with agent_store(database, tmp_path) as first, agent_store(database, tmp_path) as second:
        await first.open()
        await second.open()
        works = [opened.push(text) for opened in (first, second) for text in texts]
        works += [first.push(*texts, session="a"), second.push(*texts, session="a")]
        await asyncio.gather(*works)
        assert len(await first.ids()) == 8
        assert await second.complaints() == []


def complaint(**environment: str) -> str:
    """Return what a service that cannot start says; it must end by itself, and not well."""
    with service_process(MEMORY_PORT=str(free_port()), **environment) as process:
        said, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    return said


async def test_votes_of_one_service_rank_in_the_other(
    database: SurrealProcess, embedding_url: str
) -> None:
    def score(service: RunningService) -> float:
        [hit] = search(service).json()["results"]
        return float(hit["score"])

    with (
        service_over(database, embedding_url) as one,
        service_over(database, embedding_url) as other,
    ):
        stored = one.client.post("/memories", json={"text": "JR's code phrase is blue bunny."})
        until(lambda: search(other).json().get("results"))
        before = score(other)
        voted = one.client.post(
            f"/memories/{stored.json()['id']}/feedback", json={"helpful": False}
        )
        assert voted.json()["unhelpful"] == 1
        assert score(one) == pytest.approx(0.95 * before)
        until(lambda: score(other) == pytest.approx(0.95 * before))


async def test_a_wrong_password_ends_the_start_with_one_line(
    database: SurrealProcess, embedding_url: str
) -> None:
    for password in ("wrong", ""):
        said = complaint(
            MEMORY_DATABASE_URL=database.url, MEMORY_DATABASE_USER="root",
            MEMORY_DATABASE_PASSWORD=password, MEMORY_EMBEDDING_URL=embedding_url,
        )  # fmt: skip
        [line] = said.strip().splitlines()
        assert line.startswith("graph-memory: The database refused the user: check MEMORY_DATABASE")


async def test_no_server_at_the_start_is_told_in_one_line() -> None:
    said = complaint(MEMORY_DATABASE_URL=f"ws://127.0.0.1:{free_port()}/rpc")
    [line] = said.strip().splitlines()
    assert line.startswith("graph-memory: No database answers at ws://127.0.0.1:")
    assert line.endswith(": start it, or set MEMORY_DATABASE_URL to where it is.")


async def test_services_on_one_server_know_each_others_keys(
    database: SurrealProcess, embedding_url: str
) -> None:
    def play() -> None:
        with (
            service_over(database, embedding_url) as one,
            service_over(database, embedding_url) as other,
        ):
            assert other.client.get("/keys").status_code == 200
            everything = {"name": "first", "scopes": ["read", "write", "admin"]}
            made = one.client.post("/keys", json=everything).json()
            time.sleep(1.2)
            # Neither is open any more, and both know the key until it ends.
            assert other.client.get("/memories").status_code == 401
            admin = {"Authorization": f"Bearer {made['key']}"}
            assert other.client.get("/memories", headers=admin).status_code == 200
            told = one.client.post("/keys", json={"name": "short"}, headers=admin).json()
            time.sleep(1.2)
            short = {"Authorization": f"Bearer {told['key']}"}
            assert other.client.get("/memories", headers=short).status_code == 200
            assert one.client.delete(f"/keys/{told['id']}", headers=admin).status_code == 204
            assert one.client.get("/memories", headers=short).status_code == 401
            time.sleep(1.2)
            assert other.client.get("/memories", headers=short).status_code == 401

    await asyncio.to_thread(play)
