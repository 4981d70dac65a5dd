"""Durable jobs: what was asked for is done, even if the process dies in between."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from uuid import uuid4

from service.access.caller import caller
from service.access.errors import Forbidden, TooManyRequests
from service.errors import (
    InvalidRequest,
    JobNotFound,
    QueryFailed,
    ServiceError,
    Unavailable,
)
from service.jobs.claims import Claims
from service.jobs.outcomes import Counts, finish, interruption, resolve
from service.store.database import Database, record
from service.store.keyring import Keyring
from service.store.queries import load_query

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
# So often a job is tried that waits for another service's of its kind and agent.
_TURN_SECONDS: Final = 0.5
# Whoever has as many jobs as may be is asked to come again after so long.
_REFUSED_SECONDS: Final = 5.0
# To look for jobs that nobody needs any more reads all that ended: after each job it would hold up
# whoever asks the store.
_FORGET_SECONDS: Final = 3600.0
# Not ended yet; one left running by a crash runs again.
_OPEN: Final = frozenset({"queued", "running"})


@dataclass(slots=True)
class Job:
    """One wish; `request` holds its agent and all that its work must know.

    `counts` tell how far it has come, in the words of its kind; `key` is the id of the key that it
    was asked for with.
    """

    id: str
    kind: str
    state: str
    request: Mapping[str, Any]
    counts: Mapping[str, Any]
    detail: str | None = None
    key: str | None = None


# Does a job and returns its counts; it tells on the way, as often as it likes, how far it is. Of a
# job that was interrupted it is called again: it must find out itself what is done already.
Work = Callable[[Job, Callable[[Counts], None]], Awaitable[Counts]]


@dataclass(slots=True)
class JobRunner:
    """Runs the stored jobs, each by its kind's work; those that a crash interrupted run again."""

    db: Database
    keyring: Keyring
    work: Mapping[str, Work]
    max_jobs: int | None = None
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    # No job begins while a wish is compared with those that wait.
    _beginning: asyncio.Lock = field(default_factory=asyncio.Lock)
    _claims: Claims = field(init=False)
    _finished: dict[str, asyncio.Future[Counts]] = field(default_factory=dict)
    _forgotten_at: float = float("-inf")

    def __post_init__(self) -> None:
        self._claims = Claims(self.db)

    async def submit(self, kind: str, request: Mapping[str, Any]) -> str:
        """Store what is to be done and return its job's id; an equal one that waits is shared.

        Raises TooManyRequests where as many wait or run as may, in all or of the caller's key.
        """
        async with self._beginning:
            waiting = await self._waiting()
            for job in waiting:
                told = (job.state, job.kind, dict(job.request), job.key)
                is_here = self._claims.is_alone or job.id in self._claims.own
                if is_here and told == ("queued", kind, request, caller().key):
                    self._claims.own.add(job.id)
                    self._wake.set()
                    return job.id
            self._refuse_more(waiting)
            key = uuid4().hex
            self._claims.own.add(key)
            await self.db.run(
                CREATE_JOB, id=record("job", key), kind=kind, request=request, key=caller().key
            )
        self._wake.set()
        return key

    def _refuse_more(self, waiting: Sequence[Job]) -> None:
        own, most = caller().key, caller().quota.max_jobs
        mine = sum(job.key == own for job in waiting) if own else 0
        if most is not None and mine >= most:
            msg = f"{mine} of the {most} jobs that this key may have at once wait or run."
        elif self.max_jobs is not None and len(waiting) >= self.max_jobs:
            msg = f"{len(waiting)} of at most {self.max_jobs} jobs wait or run (MEMORY_MAX_JOBS)."
        else:
            return
        raise TooManyRequests(f"{msg} Ask again when one has ended.", _REFUSED_SECONDS)

    async def run_and_wait(self, kind: str, request: Mapping[str, Any]) -> Counts:
        """Submit and wait for the counts; the work's failure is raised here."""
        key = await self.submit(kind, request)
        future = self._finished.setdefault(key, asyncio.get_running_loop().create_future())
        job = await self.read(key)
        if job.state == "done":
            # It ended before anyone waited for it.
            resolve(self._finished.pop(key, future), job.counts)
        elif job.state == "failed":
            resolve(self._finished.pop(key, future), InvalidRequest(job.detail or ""))
        return await asyncio.shield(future)

    async def run(self, *, inherits: bool = True) -> None:
        """Run jobs for ever: first those found waiting, then each as it comes.

        An agent's of one kind one after the other, all others side by side. Without `inherits`
        those that an earlier process left stay with the next service.
        """
        running: dict[tuple[str, str], asyncio.Task[None]] = {}
        try:
            while True:
                try:
                    await self._forget()
                    await self._claims.keep()
                    for job in await self._waiting():
                        is_mine = job.id in self._claims.own
                        is_mine = is_mine or (inherits and await self._claims.take(job.id))
                        if is_mine and _line_of(job) not in running:
                            running[_line_of(job)] = asyncio.create_task(self._run_patiently(job))
                            over = partial(self._over, running, _line_of(job))
                            running[_line_of(job)].add_done_callback(over)
                    await self._claims.wait(self._wake)
                    self._wake.clear()
                except Unavailable as error:
                    log.warning("jobs wait: %s", error.logged)
                    await asyncio.sleep(_REST_SECONDS)
        finally:
            for task in running.values():
                task.cancel()
            await asyncio.gather(*running.values(), return_exceptions=True)
            await self._claims.give_up()

    async def _forget(self) -> None:
        if time.monotonic() - self._forgotten_at >= _FORGET_SECONDS:
            await self.db.run(FORGET_JOBS)
            self._forgotten_at = time.monotonic()

    async def _run_patiently(self, job: Job) -> None:
        try:
            await self._run(job)
        except Unavailable as error:
            log.warning("a %s of agent %s waits: %s", *_line_of(job), error.logged)
            await asyncio.sleep(_REST_SECONDS)

    def _over(
        self,
        running: dict[tuple[str, str], asyncio.Task[None]],
        line: tuple[str, str],
        task: asyncio.Task[None],
    ) -> None:
        """Let the line's next job begin."""
        del running[line]
        self._wake.set()
        if not task.cancelled() and (defect := task.exception()):
            log.error("a %s of agent %s failed", *line, exc_info=defect)

    async def read(self, key: str, kind: str | None = None) -> Job:
        """Return a job, of this kind if one is given; raises JobNotFound.

        A job of an agent that is not the caller's is as unknown as none.
        """
        job = await self._stored(key, kind)
        if not caller().covers((), (_agent_of(job),)):
            raise JobNotFound(f"There is no {kind or 'job'} with id {key!r}.")
        return job

    async def _stored(self, key: str, kind: str | None = None) -> Job:
        row = await self.db.run(READ_JOB, id=record("job", key))
        if row is None or kind not in {None, row["kind"]}:
            raise JobNotFound(f"There is no {kind or 'job'} with id {key!r}.")
        return _job(row)

    async def _waiting(self) -> list[Job]:
        return [_job(row) for row in await self.db.run(WAITING_JOBS)]

    async def _run(self, job: Job) -> None:
        """Run one job to its end; a database that is away, or a stop, leaves it to run again."""
        if not await self._begin(job):
            return
        # Of a defect, too, the job is over: run again, it would fail again and hold up the others.
        outcome: Counts | ServiceError = QueryFailed("The service failed; its log says why.")
        is_over = True
        try:
            self._refuse_ended_key(job)
            outcome = await self._work(job)
        except (Unavailable, asyncio.CancelledError) as error:
            log.warning("job %s was interrupted; it runs again", job.id)
            outcome, is_over = interruption(error), False
            raise
        except ServiceError as error:
            outcome = error
        finally:
            if future := self._finished.pop(job.id, None):
                resolve(future, outcome)
            if is_over and isinstance(outcome, ServiceError):
                # What was done before it failed stays told.
                await self._update(job, "failed", outcome.detail)
            if is_over:
                self._claims.own.discard(job.id)

    async def _begin(self, job: Job) -> bool:
        """Say that a job runs: not one that ended since it was listed, none beside another's."""
        async with self._beginning:
            if (await self._stored(job.id)).state not in _OPEN:
                return False
            if await self._claims.begin(job.id, _line_of(job)):
                await self._update(job, "running")
                return True
        await asyncio.sleep(_TURN_SECONDS)
        return False

    def _refuse_ended_key(self, job: Job) -> None:
        if job.key and not self.keyring.is_good(job.key, ("write",), _agent_of(job)):
            raise Forbidden("The key that this was asked for with is no longer good for it.")

    async def _work(self, job: Job) -> Counts:
        reports: list[asyncio.Future[None]] = []
        last = 0.0

        def report(counts: Counts) -> None:
            nonlocal last
            job.counts, now = counts, time.monotonic()
            if now - last >= _PROGRESS_SECONDS:
                last = now
                reports.append(asyncio.ensure_future(self._update(job, "running")))

        try:
            job.counts = await self.work[job.kind](job, report)
        finally:
            # A report that fails costs a number on the way; the end is told below.
            await asyncio.gather(*reports, return_exceptions=True)
        await finish(asyncio.ensure_future(self._update(job, "done")))
        return job.counts

    async def _update(self, job: Job, state: str, detail: str | None = None) -> None:
        key, counts = record("job", job.id), job.counts
        await self.db.run(UPDATE_JOB, id=key, state=state, counts=counts, detail=detail)


def _line_of(job: Job) -> tuple[str, str]:
    return job.kind, _agent_of(job)


def _agent_of(job: Job) -> str:
    return str(job.request.get("agent"))


def _job(row: Mapping[str, Any]) -> Job:
    return Job(
        row["id"], row["kind"], row["state"], row["request"], row["counts"], row.get("detail"),
        row.get("key"),
    )  # fmt: skip
