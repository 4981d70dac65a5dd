"""A full disk: named, nothing of a write is kept, and what is acknowledged afterwards stays.

A process may make no file larger than so many bytes (RLIMIT_FSIZE), which the engine meets as it
meets a full disk: half a record is written. It needs no rights and works on every system.
"""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from service.errors import QueryFailed, StoreFull, StoreUnavailable
from service.store.address import StoreAddress
from service.store.database import Database
from service.store.queries import Query
from service.store.room import Room
from tests.servers.outer_embeddings import outer_embeddings
from tests.servers.running import REPOSITORY, running_service
from tests.stores.template import lay_store

pytestmark = pytest.mark.anyio

WRITER = """
import asyncio, os, resource, signal, sys
from service.errors import ServiceError
from service.store.address import StoreAddress
from service.store.database import Database
from service.store.queries import Query

WRITE = Query("own", '''BEGIN; UPSERT type::record("meta", $id) CONTENT { facts: { text: $text } };
    UPSERT type::record("meta", $id + "-too") CONTENT { facts: {} }; COMMIT;''',
    frozenset({"id", "text"}), writes=True)

async def write(db, name, size):
    try:
        await db.run(WRITE, id=name, text=os.urandom(size // 2).hex())
    except ServiceError as error:
        print(name, error.status, error.detail, flush=True)
    else:
        print(name, "stored", flush=True)

async def main():
    db = Database(StoreAddress(sys.argv[1]))
    await write(db, "before", 1000)
    most = db.address.log_bytes + 60_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    for n in range(3):
        await write(db, f"large-{n}", 90_000)
    print("reads", len(await db.meta("before")), flush=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for n in range(2):
        await write(db, f"after-{n}", 1000)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_what_is_acknowledged_after_a_full_disk_survives_a_kill(tmp_path: Path) -> None:
    store = tmp_path / "store"
    lay_store(store)
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", WRITER, f"surrealkv://{store}"], cwd=REPOSITORY,
        text=True, capture_output=True, check=False, timeout=60,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    for name in ("large-0", "large-1", "large-2"):
        assert told[name].startswith("507 ")
        assert str(store) in told[name]
        assert "Make room there: a running service goes on" in told[name]
    assert told["before"] == told["after-0"] == told["after-1"] == "stored"
    db = Database(StoreAddress(f"surrealkv://{store}"))
    try:
        names = await db.run(
            Query("own", "SELECT VALUE record::id(id) FROM meta", frozenset(), writes=False)
        )
    finally:
        await db.close()
    wanted = {"before", "after-0", "after-1"}
    assert {name for name in names if isinstance(name, str)} - {"schema", "text_index"} == {
        *wanted, *(f"{name}-too" for name in wanted)
    }  # fmt: skip


async def test_below_the_reserve_nothing_is_written_and_everything_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with outer_embeddings() as outer:
        with running_service(data_dir=tmp_path, embedding_url=outer.url) as service:
            assert service.client.post("/memories", json={"text": "A pump."}).status_code == 201
        more_than_there_is = 10**9
        with running_service(
            wait=False, data_dir=tmp_path, embedding_url=outer.url,
            disk_reserve_mb=more_than_there_is,
        ) as service:  # fmt: skip
            refused = service.client.post("/memories", json={"text": "Another pump."})
            assert refused.status_code == 507
            assert refused.headers["content-type"] == "application/problem+json"
            assert int(refused.headers["retry-after"]) > 0
            assert refused.json()["type"] == "/problems/store-full"
            assert str(tmp_path) in refused.json()["detail"]
            ready = service.client.get("/health/ready")
            assert (ready.status_code, ready.json()["status"]) == (503, "degraded")
            told = ready.json()["checks"]["disk"]["detail"]
            assert "MEMORY_DISK_RESERVE_MB" in told
            assert "request" not in told
            found = service.client.post("/search", json={"query": "pump"}).json()["results"]
            assert [hit["content"] for hit in found] == ["A pump."]
    # Nothing of what goes on beside requests took it for a defect.
    assert [line for line in caplog.messages if "starts again" in line] == []


async def test_below_the_reserve_words_find_what_no_model_has_met(tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9"
    with running_service(wait=False, data_dir=tmp_path, embedding_url=nowhere) as service:
        assert service.client.post("/memories", json={"text": "A pump."}).status_code == 201
    with (
        outer_embeddings() as outer,
        running_service(
            wait=False, data_dir=tmp_path, embedding_url=outer.url, disk_reserve_mb=10**9
        ) as service,
    ):
        for path in ("/search", "/graph-recall"):
            answer = service.client.post(path, json={"query": "pump"})
            assert answer.status_code == 200, answer.text
            receipt = answer.json()["receipt"]
            assert receipt["missing_signals"] == ["vector"]
            assert "MEMORY_DISK_RESERVE_MB" in receipt["fallback_reason"]
        found = service.client.post("/search", json={"query": "pump"}).json()["results"]
        assert [hit["content"] for hit in found] == ["A pump."]


async def test_below_the_reserve_sessions_are_told_what_there_is(tmp_path: Path) -> None:
    bunny, question = (
        "The code phrase of the mill is blue bunny.",
        "What is the mill's code phrase?",
    )
    with outer_embeddings() as outer:
        with running_service(data_dir=tmp_path, embedding_url=outer.url) as service:
            stored = {"text": bunny, "kind": "decision"}
            assert service.client.post("/memories", json=stored).status_code == 201
            for intent in ({"when": ["mill"]}, {"due": "2026-01-01"}):
                body = {"text": "Ask Mina.", **intent}
                assert service.client.post("/intents", json=body).status_code == 201
        with running_service(
            wait=False, data_dir=tmp_path, embedding_url=outer.url, disk_reserve_mb=10**9,
            hook_confidence=0.0,
        ) as service:  # fmt: skip
            hook = {"cwd": "/srv/new", "prompt": question}
            for event, source in (
                ("SessionStart", "startup"), ("SessionStart", "compact"), ("UserPromptSubmit", "")
            ):  # fmt: skip
                body = {**hook, "hook_event_name": event, "source": source, "session_id": event}
                told = service.client.post("/hooks/claude-code", json=body)
                assert bunny in told.text
            new = {"project": {"root": "/srv/new"}, "session": "s"}
            told = service.client.post("/session-context", json=new)
            assert bunny in told.json()["text"]
            asked = {"query": question, "session": "s", "new_only": False}
            found = service.client.post("/search", json=asked).json()
            assert [hit["content"] for hit in found["results"]] == [bunny]
            assert found["intents"] == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The query was not executed due to a failed transaction", StoreUnavailable),
        ("IO error: No space left on device (os error 28)", StoreFull),
        ("The index 'by_words' does not exist", QueryFailed),
    ],
)
async def test_a_server_that_cannot_commit_is_no_defect_of_ours(
    said: str, expected: type[Exception]
) -> None:
    """It does not tell that its disk is full: the write may be sent again, and a client is told."""
    room = Room(StoreAddress("ws://127.0.0.1:1/rpc"))
    failure = await room.failure_of(QueryFailed(said))
    assert type(failure) is expected
    # Nobody here knows what the server did.
    assert ("is not known" in failure.detail) == (expected is StoreUnavailable)
