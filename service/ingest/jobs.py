"""Scans as jobs: one that was asked for is done, even if the process dies in between."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from service.access.caller import caller
from service.ingest.counts import Failure, ScanCounts
from service.ingest.scan import Scanner, scan_request
from service.ingest.sources import Sources
from service.jobs.jobs import Job, JobRunner, Work
from service.jobs.outcomes import Counts
from service.settings import Settings
from service.writing.pipeline import Pipeline

SCAN: Final = "scan"


@dataclass(frozen=True, slots=True)
class Scans:
    """Where scans are asked for."""

    runner: JobRunner
    settings: Settings

    async def submit(self, agent: str | None, paths: tuple[str, ...] = ()) -> str:
        """Store a scan to be done and return its job's id; an equal one that waits is shared.

        Raises what `scan_request` raises, and Forbidden for folders of an agent that is not the
        caller's, before anything is stored.
        """
        return await self.runner.submit(SCAN, self._wish(agent, paths))

    async def run_and_wait(self, agent: str | None, paths: tuple[str, ...] = ()) -> ScanCounts:
        """Submit a scan and wait for its counts; its failure is raised here."""
        return counts_from(await self.runner.run_and_wait(SCAN, self._wish(agent, paths)))

    async def read(self, key: str) -> Job:
        """Return a scan's job; raises JobNotFound."""
        return await self.runner.read(key, SCAN)

    def _wish(self, agent: str | None, paths: tuple[str, ...]) -> dict[str, Any]:
        request = scan_request(self.settings, agent, paths)
        caller().check_agent(request.agent)
        return {"agent": request.agent, "paths": [str(path) for path in request.paths]}


def scanning(pipeline: Pipeline, settings: Settings, sources: Sources) -> Work:
    """Return the work of a scan."""
    scanner = Scanner(pipeline, settings)

    async def work(job: Job, report: Callable[[Counts], None]) -> Counts:
        request = scan_request(settings, job.request["agent"], job.request["paths"])
        await sources.look()
        # Counted on while it is written: what is told is as it was then.
        counts = await scanner.scan(request, lambda now: report(asdict(now)))
        return asdict(counts)

    return work


def counts_from(stored: Mapping[str, Any]) -> ScanCounts:
    """Read a job's counts back."""
    values = {n: stored[n] for n in ScanCounts.__dataclass_fields__ if n in stored}
    failed = [Failure(**failure) for failure in values.pop("failed", [])]
    return ScanCounts(**values, failed=failed)
