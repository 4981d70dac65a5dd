"""A command without a running service: the app in its own process, on the configured store."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from service.client.errors import Problem
from service.client.options import ConsolidateOptions
from service.commands import ingest
from service.commands.connect import connect, is_own
from service.commands.consolidate import consolidate
from service.commands.ingest import ingest_once
from service.errors import InvalidRequest, StoreInUse
from service.ingest.jobs import SCAN
from service.jobs.jobs import CREATE_JOB
from service.opening import open_parts
from service.settings import Settings
from service.store.database import record
from tests.servers.running import free_port, running_service
from tests.servers.stranger import stranger

pytestmark = pytest.mark.anyio


def _settings(folder: Path, **more: Any) -> Settings:
    own: dict[str, Any] = {"data_dir": folder / "data", "embedding_url": "http://127.0.0.1:9"}
    return Settings(_env_file=None, **own | {"port": free_port()} | more)


def _notes(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text(f"# {name}\n\nabout {name}\n", encoding="utf-8")
    return folder


async def _uris(settings: Settings) -> list[str]:
    async with connect(settings) as memory:
        page = await memory.list_memories(limit=1000)
    return sorted(str(one["source"]["uri"]) for one in page["memories"])


async def _count(settings: Settings) -> tuple[bool, int]:
    """Return who was asked, and how many memories there are."""
    async with connect(settings) as memory:
        return is_own(memory), (await memory.stats())["memories"]


async def test_any_folder_is_read_under_the_names_it_had_before(tmp_path: Path) -> None:
    first, second = _notes(tmp_path / "a", "one.md", "two.md"), _notes(tmp_path / "b", "one.md")
    settings = _settings(tmp_path, sources=(tmp_path / "elsewhere",))
    gone = tmp_path / "gone"
    [told] = await ingest_once(settings, [first / "one.md", second, gone], lambda **_: None)
    assert (told["files"], told["created"]) == (2, 2)
    assert told["failed"] == [{"source": str(gone), "detail": "the folder does not exist."}]
    assert await _uris(settings) == ["b/one.md", "one.md"]
    [told] = await ingest_once(settings, [gone], lambda **_: None)
    assert (told["files"], told["removed"], len(told["failed"])) == (0, 0, 1)
    (second / "one.md").rename(second / "two.md")
    [told] = await ingest_once(settings, [second], lambda **_: None)
    assert told["removed"] == 1


async def test_more_paths_than_a_request_may_name_are_scanned_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_MOST_PATHS", 2)
    notes = _notes(tmp_path / "notes", "a.md", "b.md", "c.md")
    shown: list[dict[str, int]] = []
    settings = _settings(tmp_path, sources=(notes,))
    told = await ingest_once(settings, sorted(notes.iterdir()), lambda **at: shown.append(at))
    assert [part["files"] for part in told] == [2, 1]
    assert shown[-1] == {"total": 1, "completed": 1}
    assert await _uris(settings) == ["a.md", "b.md", "c.md"]


async def test_jobs_that_a_service_left_stay_with_the_next_one(tmp_path: Path) -> None:
    notes, other = _notes(tmp_path / "notes", "a.md"), _notes(tmp_path / "other", "b.md")
    settings = _settings(tmp_path, sources=(notes,))
    wish = {"agent": "main", "paths": []}
    async with open_parts(settings) as parts:
        await parts.db.run(CREATE_JOB, id=record("job", "left"), kind=SCAN, request=wish, key=None)
    await ingest_once(settings, [other], lambda **_: None)
    async with connect(settings) as memory:
        assert (await memory.read_job("left"))["state"] == "queued"
    assert await _uris(settings) == ["b.md"]
    # The same wish is that job.
    await ingest_once(settings, [], lambda **_: None)
    async with connect(settings) as memory:
        assert (await memory.read_job("left"))["state"] == "done"
    assert await _uris(settings) == ["a.md", "b.md"]


async def test_a_consolidation_shows_how_far_it_is(tmp_path: Path, embedding_url: str) -> None:
    settings = _settings(tmp_path, embedding_url=embedding_url)
    shown: list[dict[str, Any]] = []

    def show(**at: Any) -> None:
        shown.append(at)

    async with connect(settings) as memory:
        for n in range(4):
            text = f"Day {n}: the Osprey-{n // 2} came back."
            day = f"2026-02-0{n + 1}"
            await memory.store_memory(text, kind="daily_log", occurred_at=day)
    wish: ConsolidateOptions = {"agent": "main", "older_than_days": 3}
    planned, none = await consolidate(settings, wish, show, execute=False)
    assert (none, shown) == (None, [])
    groups = planned["counts"]["groups"]
    _, done = await consolidate(settings, wish, show, execute=True)
    assert done is not None
    assert (done["state"], done["counts"]) == ("done", planned["counts"])
    assert shown[-1] == {"description": "Consolidating", "total": groups, "completed": groups}
    # Nothing is left to do.
    _, again = await consolidate(settings, wish, show, execute=True)
    assert again is None


async def test_a_refused_path_and_a_mistake_in_the_concepts_file_store_nothing(
    tmp_path: Path,
) -> None:
    notes = _notes(tmp_path / "notes", "a.md")
    settings = _settings(tmp_path, sources=(notes,))
    with pytest.raises(Problem, match="names nothing in a configured folder"):
        await ingest_once(settings, [notes / "none.md"], lambda **_: None)
    (tmp_path / "wrong.toml").write_text("[[concept]\n", encoding="utf-8")
    wrong = settings.model_copy(update={"concepts_file": tmp_path / "wrong.toml"})
    with pytest.raises(InvalidRequest):
        await ingest_once(wrong, [], lambda **_: None)
    assert await _uris(settings) == []


@asynccontextmanager
async def _holding(settings: Settings) -> AsyncIterator[str]:
    """Hold the store as another process would: as a service that listens elsewhere, at this URL."""
    service = running_service(
        data_dir=settings.data_dir, embedding_url=settings.embedding_url, wait=False
    )
    running = await asyncio.to_thread(service.__enter__)
    try:
        yield running.url
    finally:
        await asyncio.to_thread(service.__exit__, None, None, None)


async def test_a_store_that_is_held_leads_to_the_service_that_is_asked(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    async with connect(settings) as memory:
        await memory.store_memory("mine")
    assert await _count(settings) == (True, 1)
    async with _holding(settings):
        with pytest.raises(StoreInUse, match="no service answers on"):
            await _count(settings)
    assert await _count(settings) == (True, 1)


async def test_a_service_that_holds_another_store_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = _settings(tmp_path)
    assert await _count(settings) == (True, 0)
    assert "holds another store" not in caplog.text
    async with _holding(settings.model_copy(update={"data_dir": tmp_path / "its"})) as url:
        port = int(url.rpartition(":")[2])
        assert await _count(settings.model_copy(update={"port": port})) == (True, 0)
        told = f"a service answers on 127.0.0.1:{port}, and it holds another store than"
        assert f"{told} {settings.data_dir / 'store'}" in caplog.text
        caplog.clear()
        # What answers something else is no service of ours.
        assert await _count(settings.model_copy(update={"port": 0})) == (True, 0)
        assert "holds another store" not in caplog.text


@pytest.mark.parametrize(
    ("told", "seconds_a_byte"),
    [
        (b'{"status": "alive"}' + b" " * 10_000_000, 0.0),
        (b"[" * 200_000, 0.0),
        (b"\xff{", 0.0),
        (b'"alive"', 0.0),
        (b'{"status": "alive"}', 0.2),
    ],
    ids=["long", "deep", "no text", "another", "dripping"],
)
async def test_what_answers_something_else_or_slowly_is_no_service_of_ours(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, told: bytes, seconds_a_byte: float
) -> None:
    with stranger(200, told, seconds_a_byte) as url:
        settings = _settings(tmp_path, port=int(url.rpartition(":")[2]))
        assert await _count(settings) == (True, 0)
    assert "holds another store" not in caplog.text


async def test_what_answers_as_a_service_does_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with stranger(200, b'{"status": "alive"}') as url:
        settings = _settings(tmp_path, port=int(url.rpartition(":")[2]))
        assert await _count(settings) == (True, 0)
    assert "holds another store" in caplog.text
