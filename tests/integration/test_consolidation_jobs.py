"""Consolidations as jobs: stopped anywhere, they go on and do nothing twice."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from service.consolidate import grouping
from service.consolidate.executed import read_run
from service.consolidate.jobs import CONSOLIDATION, Consolidations, Wish, consolidating
from service.consolidate.shapes import ConsolidationStatus
from service.consolidate.undoing import undo_run
from service.jobs.jobs import JobRunner
from service.memories.screening import Pushed
from service.memories.storing import remove, store
from service.store.keyring import Keyring
from service.store.queries import Query
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio
WISH = Wish("main", 0)
LOGS = 200


@pytest.fixture(autouse=True)
def _small_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 256 memories each there would have to be thousands to be stopped among."""
    monkeypatch.setattr(grouping, "_TRANSACTION_MEMORIES", 30)


@asynccontextmanager
async def running(world: OpenStore) -> AsyncIterator[Consolidations]:
    """Run the jobs of a store, as a process does for as long as it lives."""
    jobs = Consolidations(
        JobRunner(world.db, Keyring(world.db), {CONSOLIDATION: consolidating(world.pipeline)})
    )
    task = asyncio.create_task(jobs.runner.run())
    try:
        yield jobs
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def over(jobs: Consolidations, key: str) -> ConsolidationStatus:
    for _ in range(4000):
        status = await jobs.read(key)
        if status.state in {"done", "failed"}:
            return status
        await asyncio.sleep(0.01)
    raise TimeoutError(key)


async def push_logs(world: OpenStore) -> list[str]:
    texts = [f"Number {n}: the Osprey-{n % 40} saw {n * 7} birds." for n in range(LOGS)]
    tags = (("harbour cameras",), ("harbour camera",))
    ids, _ = await store(
        world.pipeline,
        [
            Pushed(one, kind="daily_log", occurred_at=START, source_ref=one, tags=tags[n % 2])
            for n, one in enumerate(texts)
        ],
    )
    return ids


async def summaries_of(world: OpenStore) -> Any:
    return await world.ask("SELECT content, id FROM memory WHERE kind = 'summary' ORDER BY id")


async def test_a_job_that_is_stopped_again_and_again_does_nothing_twice(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    async with open_store(tmp_path / "whole") as world, running(world) as jobs:
        await push_logs(world)
        whole = await over(jobs, await jobs.submit(WISH))
        expected = await summaries_of(world)
    assert whole.state == "done"
    (tmp_path / "stopped").mkdir()
    async with open_store(tmp_path / "stopped") as world:
        keys = await push_logs(world)
        embed, calls = world.vectors.embed_each, 0
        key = ""

        async def until_the_third(texts: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == 3:
                hangs.set()
                await asyncio.Event().wait()
            return await embed(texts)

        world.vectors.embed_each = until_the_third  # type: ignore[assignment, method-assign]
        archived = [0]
        # Each life of the process does some groups and is stopped in the middle of the next.
        while archived[-1] < LOGS:
            calls, hangs = 0, asyncio.Event()
            async with running(world) as jobs:
                key = key or await jobs.submit(WISH)
                waiting = [
                    asyncio.create_task(hangs.wait()), asyncio.create_task(over(jobs, key))
                ]  # fmt: skip
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for one in waiting:
                    one.cancel()
            assert await world.complaints() == []
            rows: Any = await world.ask("SELECT VALUE id FROM memory WHERE archived_at IS NOT NONE")
            archived.append(len(rows))
        assert len(archived) > 3
        assert archived == sorted(archived)
        async with running(world) as jobs:
            told = await over(jobs, key)
        assert (told.state, told.counts, told.done) == ("done", whole.counts, whole.done)
        assert (told.plan, told.run) == (whole.plan, key)
        assert await summaries_of(world) == expected
        undone = await undo_run(world.pipeline, "main", key, pin=False)
        assert sorted(undone.restored) == sorted(keys)
        assert undone.parted == ["harbour_cameras"]
        assert await world.complaints() == []


async def test_a_memory_that_changes_on_the_way_fails_the_job_and_what_is_done_stays(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as world, running(world) as jobs:
        await push_logs(world)
        embed, calls = world.vectors.embed_each, 0

        async def changing(texts: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == 3:
                text = "UPDATE memory SET pinned = true WHERE archived_at IS NONE"
                await world.db.run(Query("own", text, frozenset(), writes=True))
            return await embed(texts)

        world.vectors.embed_each = changing  # type: ignore[assignment, method-assign]
        told = await over(jobs, await jobs.submit(WISH))
        assert told.state == "failed"
        assert told.detail
        made: Any = await summaries_of(world)
        assert 0 < told.counts.groups == told.done == len(made) < told.groups
        undone = await undo_run(world.pipeline, "main", told.run or "", pin=False)
        assert len(undone.removed) == len(made)


async def test_a_job_that_cannot_go_on_tells_what_it_did_before_it_was_stopped(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as world:
        await push_logs(world)
        embed, calls, hangs = world.vectors.embed_each, 0, asyncio.Event()

        async def until_the_fourth(texts: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == 4:
                hangs.set()
                await asyncio.Event().wait()
            return await embed(texts)

        world.vectors.embed_each = until_the_fourth  # type: ignore[assignment, method-assign]
        async with running(world) as jobs:
            key = await jobs.submit(WISH)
            await hangs.wait()
        made: Any = await summaries_of(world)
        left: Any = await world.ask("SELECT VALUE id FROM memory WHERE archived_at IS NONE "
                                    "AND kind = 'daily_log'")  # fmt: skip
        await remove(world.pipeline, "main", left[0])
        async with running(world) as jobs:
            told = await over(jobs, key)
        assert (told.state, told.run, told.done) == ("failed", key, len(made))
        assert "nothing more was done" in (told.detail or "")
        assert 0 < told.counts.groups == len(made) < told.groups
        page = await read_run(world.db, "main", told.next_cursor or "", 1000)
        assert (len(page.groups), page.counts) == (len(made), told.counts)


async def test_equal_wishes_that_wait_are_one_job_and_none_runs_beside_another(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as world:
        await push_logs(world)
        idle = Consolidations(JobRunner(world.db, Keyring(world.db), {}))
        assert await idle.submit(WISH) == await idle.submit(WISH)
        at_once, most, work = 0, 0, consolidating(world.pipeline)

        async def counted(job: Any, report: Any) -> Mapping[str, Any]:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            try:
                return await work(job, report)
            finally:
                at_once -= 1

        jobs = Consolidations(JobRunner(world.db, Keyring(world.db), {CONSOLIDATION: counted}))
        keys = [await jobs.submit(Wish("main", days)) for days in (0, 1, 2)]
        task = asyncio.create_task(jobs.runner.run())
        told = [await over(jobs, key) for key in keys]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert [one.state for one in told] == ["done"] * 3
        assert [one.run is not None for one in told] == [True, False, False]
        assert most == 1


async def test_a_run_that_is_undone_on_its_way_is_undone_whole(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world, running(world) as jobs:
        keys = await push_logs(world)
        embed, calls = world.vectors.embed_each, 0
        hangs, goes_on = asyncio.Event(), asyncio.Event()

        async def waiting_at_the_third(texts: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == 3:
                hangs.set()
                await goes_on.wait()
            return await embed(texts)

        world.vectors.embed_each = waiting_at_the_third  # type: ignore[assignment, method-assign]
        key = await jobs.submit(WISH)
        await hangs.wait()
        undoing = asyncio.create_task(undo_run(world.pipeline, "main", key, pin=False))
        await asyncio.sleep(0.2)
        goes_on.set()
        undone = await undoing
        assert (await over(jobs, key)).state == "done"
        assert sorted(undone.restored) == sorted(keys)
        assert await summaries_of(world) == []
