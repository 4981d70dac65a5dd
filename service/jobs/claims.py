"""Whose a job is: of services that share a database, the one that keeps saying that it is there."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from service.errors import ServiceError
from service.store.database import Database, record
from service.store.queries import load_query

TAKE_JOB: Final = load_query(__package__, "take_job")
BEGIN_JOB: Final = load_query(__package__, "begin_job")
KEEP_JOBS: Final = load_query(__package__, "keep_jobs")
GIVE_UP_JOBS: Final = load_query(__package__, "give_up_jobs")

# A quarter of the minute after which another service takes a job over.
# One that was killed is waited for so long: no name of a host, a process or a data folder proves
# that it is gone, as containers and copied folders share them.
_KEPT_SECONDS: Final = 15.0
# The database may be away when the service ends.
_GIVE_UP_SECONDS: Final = 2.0


@dataclass(slots=True)
class Claims:
    """The jobs that this process does: asked for here, or left by one that has ended.

    Done by two services, a job reads two disks, and one of them tells that it has failed.
    """

    db: Database
    own: set[str] = field(default_factory=set)

    @property
    def is_alone(self) -> bool:
        """Whether no other process can have a job: an embedded store has one at a time."""
        return self.db.address.folder is not None

    async def take(self, key: str) -> bool:
        """Return whether a job is this process's, or becomes so now."""
        if key not in self.own:
            if not (self.is_alone or await self.db.run(TAKE_JOB, id=record("job", key))):
                return False
            self.own.add(key)
        return True

    async def begin(self, key: str, line: tuple[str, str]) -> bool:
        """Say that a job runs, unless one of its line, its kind and agent, runs elsewhere.

        Two scans of one agent would each find that a section comes which the other one let go.
        """
        job, own = record("job", key), record("job_line", list(line))
        return self.is_alone or bool(await self.db.run(BEGIN_JOB, id=job, line=own))

    async def keep(self) -> None:
        """Tell other services that whoever does these jobs is there."""
        if self.own and not self.is_alone:
            await self.db.run(KEEP_JOBS, ids=[record("job", key) for key in self.own])

    async def give_up(self) -> None:
        """Leave the jobs that are not done to other services, as this one ends."""
        if self.own and not self.is_alone:
            with suppress(ServiceError, TimeoutError):
                async with asyncio.timeout(_GIVE_UP_SECONDS):
                    await self.db.run(GIVE_UP_JOBS, ids=[record("job", key) for key in self.own])

    async def wait(self, wake: asyncio.Event) -> None:
        """Wait for something to do, or until it is time to keep the jobs."""
        with suppress(TimeoutError):
            async with asyncio.timeout(None if self.is_alone else _KEPT_SECONDS):
                await wake.wait()
