"""Durable jobs: a scan that was asked for is done, even if the process dies in between."""

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final
from uuid import uuid4

from service.errors import (
    InvalidRequest,
    JobNotFound,
    QueryFailed,
    ServiceError,
    StoreUnavailable,
    Unavailable,
)
from service.ingest.scan import Failure, ScanCounts, scan, scan_request
from service.settings import Settings
from service.store.database import Database, record
from service.store.queries import load_query
from service.writing.pipeline import Pipeline

log = logging.getLogger(__name__)

CREATE_JOB: Final = load_query(__package__, "create_job")
UPDATE_JOB: Final = load_query(__package__, "update_job")
READ_JOB: Final = load_query(__package__, "read_job")
WAITING_JOBS: Final = load_query(__package__, "waiting_jobs")
FORGET_JOBS: Final = load_query(__package__, "forget_jobs")

# Progress is stored at most this often: each time is a write to the database.
_PROGRESS_SECONDS: Final = 0.5
# The database may be away when a job's turn comes; it is tried again.
_REST_SECONDS: Final = 2.0
# Not ended yet; one left running by a crash runs again.
_OPEN: Final = frozenset({"queued", "running"})


@dataclass(slots=True)
class Job:
    """One scan that was asked for; `request` holds its agent and paths."""

    id: str
    state: str
    request: Mapping[str, Any]
    counts: Mapping[str, Any]
    detail: str | None = None


@dataclass(slots=True)
class JobRunner:
    """Runs the stored jobs; those that a crash interrupted run again at start."""

    db: Database
    pipeline: Pipeline
    settings: Settings
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    # No job begins while a wish is compared with those that wait.
    _beginning: asyncio.Lock = field(default_factory=asyncio.Lock)
    # Asked for in this process and not done yet.
    _submitted: set[str] = field(default_factory=set)
    _finished: dict[str, asyncio.Future[ScanCounts]] = field(default_factory=dict)

    async def submit(self, agent: str | None, paths: tuple[str, ...] = ()) -> str:
        """Store a scan to be done and return its job's id; an equal one that waits is shared.

        Raises what `scan_request` raises, before anything is stored.
        """
        request = scan_request(self.settings, agent, paths)
        wish = {"agent": request.agent, "paths": [str(path) for path in request.paths]}
        async with self._beginning:
            for job in await self._waiting():
                if job.state == "queued" and dict(job.request) == wish:
                    self._submitted.add(job.id)
                    self._wake.set()
                    return job.id
            key = uuid4().hex
            self._submitted.add(key)
            await self.db.run(CREATE_JOB, id=record("job", key), request=wish)
        self._wake.set()
        return key

    async def run_and_wait(self, agent: str | None, paths: tuple[str, ...] = ()) -> ScanCounts:
        """Submit a scan and wait for its counts; its failure is raised here."""
        key = await self.submit(agent, paths)
        future = self._finished.setdefault(key, asyncio.get_running_loop().create_future())
        job = await self.read(key)
        if job.state == "done":
            # It ended before anyone waited for it.
            _resolve(self._finished.pop(key, future), counts_from(job.counts))
        elif job.state == "failed":
            _resolve(self._finished.pop(key, future), InvalidRequest(job.detail or ""))
        return await asyncio.shield(future)

    async def run(self, *, inherits: bool = True) -> None:
        """Run jobs for ever: first those found waiting, then each as it comes.

        An agent's one after the other, those of different agents side by side. Without `inherits`
        those that an earlier process left stay with the next service.
        """
        running: dict[str, asyncio.Task[None]] = {}
        try:
            while True:
                try:
                    await self.db.run(FORGET_JOBS)
                    for job in await self._waiting():
                        agent = _agent_of(job)
                        is_mine = inherits or job.id in self._submitted
                        if is_mine and agent not in running:
                            running[agent] = asyncio.create_task(self._run_patiently(job))
                            running[agent].add_done_callback(partial(self._over, running, agent))
                    await self._wake.wait()
                    self._wake.clear()
                except Unavailable as error:
                    log.warning("jobs wait: %s", error.detail)
                    await asyncio.sleep(_REST_SECONDS)
        finally:
            for task in running.values():
                task.cancel()
            await asyncio.gather(*running.values(), return_exceptions=True)

    async def _run_patiently(self, job: Job) -> None:
        try:
            await self._run(job)
        except Unavailable as error:
            log.warning("jobs of agent %s wait: %s", _agent_of(job), error.detail)
            await asyncio.sleep(_REST_SECONDS)

    def _over(
        self, running: dict[str, asyncio.Task[None]], agent: str, task: asyncio.Task[None]
    ) -> None:
        """Let the agent's next job begin."""
        del running[agent]
        self._wake.set()
        if not task.cancelled() and (defect := task.exception()):
            log.error("a job of agent %s failed", agent, exc_info=defect)

    async def read(self, key: str) -> Job:
        """Return a job; raises JobNotFound."""
        row = await self.db.run(READ_JOB, id=record("job", key))
        if row is None:
            raise JobNotFound(f"There is no job with id {key!r}.")
        return _job(row)

    async def _waiting(self) -> list[Job]:
        return [_job(row) for row in await self.db.run(WAITING_JOBS)]

    async def _run(self, job: Job) -> None:
        """Run one job to its end; a database that is away, or a stop, leaves it to run again."""
        async with self._beginning:
            # It may have ended between the look at the waiting ones and its turn.
            if (await self.read(job.id)).state not in _OPEN:
                return
            await self._update(job.id, "running", ScanCounts())
        # Of a defect, too, the job is over: run again, it would fail again and hold up the others.
        outcome: ScanCounts | ServiceError = QueryFailed("The service failed; its log says why.")
        is_over = True
        try:
            outcome = await self._scan(job)
        except (Unavailable, asyncio.CancelledError) as error:
            log.warning("job %s was interrupted; it runs again", job.id)
            outcome, is_over = _interruption(error), False
            raise
        except ServiceError as error:
            outcome = error
        finally:
            future = self._finished.pop(job.id, None)
            if future is not None:
                _resolve(future, outcome)
            if is_over and isinstance(outcome, ServiceError):
                await self._update(job.id, "failed", ScanCounts(), outcome.detail)
            if is_over:
                self._submitted.discard(job.id)

    async def _scan(self, job: Job) -> ScanCounts:
        reports: list[asyncio.Future[None]] = []
        last = 0.0

        def on_progress(counts: ScanCounts) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _PROGRESS_SECONDS:
                last = now
                reports.append(asyncio.ensure_future(self._update(job.id, "running", counts)))

        try:
            request = scan_request(self.settings, job.request["agent"], job.request["paths"])
            counts = await scan(self.pipeline, self.settings, request, on_progress)
        finally:
            # A report that fails costs a number on the way; the end is told below.
            await asyncio.gather(*reports, return_exceptions=True)
        await self._update(job.id, "done", counts)
        return counts

    async def _update(
        self, key: str, state: str, counts: ScanCounts, detail: str | None = None
    ) -> None:
        await self.db.run(
            UPDATE_JOB, id=record("job", key), state=state, counts=asdict(counts), detail=detail
        )


def _interruption(error: BaseException) -> ServiceError:
    return error if isinstance(error, Unavailable) else StoreUnavailable("The service stops.")


def _resolve(future: "asyncio.Future[ScanCounts]", outcome: ScanCounts | ServiceError) -> None:
    if future.done():
        return
    if isinstance(outcome, ScanCounts):
        future.set_result(outcome)
    else:
        future.set_exception(outcome)
        future.exception()  # whoever asked may have gone: nobody need read it


def counts_from(stored: Mapping[str, Any]) -> ScanCounts:
    """Read a job's counts back."""
    values = {n: stored[n] for n in ScanCounts.__dataclass_fields__ if n in stored}
    failed = [Failure(**failure) for failure in values.pop("failed", [])]
    return ScanCounts(**values, failed=failed)


def _agent_of(job: Job) -> str:
    return str(job.request.get("agent"))


def _job(row: Mapping[str, Any]) -> Job:
    return Job(row["id"], row["state"], row["request"], row["counts"], row.get("detail"))
