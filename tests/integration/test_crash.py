"""Killed in the middle of a write: nothing by halves, and the work goes on by itself."""

import asyncio
import random
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.store.address import StoreAddress
from service.store.database import Database
from tests import effort
from tests.servers.running import free_port, service_process, wait_for
from tests.stores.graph_check import Store, check, read_store
from tests.waiting import until

pytestmark = pytest.mark.soak

FILES = 300
SECTIONS = 3
BATCH = 700
# Memories of each of two spellings that become one.
MERGED = 1200
WORDS = (
    "harbour", "Blue Harbour", "engine", "GPU", "the New York Times", "repair", "Juan de la Cruz",
    "morning", "SurrealDB", "letter", "v2.3.1", "northern", "Rush", "kettle", "Anna Berg",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Killable:
    """A service in a process of its own."""

    process: subprocess.Popen[str]
    url: str

    def kill(self) -> None:
        """Send SIGKILL and wait for the end."""
        self.process.kill()
        self.process.wait(timeout=30)


@contextmanager
def service_on(folder: Path, embedding_url: str) -> Iterator[Killable]:
    """Start the service on the notes and the store in `folder`; it answers when this yields."""
    port = free_port()
    with service_process(
        MEMORY_PORT=str(port), MEMORY_DATA_DIR=str(folder / "data"),
        MEMORY_SOURCES=str(folder / "notes"), MEMORY_EMBEDDING_URL=embedding_url,
    ) as process:  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/health/live", lambda: process.poll() is None)
        yield Killable(process, url)


def write_notes(folder: Path, chance: random.Random) -> None:
    for number in range(FILES):
        name = f"memory/2026-{1 + number % 9:02}-{1 + number % 28:02}-{number:04}.md"
        path = folder / "notes" / (name if number % 2 else f"projects/note-{number:03}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        sections = [
            f"## {chance.choice(WORDS)} {part}\n\n{' and a '.join(chance.choices(WORDS, k=9))}.\n"
            for part in range(SECTIONS)
        ]
        path.write_text(f"# Note {number}\n\n" + "\n".join(sections), encoding="utf-8")


def stored(folder: Path) -> Store:
    return asyncio.run(_stored(folder))


async def _stored(folder: Path) -> Store:
    db = Database(StoreAddress(f"surrealkv://{folder / 'data' / 'store'}"))
    try:
        return await read_store(db)
    finally:
        await db.close()


def are_whole(store: Store, folder: Path) -> bool:
    """Say whether each stored document is its file's text with all its sections."""
    return all(
        row["text"] == (folder / "notes" / row["uri"]).read_text(encoding="utf-8")
        and row["sections"] == SECTIONS
        for row in store.rows["document"]
    )


def wait_for_job(service: Killable, job: str, door: str = "ingest") -> dict[str, Any]:
    def ended() -> dict[str, Any]:
        status: dict[str, Any] = httpx.get(f"{service.url}/{door}/jobs/{job}").json()
        return status if status["state"] in {"done", "failed"} else {}

    return until(ended)


def wait_for_more_documents(service: Killable, known: int) -> None:
    """Return as soon as the store holds more documents than were known, or all of them."""

    def is_so() -> bool:
        documents: int = httpx.get(f"{service.url}/stats").json()["documents"]
        return documents > known or documents == FILES

    until(is_so, every=0.02)


def test_a_scan_that_is_killed_again_and_again_ends_whole(
    tmp_path: Path, embedding_url: str
) -> None:
    chance = effort.chance(13)
    write_notes(tmp_path, chance)
    job, counts = "", list[int]()
    for _ in range(effort.amount("kills")):
        with service_on(tmp_path, embedding_url) as service:
            if not job:
                answer = httpx.post(f"{service.url}/ingest/scan", json={"wait": False})
                assert answer.status_code == 202
                job = answer.json()["job"]
            wait_for_more_documents(service, counts[-1] if counts else 0)
            time.sleep(chance.uniform(0.0, 0.3))
            service.kill()
        store = stored(tmp_path)
        assert check(store) == []
        assert are_whole(store, tmp_path)
        counts.append(len(store.rows["document"]))
    assert counts == sorted(counts)
    assert any(0 < count < FILES for count in counts), counts

    with service_on(tmp_path, embedding_url) as service:
        status = wait_for_job(service, job)
        assert (status["state"], status["files"], status["failed"]) == ("done", FILES, [])
        wait_for(f"{service.url}/health/ready", lambda: service.process.poll() is None)
    store = stored(tmp_path)
    assert check(store) == []
    assert are_whole(store, tmp_path)
    assert len(store.rows["document"]) == FILES
    assert len(store.memories) == len(store.rows["embedding"]) == FILES * SECTIONS


def batch_of(count: int, chance: random.Random) -> list[dict[str, Any]]:
    return [
        {
            "text": f"Number {number}: {' and a '.join(chance.choices(WORDS, k=9))}.",
            "source_ref": f"ref-{number}",
            "session": f"session-{number % 5}",
            "occurred_at": f"2026-02-13T{number % 24:02}:{number % 60:02}:00Z",
        }
        for number in range(count)
    ]


def test_a_batch_that_is_killed_can_be_sent_again(tmp_path: Path, embedding_url: str) -> None:
    chance = effort.chance(3)
    batch = batch_of(BATCH, chance)
    (tmp_path / "notes").mkdir()

    def send(url: str) -> None:
        with suppress(httpx.TransportError):
            httpx.post(f"{url}/memories/batch", json={"memories": batch}, timeout=60)

    with service_on(tmp_path, embedding_url) as service:
        sending = threading.Thread(target=send, args=(service.url,))
        sending.start()
        # As soon as so many are stored: in the middle of the work, however fast the machine.
        some = chance.randrange(BATCH // 2)
        until(lambda: httpx.get(f"{service.url}/stats").json()["memories"] > some, every=0.01)
        service.kill()
        sending.join()
    store = stored(tmp_path)
    assert check(store) == []
    before = len(store.memories)
    assert 0 < before < BATCH

    with service_on(tmp_path, embedding_url) as service:
        sent = httpx.post(
            f"{service.url}/memories/batch", json={"memories": batch}, timeout=60
        ).json()
    assert (sent["created"], sent["duplicates"]) == (BATCH - before, before)
    store = stored(tmp_path)
    assert check(store) == []
    assert len(store.memories) == len(store.rows["embedding"]) == BATCH


def consolidate(url: str) -> dict[str, Any]:
    answer = httpx.post(f"{url}/consolidate", json={"dry_run": False}, timeout=120)
    found: dict[str, Any] = answer.json()
    return found


def test_a_consolidation_that_is_killed_is_before_or_after(
    tmp_path: Path, embedding_url: str
) -> None:
    chance = effort.chance(5)
    (tmp_path / "notes").mkdir()
    logs = [one | {"kind": "daily_log"} for one in batch_of(BATCH, chance)]

    def send(url: str) -> None:
        with suppress(httpx.TransportError):
            consolidate(url)

    with service_on(tmp_path, embedding_url) as service:
        httpx.post(f"{service.url}/memories/batch", json={"memories": logs}, timeout=60)
        sending = threading.Thread(target=send, args=(service.url,))
        sending.start()
        # As soon as something is archived: in the middle of the work.
        until(lambda: httpx.get(f"{service.url}/stats").json()["archived"] > 0, every=0.01)
        service.kill()
        sending.join()
    store = stored(tmp_path)
    assert check(store) == []
    archived = sum(row.get("archived_at") is not None for row in store.rows["memory"])
    assert 0 < archived < BATCH

    with service_on(tmp_path, embedding_url) as service:
        done = consolidate(service.url)
        alone = done["counts"]["alone"]
        assert done["counts"]["memories"] + archived + alone == BATCH
        # What was left alone may fit into a summary once the others are gone.
        while (more := consolidate(service.url))["run"]:
            assert more["counts"]["alone"] < alone
            alone = more["counts"]["alone"]
    store = stored(tmp_path)
    assert check(store) == []
    assert sum(row["kind"] == "daily_log" for row in store.rows["memory"]) == BATCH


def test_a_consolidation_job_that_is_killed_goes_on_and_does_nothing_twice(
    tmp_path: Path, embedding_url: str
) -> None:
    chance = effort.chance(11)
    (tmp_path / "notes").mkdir()
    logs = [one | {"kind": "daily_log"} for one in batch_of(BATCH, chance)]
    with service_on(tmp_path, embedding_url) as service:
        httpx.post(f"{service.url}/memories/batch", json={"memories": logs}, timeout=60)
        shown = httpx.post(f"{service.url}/consolidate", json={"limit": 1000}).json()
        asked = {"plan": shown["plan"], "dry_run": False, "wait": False}
        job = httpx.post(f"{service.url}/consolidate", json=asked, timeout=60).json()["job"]
        until(lambda: httpx.get(f"{service.url}/stats").json()["archived"] > 0, every=0.01)
        service.kill()
    store = stored(tmp_path)
    assert check(store) == []
    archived = sum(row.get("archived_at") is not None for row in store.rows["memory"])
    assert 0 < archived < BATCH - shown["counts"]["alone"]

    with service_on(tmp_path, embedding_url) as service:
        told = wait_for_job(service, job, "consolidate")
        assert (told["state"], told["counts"]) == ("done", shown["counts"])
        assert told["done"] == told["groups"] == len(shown["groups"])
        for group in shown["groups"]:
            memory = httpx.get(f"{service.url}/memories/{group['id']}").json()
            assert memory["content"] == group["content"]
        undo = httpx.post(f"{service.url}/consolidate/undo", json={"run": job}, timeout=120).json()
        assert len(undo["restored"]) == shown["counts"]["memories"]
    assert check(stored(tmp_path)) == []


def is_of_either(store: Store) -> int:
    """Return how many memories moved; each mentions one of the two spellings, none both."""
    spellings: dict[str, list[str]] = {}
    for row in store.rows["references"]:
        memory, (_, slug) = row["in"], row["out"]
        if slug in {"embedding_server", "embedding_servers"}:
            spellings.setdefault(memory, []).append(slug)
    assert len(spellings) == len(store.memories) == 2 * MERGED + 1
    assert all(len(slugs) == 1 for slugs in spellings.values())
    return sum(slugs == ["embedding_servers"] for slugs in spellings.values()) - MERGED - 1


def test_a_merge_of_concepts_that_is_killed_goes_on_by_itself(
    tmp_path: Path, embedding_url: str
) -> None:
    chance = effort.chance(7)
    (tmp_path / "notes").mkdir()
    moved = list[int]()

    def send(url: str) -> None:
        with suppress(httpx.TransportError):
            consolidate(url)

    def left(url: str) -> int:
        answer = httpx.get(f"{url}/concepts/embedding_server")
        return int(answer.json()["memories"]) if answer.is_success else 0

    with service_on(tmp_path, embedding_url) as service:
        for start in range(0, 2 * MERGED + 1, BATCH):
            batch = [
                {"text": f"{n}: {word}.", "concepts": [word], "source_ref": f"ref-{n}"}
                for n in range(start, min(start + BATCH, 2 * MERGED + 1))
                for word in ["embedding server" if n % 2 else "embedding servers"]
            ]
            httpx.post(f"{service.url}/memories/batch", json={"memories": batch}, timeout=60)
        sending = threading.Thread(target=send, args=(service.url,))
        sending.start()
        # As soon as some have moved: in the middle of the work.
        until(lambda: left(service.url) < MERGED, every=0.01)
        service.kill()
        sending.join()
    moved.append(is_of_either(stored(tmp_path)))
    assert 0 < moved[0] < MERGED
    for _ in range(effort.amount("kills")):
        with service_on(tmp_path, embedding_url) as service:
            time.sleep(chance.uniform(0.0, 0.3))
            service.kill()
        moved.append(is_of_either(stored(tmp_path)))
    assert moved == sorted(moved)

    with service_on(tmp_path, embedding_url) as service:
        answer = f"{service.url}/concepts/embedding_server"
        until(lambda: httpx.get(answer).json()["memories"] == 2 * MERGED + 1, every=0.01)
        assert httpx.get(answer).json()["id"] == "embedding_servers"
    store = stored(tmp_path)
    assert is_of_either(store) == MERGED
    assert check(store) == []


def test_links_to_a_new_name_that_are_killed_go_on_by_themselves(
    tmp_path: Path, embedding_url: str
) -> None:
    chance = effort.chance(17)
    (tmp_path / "notes").mkdir()
    counts = list[int]()

    def linked(url: str) -> int:
        answer = httpx.get(f"{url}/concepts/test")
        return int(answer.json()["memories"]) if answer.is_success else 0

    with service_on(tmp_path, embedding_url) as service:
        for start in range(0, 2 * BATCH, BATCH):
            batch = [{"text": f"{n} of a test"} for n in range(start, start + BATCH)]
            httpx.post(f"{service.url}/memories/batch", json={"memories": batch}, timeout=60)
        new = {"text": "something new", "tags": ["test"]}
        httpx.post(f"{service.url}/memories", json=new, timeout=60)
        counts.append(linked(service.url))
        service.kill()
    for _ in range(effort.amount("kills")):
        with service_on(tmp_path, embedding_url) as service:
            time.sleep(chance.uniform(0.0, 0.3))
            service.kill()
        counts.append(len(stored(tmp_path).rows["references"]))
    assert counts == sorted(counts)
    assert 0 < counts[0] < 2 * BATCH

    with service_on(tmp_path, embedding_url) as service:
        until(lambda: linked(service.url) == 2 * BATCH + 1, every=0.01)
    store = stored(tmp_path)
    assert len(store.rows["references"]) == 2 * BATCH + 1
    assert check(store) == []
