"""Durable jobs: shared while they wait, told when they fail, run again after a crash."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.access.caller import Caller, called_by
from service.access.errors import TooManyRequests
from service.access.quota import Quota
from service.errors import (
    AgentNotReadable,
    JobNotFound,
    NoSources,
    PathOutsideSources,
    ServiceError,
    StoreUnavailable,
)
from service.ingest.jobs import SCAN, Scans
from service.jobs import outcomes
from service.jobs.jobs import CREATE_JOB, FORGET_JOBS, UPDATE_JOB, Job
from service.settings import Settings
from service.store.database import record
from service.store.queries import Query
from tests.stores.open_store import OpenStore, open_store
from tests.stores.scans import scans_of

pytestmark = pytest.mark.anyio


@dataclass
class Running:
    """A runner over a folder of notes; `begin` starts its loop."""

    opened: OpenStore
    scans: Scans
    notes: Path
    task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        self.task = asyncio.create_task(self.scans.runner.run())

    async def end(self) -> None:
        if self.task is not None:
            self.task.cancel()
            with suppress(asyncio.CancelledError):
                await self.task

    async def is_at(self, key: str, state: str) -> bool:
        return (await self.scans.read(key)).state == state

    async def finished(self, key: str) -> Job:
        for _ in range(400):
            job = await self.scans.read(key)
            if job.state in {"done", "failed"}:
                return job
            await asyncio.sleep(0.02)
        raise TimeoutError(key)


async def until(holds: Callable[[], Awaitable[object]]) -> None:
    """Wait until a condition holds."""
    for _ in range(2000):
        if await holds():
            return
        await asyncio.sleep(0.005)
    raise TimeoutError


@asynccontextmanager
async def running(folder: Path, files: int = 3) -> AsyncIterator[Running]:
    notes = folder / "notes"
    notes.mkdir(exist_ok=True)
    for number in range(files):
        text = f"# Note {number}\n\n## Alpha\n\nFirst.\n\n## Beta\n\nSecond {number}.\n"
        (notes / f"note-{number:03}.md").write_text(text, encoding="utf-8")
    async with open_store(folder) as opened:
        settings = Settings(_env_file=None, sources=(notes,), concepts_file=folder / "c.toml")
        (folder / "c.toml").write_text('[[concept]]\nname = "Alpha"\n', encoding="utf-8")
        runner = Running(opened, scans_of(opened.pipeline, settings), notes)
        try:
            yield runner
        finally:
            await runner.end()


async def jobs(opened: OpenStore) -> int:
    rows = await opened.ask("SELECT VALUE id FROM job")
    assert isinstance(rows, list)
    return len(rows)


async def test_a_job_tells_how_far_it_is_and_what_it_did(tmp_path: Path) -> None:
    async with running(tmp_path, files=100) as run:
        key = await run.scans.submit(None)
        assert (await run.scans.read(key)).state == "queued"
        run.begin()
        seen = []
        while (job := await run.scans.read(key)).state != "done":
            seen.append((job.state, job.counts.get("done", 0)))
            await asyncio.sleep(0.02)
        states = [state for state, _ in seen]
        assert states == sorted(states)
        assert "running" in states
        assert [done for _, done in seen] == sorted(done for _, done in seen)
        counted = {name: job.counts[name] for name in ("files", "done", "created", "embedded")}
        assert counted == {"files": 100, "done": 100, "created": 200, "embedded": 200}
        assert await run.opened.complaints() == []


async def test_equal_wishes_that_wait_are_one_job(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        wishes = [run.scans.submit("main") for _ in range(6)]
        narrow = await run.scans.submit("main", ("note-001.md",))
        keys = set(await asyncio.gather(*wishes))
        assert len(keys) == 1
        assert len({*keys, narrow}) == await jobs(run.opened) == 2
        run.begin()
        counts = [(await run.finished(key)).counts["files"] for key in (*keys, narrow)]
        assert counts == [3, 1]


async def test_old_jobs_are_looked_for_once_an_hour_and_not_after_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as run:
        looked, ask = 0, run.opened.db.run

        async def counting(query: Query, **params: Any) -> Any:
            nonlocal looked
            looked += query is FORGET_JOBS
            return await ask(query, **params)

        monkeypatch.setattr(run.opened.db, "run", counting)
        run.begin()
        for _ in range(3):
            await run.finished(await run.scans.submit("main"))
        assert looked == 1


async def test_only_jobs_that_ended_a_week_ago_are_forgotten(tmp_path: Path) -> None:
    """What nobody did yet is kept however long the service was away."""
    async with running(tmp_path) as run:
        for state in ("queued", "running", "done", "failed"):
            for days in (6, 8):
                name = record("job", f"{state} {days}")
                await run.opened.db.run(CREATE_JOB, id=name, kind=SCAN, request={}, key=None)
                told = {"state": state, "updated_at": datetime.now(UTC) - timedelta(days=days)}
                await run.opened.ask("UPDATE $id MERGE $told RETURN NONE", id=name, told=told)
        await run.opened.db.run(FORGET_JOBS)
        left = await run.opened.ask("SELECT VALUE record::id(id) FROM job ORDER BY id")
        assert left == ["done 6", "failed 6", "queued 6", "queued 8", "running 6", "running 8"]


async def test_the_folders_are_scanned_for_their_owner_alone(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        with pytest.raises(AgentNotReadable, match=r"'main' \(MEMORY_AGENT\), not to 'bob'"):
            await run.scans.submit("bob")
        assert await jobs(run.opened) == 0
        # What a service of before had taken on ends here as well.
        await run.opened.db.run(
            CREATE_JOB, id=record("job", "old"), kind=SCAN,
            request={"agent": "bob", "paths": []}, key=None,
        )  # fmt: skip
        run.begin()
        job = await run.finished("old")
        assert (job.state, "MEMORY_AGENT" in (job.detail or "")) == ("failed", True)
        assert await run.opened.ids("bob") == []


async def test_work_that_waits_ends_with_its_key(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        keyring = run.scans.runner.keyring
        jobs_of = {}
        for name in ("revoked", "good"):
            key, _ = await keyring.create(name, ["write"], ["main"])
            with called_by(key.caller()):
                jobs_of[name] = await run.scans.submit(None)
            if name == "revoked":
                await keyring.revoke(key.id)
        # Of two keys there are two jobs, although they ask for the same.
        assert len(set(jobs_of.values())) == 2
        run.begin()
        ended = await run.finished(jobs_of["revoked"])
        assert (ended.state, "no longer good" in (ended.detail or "")) == ("failed", True)
        assert (await run.finished(jobs_of["good"])).state == "done"


async def test_a_job_of_another_agent_is_as_unknown_as_none(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        job = await run.scans.submit(None)
        with called_by(Caller("k", "bob's", agents=("bob",))), pytest.raises(JobNotFound):
            await run.scans.read(job)


async def test_a_wish_during_a_run_is_a_run_of_its_own(tmp_path: Path) -> None:
    async with running(tmp_path, files=60) as run:
        first = await run.scans.submit(None)
        run.begin()
        await until(lambda: run.is_at(first, "running"))
        (run.notes / "late.md").write_text("## Latecomer\n\nWords.\n", encoding="utf-8")
        second = await run.scans.submit(None)
        assert second != first
        await run.finished(second)
        assert await run.opened.memories_of("latecomer")


async def test_all_who_wait_get_the_same_counts(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        waiting = [asyncio.create_task(run.scans.run_and_wait(None)) for _ in range(4)]
        await asyncio.sleep(0.1)
        run.begin()
        counts = await asyncio.gather(*waiting)
        assert {count.created for count in counts} == {6}
        assert await jobs(run.opened) == 1


async def test_whoever_asks_after_the_end_is_answered_too(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        run.begin()
        for _ in range(20):
            counts = await asyncio.wait_for(run.scans.run_and_wait(None), 5)
            assert counts.files == 3


async def test_a_folder_that_vanished_is_told_and_removes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        run.begin()
        await run.scans.run_and_wait(None)
        run.notes.rename(tmp_path / "away")
        counts = await run.scans.run_and_wait(None)
        assert [failure.detail for failure in counts.failed] == ["the folder does not exist."]
        assert (counts.files, counts.removed) == (0, 0)
        assert len(await run.opened.ids()) == 6
        (tmp_path / "away").rename(run.notes)
        (run.notes / "note-000.md").unlink()
        assert (await run.scans.run_and_wait(None)).removed == 2
        assert await run.opened.complaints() == []


async def test_a_place_that_vanished_before_its_turn_fails_the_job(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        key = await run.scans.submit(None, ("note-001.md",))
        waiting = asyncio.create_task(run.scans.run_and_wait(None, ("note-001.md",)))
        await asyncio.sleep(0.05)
        (run.notes / "note-001.md").unlink()
        run.begin()
        with pytest.raises(PathOutsideSources):
            await waiting
        job = await run.finished(key)
        assert job.state == "failed"
        assert "note-001.md" in str(job.detail)
        assert (await run.scans.run_and_wait(None)).files == 2


async def test_a_mistake_in_the_concepts_file_is_told_and_the_notes_are_read(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as run:
        (tmp_path / "c.toml").write_text("[[concept]\n", encoding="utf-8")
        run.begin()
        counts = await run.scans.run_and_wait(None)
        assert counts.created == 6
        assert [Path(failure.source).name for failure in counts.failed] == ["c.toml"]
        (tmp_path / "c.toml").unlink()
        assert "cannot be read" in (await run.scans.run_and_wait(None)).failed[0].detail


async def test_a_defect_fails_its_job_and_no_other(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        broken = "0" * 32
        await run.opened.db.run(
            CREATE_JOB, id=record("job", broken), kind=SCAN, request={"paths": []}, key=None
        )
        run.begin()
        job = await run.finished(broken)
        assert (job.state, job.detail) == ("failed", "The service failed; its log says why.")
        assert (await run.scans.run_and_wait(None)).files == 3


async def test_a_job_that_a_crash_left_running_runs_again(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        key = await run.scans.submit(None)
        await run.opened.db.run(
            UPDATE_JOB, id=record("job", key), state="running", counts={}, detail=None
        )
        run.begin()
        assert (await run.finished(key)).counts["created"] == 6


async def test_a_stop_leaves_the_job_to_run_again(tmp_path: Path) -> None:
    async with running(tmp_path, files=100) as run:
        waiting = asyncio.create_task(run.scans.run_and_wait(None))
        await asyncio.sleep(0.05)
        run.begin()
        await until(run.opened.ids)
        await run.end()
        with pytest.raises(ServiceError, match="stops"):
            await waiting
        assert len(await run.opened.ids()) < 200
        assert await run.opened.complaints() == []
        run.begin()
        assert (await run.scans.run_and_wait(None)).unchanged == 200


async def test_a_stop_right_after_the_end_leaves_nothing_to_run_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as run:
        update, is_stored = run.opened.db.run, asyncio.Event()

        async def answered_late(query: Query, *args: Any, **params: Any) -> Any:
            answer = await update(query, *args, **params)
            if query is UPDATE_JOB and params["state"] == "done":
                is_stored.set()
                await asyncio.sleep(0.1)
            return answer

        monkeypatch.setattr(run.opened.db, "run", answered_late)
        key = await run.scans.submit(None)
        run.begin()
        await is_stored.wait()
        await run.end()
        assert await run.is_at(key, "done")
    assert "runs again" not in caplog.text


@pytest.mark.parametrize("fails", [False, True])
async def test_a_stop_waits_no_longer_for_a_store_that_is_away(
    monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    async def told() -> None:
        await asyncio.sleep(0.01 if fails else 60)
        raise StoreUnavailable("It is away.")

    monkeypatch.setattr(outcomes, "_PATIENCE_SECONDS", 0.05)
    update = asyncio.ensure_future(told())
    ending = asyncio.create_task(outcomes.finish(update))
    await asyncio.sleep(0)
    ending.cancel()
    done, _ = await asyncio.wait([ending], timeout=5)
    assert done
    assert ending.cancelled()
    await asyncio.gather(update, return_exceptions=True)
    assert update.done()


async def test_wishes_that_cannot_be_are_refused_at_once(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        for path in ("../c.toml", "none.md", "/etc/passwd"):
            with pytest.raises(PathOutsideSources):
                await run.scans.submit(None, (path,))
        nowhere = scans_of(run.opened.pipeline, Settings(_env_file=None))
        with pytest.raises(NoSources):
            await nowhere.submit(None)
        with pytest.raises(JobNotFound):
            await run.scans.read("nothing")
        assert await jobs(run.opened) == 0


async def test_so_many_jobs_wait_of_a_key_and_in_all(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        await _check_bounds(run)


async def _check_bounds(run: Running) -> None:
    runner = run.scans.runner
    runner.max_jobs = 4
    few = Caller("few", "few", quota=Quota(max_jobs=2))

    async def submit(number: int) -> str:
        paths = [str(run.notes / f"{number}.md")]
        return await runner.submit(SCAN, {"agent": "main", "paths": paths})

    # Another's, which takes none of the key's own room.
    await submit(9)
    with called_by(few):
        first = await submit(0)
        await submit(1)
        with pytest.raises(TooManyRequests, match="2 of the 2 jobs that this key") as refused:
            await submit(2)
        assert refused.value.retry_after_seconds == 5
        # An equal one that waits is no further job.
        assert await submit(0) == first
    await submit(3)
    with pytest.raises(TooManyRequests, match="MEMORY_MAX_JOBS"):
        await submit(4)
    run.begin()
    with called_by(few):
        await run.finished(first)
    await until(lambda: _has_room(submit))


async def _has_room(submit: Callable[[int], Awaitable[str]]) -> bool:
    try:
        await submit(5)
    except TooManyRequests:
        return False
    return True
