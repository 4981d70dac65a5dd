"""A scan that reads all documents anew, as they are cut in another way now, and is broken off."""

import asyncio
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from service.drafts import drafts
from service.jobs import jobs
from service.store.address import StoreAddress
from service.store.database import Database
from service.text.markdown import Document, parse_markdown
from service.writing import diff, pipeline
from tests.servers.running import free_port, running_service, service_process, wait_for
from tests.stores.graph_check import check, read_store
from tests.stores.killed import Killed
from tests.waiting import until

FILES: Final = 120
# What says when, or how often, something was written: as often as it was broken off.
_OF_ITS_TIME: Final = frozenset({"created_at", "updated_at", "of"})

Rows = Mapping[str, list[dict[str, Any]]]


def write_notes(folder: Path) -> None:
    """Write notes that the older recipe cuts in two where this one makes one section of it."""
    for number in range(FILES):
        # Of each ten one without a heading: only its name, which was no concept, says what it is.
        head = "" if number % 10 == 3 else "# Harbour book\n\n"
        text = (
            f"{head}The harbour crane no. {number} was mended by Anna Berg, who wrote it down.\n\n"
            f"It leads to [[Quay {(number * 7) % FILES}]] and the Blue Harbour Company.\n\n"
            f"## Tide\n\nThe tide of day {number} was high. Nobody saw it come.\n\n"
            f"## Rope {number}\n\nRope {number} holds.\n"
        )
        path = folder / "notes" / f"Quay {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _cut_small(text: str, _: int, **bounds: Any) -> Document:
    return parse_markdown(text, 12, **bounds)


@pytest.fixture
def older(tmp_path: Path, embedding_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of notes and of a store that has them by a recipe of before."""
    folder = tmp_path / "older"
    write_notes(folder)
    with monkeypatch.context() as before:
        before.setattr(drafts, "RECIPE", "0")
        before.setattr(drafts, "name_of", lambda _: "")
        before.setattr(diff, "parse_markdown", _cut_small)
        with serving(folder, folder, embedding_url) as client:
            done = client.post("/ingest/scan", json={"wait": True}).json()
            assert (done["files"], done["failed"]) == (FILES, [])
            set_by_hand(client)
    return folder


def sections_change_files(notes: Path) -> None:
    """Let files end with the last section of another one, which was read long before or after."""
    names = sorted(notes.iterdir())
    texts = [one.read_text(encoding="utf-8").split("## Rope") for one in names]
    for place, (name, (text, _)) in enumerate(zip(names, texts, strict=True)):
        if place % 2:
            continue
        name.write_text(f"{text}## Rope{texts[place - FILES // 2][1]}", encoding="utf-8")


def set_by_hand(client: httpx.Client) -> None:
    """Pin and quarantine some sections, whole ones and parts; delete whole ones for good."""
    for words in ("The tide", "Rope"):
        keys = _saying(client, words)
        for key in keys[10:30]:
            assert client.patch(f"/memories/{key}", json={"pinned": True}).status_code == 200
        for key in keys[30:40]:
            change = {"trust_tier": "quarantined"}
            assert client.patch(f"/memories/{key}", json=change).status_code == 200
    for key in keys[40:50]:
        assert client.delete(f"/memories/{key}").status_code == 204


def _saying(client: httpx.Client, words: str) -> list[str]:
    found: list[tuple[str, str]] = []
    more: dict[str, str] | None = {}
    while more is not None:
        page = client.get("/memories", params={"limit": "1000", **more}).json()
        found += [(one["content"], one["id"]) for one in page["memories"]]
        more = {"cursor": page["next_cursor"]} if page["next_cursor"] else None
    return [key for content, key in sorted(found) if content.startswith(words)]


@contextmanager
def serving(folder: Path, notes: Path, embedding_url: str) -> Iterator[httpx.Client]:
    with running_service(
        embedding_url=embedding_url, data_dir=folder / "data", sources=(notes / "notes",)
    ) as service:
        yield service.client


def copied(older: Path, name: str) -> Path:
    folder = older.parent / name
    shutil.copytree(older / "data", folder / "data")
    return folder


def begin(client: httpx.Client) -> str:
    answer = client.post("/ingest/scan", json={"wait": False})
    assert answer.status_code == 202
    job: str = answer.json()["job"]
    return job


def told(client: httpx.Client, job: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/ingest/jobs/{job}").json()
    return found


def ended(client: httpx.Client, job: str) -> dict[str, Any]:
    """Return what a job told at its end."""

    def look() -> dict[str, Any]:
        now = told(client, job)
        return now if now["state"] in {"done", "failed"} else {}

    return until(look)


async def _rows(folder: Path) -> Rows:
    db = Database(StoreAddress(f"surrealkv://{folder / 'data' / 'store'}"))
    try:
        store = await read_store(db)
    finally:
        await db.close()
    assert check(store) == []
    return store.rows


def stored(folder: Path) -> dict[str, list[str]]:
    """Return all that a sound store holds, but for when it was written."""
    rows = asyncio.run(_rows(folder))
    return {
        table: sorted(
            str({name: one[name] for name in sorted(one) if name not in _OF_ITS_TIME})
            for one in some
        )
        for table, some in rows.items()
        if table != "meta"
    }


def unbroken(older: Path, embedding_url: str) -> dict[str, list[str]]:
    """Return what a scan that nothing stops makes of the store."""
    folder = copied(older, "unbroken")
    before = stored(folder)
    with serving(folder, older, embedding_url) as client:
        assert ended(client, begin(client))["failed"] == []
    after = stored(folder)
    # Or nothing was read anew, and to be broken off were nothing.
    assert before["memory"] != after["memory"]
    return after


def check_same(found: Mapping[str, list[str]], wanted: Mapping[str, list[str]]) -> None:
    for table, rows in wanted.items():
        assert found[table] == rows, table


@pytest.mark.slow
def test_interrupted_by_the_store_it_goes_on_to_the_same(
    older: Path, embedding_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sections_change_files(older / "notes")
    wanted = unbroken(older, embedding_url)
    folder, writing = copied(older, "interrupted"), Killed(1)
    monkeypatch.setattr(jobs, "_REST_SECONDS", 0.2)
    with serving(folder, older, embedding_url) as client:
        monkeypatch.setattr(pipeline, "write", writing)
        job = begin(client)
        for times in range(1, 4):
            until(lambda: writing.refused >= times)  # noqa: B023 - called before the next one
            assert told(client, job)["state"] == "running"
            writing.left = 1
        writing.left = FILES
        assert ended(client, job)["failed"] == []
    check_same(stored(folder), wanted)


@contextmanager
def killable(
    folder: Path, notes: Path, embedding_url: str
) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """Serve in a process of its own."""
    port = free_port()
    given = {
        "MEMORY_PORT": str(port), "MEMORY_DATA_DIR": str(folder / "data"),
        "MEMORY_SOURCES": str(notes), "MEMORY_EMBEDDING_URL": embedding_url,
    }  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with service_process(**given) as process, httpx.Client(base_url=url, timeout=60) as client:
        wait_for(f"{url}/health/live", lambda: process.poll() is None)
        yield process, client


@pytest.mark.slow
def test_killed_it_goes_on_to_the_same(older: Path, embedding_url: str) -> None:
    sections_change_files(older / "notes")
    wanted = unbroken(older, embedding_url)
    folder = copied(older, "killed")
    with killable(folder, older / "notes", embedding_url) as (process, client):
        job = begin(client)
        until(lambda: told(client, job)["done"], every=0.02)
        process.kill()
        process.wait(timeout=30)
    assert stored(folder)["document"] != wanted["document"]
    with killable(folder, older / "notes", embedding_url) as (_, client):
        assert ended(client, job)["failed"] == []
    check_same(stored(folder), wanted)
