"""Consolidations as jobs: told on the way, and gone on with where a process died."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from service.consolidate.checking import check_plan
from service.consolidate.consolidating import planned
from service.consolidate.executed import DONE, note_run, plan_of_run
from service.consolidate.executing import Counts, Outcome, carry_out
from service.consolidate.planning import ConsolidationPlan, Target, read_plan, save_plan
from service.consolidate.resuming import check_rest, resume
from service.consolidate.shapes import ConsolidationStatus
from service.errors import ServiceError, Unavailable
from service.jobs.jobs import Job, JobRunner, Work
from service.store.allocator import give_back
from service.writing.pipeline import Pipeline

CONSOLIDATION: Final = "consolidation"
_PLANNING: Final = "planning"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a job consolidates: logs of an agent older than this, or a plan that was shown."""

    agent: str
    older_than_days: float
    scope: str | None = None
    plan: str | None = None


@dataclass(frozen=True, slots=True)
class Consolidations:
    """Where consolidations are asked for that nobody waits for."""

    runner: JobRunner

    async def submit(self, wish: Wish) -> str:
        """Store a consolidation to be done and return its job's id; an equal one is shared.

        Raises PlanNotFound and, with what changed, PlanStale for a plan that was shown.
        """
        if wish.plan is not None:
            db = self.runner.db
            await check_plan(db, await read_plan(db, wish.agent, wish.plan))
        # The store keeps no field that says nothing.
        said = {name: value for name, value in asdict(wish).items() if value is not None}
        return await self.runner.submit(CONSOLIDATION, said)

    async def read(self, key: str) -> ConsolidationStatus:
        """Return how far a consolidation has come; raises JobNotFound."""
        job = await self.runner.read(key, CONSOLIDATION)
        return _status(job)


def consolidating(pipeline: Pipeline) -> Work:
    """Return the work of a consolidation; its run has the id of its job."""

    async def work(job: Job, report: Callable[[Mapping[str, Any]], None]) -> Mapping[str, Any]:
        """Go on with what was planned before, if anything was; Unavailable is tried again."""
        started, agent = time.perf_counter(), job.request["agent"]
        if not job.counts:
            report({"stage": _PLANNING})
        async with pipeline.consolidating.of(agent):
            plan, outcome = await _begin(pipeline, job)

            def on_progress(outcome: Outcome) -> None:
                report(_told(plan, outcome, time.perf_counter() - started))

            on_progress(outcome)
            try:
                if outcome.is_resumed:
                    await check_rest(pipeline.db, plan, outcome)
                await carry_out(pipeline, plan, outcome, on_progress=on_progress)
            except Unavailable:
                raise
            except ServiceError:
                # What was done can be read and undone all the same.
                await note_run(pipeline.db, plan, outcome)
                raise
            if plan.id is not None:
                await note_run(pipeline.db, plan, outcome)
        await give_back()
        return _told(plan, outcome, time.perf_counter() - started) | {"stage": None}

    return work


async def _begin(pipeline: Pipeline, job: Job) -> tuple[ConsolidationPlan, Outcome]:
    """Return the plan of a job and what is done of it: nothing, unless it was interrupted."""
    wish = Wish(**job.request)
    begun = await plan_of_run(pipeline.db, wish.agent, job.id)
    if begun is not None:
        return begun, await resume(pipeline.db, begun, job.id)
    before = datetime.now(UTC) - timedelta(days=wish.older_than_days)
    plan = await planned(pipeline, Target(wish.agent, wish.scope, before), wish.plan)
    outcome = Outcome(run=job.id, counts=Counts(alone=plan.alone))
    if plan.id is not None:
        # Before anything is done: whoever goes on with it goes on with this plan.
        await save_plan(pipeline.db, plan)
        await note_run(pipeline.db, plan, outcome)
    return plan, outcome


def _told(plan: ConsolidationPlan, outcome: Outcome, seconds: float) -> dict[str, Any]:
    return {
        "stage": outcome.stage,
        "plan": plan.id,
        "groups": len(plan.groups),
        "done": outcome.done,
        "concepts": sum(len(group.others) for group in plan.concepts),
        "counts": asdict(outcome.counts),
        "warnings": list(outcome.warnings),
        "took_ms": round(seconds * 1000, 1),
    }


def _status(job: Job) -> ConsolidationStatus:
    told = dict(job.counts)
    counts = Counts(**told.pop("counts", {}))
    has_done = bool(counts.groups or counts.concepts)
    # Its groups can be read once the run is over; the store keeps them for a week.
    is_over = job.state in {"done", "failed"}
    return ConsolidationStatus(
        id=job.id,
        state=job.state,
        detail=job.detail,
        agent=job.request["agent"],
        run=job.id if has_done else None,
        counts=counts,
        next_cursor=DONE.encode(job.id, 0) if is_over and counts.groups else None,
        stage=None if is_over else told.pop("stage", None),
        **{name: value for name, value in told.items() if name != "stage"},
    )
