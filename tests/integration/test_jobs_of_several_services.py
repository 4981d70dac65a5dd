"""Jobs of services that share one database: each done by one of them, and by another if it ends."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from service.jobs import claims, jobs
from service.jobs.jobs import CREATE_JOB, Job, JobRunner
from service.store.address import StoreAddress
from service.store.database import Database, record
from service.store.keyring import Keyring
from service.store.queries import Query
from tests.servers.surreal_server import Credentials, SurrealServer
from tests.stores.template import SCHEMA

pytestmark = pytest.mark.anyio

KIND = "walk"


class Services:
    """Two services over one server; `done` counts who did each job, until they `may_end`."""

    def __init__(self, dbs: list[Database]) -> None:
        self.db = dbs[0]
        self.done: Counter[str] = Counter()
        self.may_end = asyncio.Event()
        self.running: list[asyncio.Task[None]] = []
        self.runners = [JobRunner(db, Keyring(db), {KIND: self._work}) for db in dbs]

    async def _work(self, job: Job, _: Callable[[Mapping[str, Any]], None]) -> Mapping[str, Any]:
        self.done[job.id] += 1
        await self.may_end.wait()
        return {"walked": 1}

    async def are_done(self, *keys: str) -> None:
        await until(lambda: not {*keys} - {*self.done})


async def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    for _ in range(2000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


@asynccontextmanager
async def two_services(folder: Path) -> AsyncIterator[Services]:
    async with SurrealServer(f"surrealkv://{folder / 'store'}") as server:
        given = Credentials()
        address = StoreAddress(server.url, given.user, given.password)
        dbs = [Database(address) for _ in range(2)]
        for db in dbs:
            await db.open(SCHEMA)
        services = Services(dbs)
        running = services.running = [asyncio.create_task(one.run()) for one in services.runners]
        try:
            yield services
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            for db in dbs:
                await db.close()


async def test_what_one_service_does_no_other_does_beside_it(tmp_path: Path) -> None:
    """It was done twice at once; whoever came last told that it had failed, and no counts."""
    async with two_services(tmp_path) as services:
        here, there = services.runners
        first = await here.submit(KIND, {"agent": "main"})
        await services.are_done(first)
        waiting = await here.submit(KIND, {"agent": "main", "places": 2})
        # An equal wish, asked of the other one: what waits here is not taken away.
        equal = await there.submit(KIND, {"agent": "main", "places": 2})
        other = await there.submit(KIND, {"agent": "other"})
        await services.are_done(other)
        # It waits for what the first one does for the same agent.
        await asyncio.sleep(1.0)
        assert services.done[equal] == 0
        services.may_end.set()
        await services.are_done(first, waiting, equal, other)
    assert set(services.done.values()) == {1}


async def test_of_two_services_that_begin_at_once_one_is_at_an_agents_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_TURN_SECONDS", 0.05)
    async with two_services(tmp_path) as services:
        agents = [f"agent {number}" for number in range(8)]
        wishes = [one.submit(KIND, {"agent": name}) for name in agents for one in services.runners]
        keys = await asyncio.gather(*wishes)
        await until(lambda: len(services.done) >= len(agents))
        await asyncio.sleep(0.5)
        assert len(services.done) == len(agents)
        services.may_end.set()
        await services.are_done(*keys)
    assert set(services.done.values()) == {1}


async def test_what_a_service_left_that_ended_another_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "_KEPT_SECONDS", 0.05)
    async with two_services(tmp_path) as services:
        services.may_end.set()
        for key in ("fresh", "left"):
            name, request = record("job", key), {"agent": key}
            await services.db.run(CREATE_JOB, id=name, kind=KIND, request=request, key=None)
        await services.db.apply("UPDATE job:left SET updated_at = time::now() - 2m")
        await services.are_done("left")
        assert services.done == {"left": 1}
        assert (await services.runners[1].read("fresh")).state == "queued"


async def test_what_a_service_leaves_as_it_ends_another_does_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both the job under way and the one behind it waited for a minute after each restart."""
    monkeypatch.setattr(claims, "_KEPT_SECONDS", 0.05)
    async with two_services(tmp_path) as services:
        here = services.runners[0]
        begun = await here.submit(KIND, {"agent": "main"})
        await services.are_done(begun)
        behind = await here.submit(KIND, {"agent": "main", "places": 2})
        services.running[0].cancel()
        await asyncio.wait(services.running[:1])
        await until(lambda: services.done[begun] == 2)
        services.may_end.set()
        await services.are_done(behind)
    assert services.done == {begun: 2, behind: 1}


async def test_a_service_goes_on_saying_that_it_does_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work of more than a minute would be begun by another one beside it."""
    monkeypatch.setattr(claims, "_KEPT_SECONDS", 0.05)
    async with two_services(tmp_path) as services:
        key = await services.runners[0].submit(KIND, {"agent": "main"})
        await services.are_done(key)
        await services.db.apply("UPDATE job SET updated_at = time::now() - 30s")
        late = "RETURN (SELECT VALUE updated_at FROM ONLY job LIMIT 1) < time::now() - 20s"
        is_late = Query("own", late, frozenset(), writes=False)
        for _ in range(500):
            if not await services.db.run(is_late):
                break
            await asyncio.sleep(0.01)
        else:
            raise TimeoutError
        services.may_end.set()
    assert services.done == {key: 1}
