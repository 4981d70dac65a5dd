"""One consolidation: plan, show, carry out; the same for HTTP and the command line."""

import time
from dataclasses import astuple, dataclass, fields
from typing import Final
from uuid import uuid4

from service.consolidate.checking import check_plan
from service.consolidate.executed import DONE, ExecutedPage, keep_run, read_run
from service.consolidate.executing import (
    Counts,
    Outcome,
    SummarisedGroup,
    carry_out,
    preview,
)
from service.consolidate.planning import (
    ConsolidationPlan,
    Target,
    keep_counts,
    make_plan,
    read_plan,
    save_plan,
)
from service.consolidate.shapes import Consolidated, OneConcept, SourceOfSummary, SummaryOfGroup
from service.consolidate.summary.summaries import Summary
from service.errors import PlanStale, StaleRead
from service.store.allocator import give_back
from service.text.titles import title_of
from service.web.cursors import CursorForm
from service.writing.pipeline import Pipeline

# More names at once than these nobody reads; the counts tell of all.
_MOST_CONCEPTS: Final = 1000
# A plan, how many groups were shown, how many of the plan these and the silent ones are, and the
# counts, for which all summaries were made: 10,000 logs took 12 s a page.
SHOWN: Final = CursorForm("p", (str, int, int, *(int for _ in fields(Counts))))


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What a caller asks for: a target, or a plan that was shown.

    `limit` and `cursor` (`next_cursor` of the answer before) page through the groups to show.
    """

    target: Target
    plan: str | None = None
    dry_run: bool = True
    limit: int = 100
    cursor: str | None = None


async def consolidate(pipeline: Pipeline, request: Consolidation) -> Consolidated:
    """Show what would be done, or do it.

    A plan that was shown is carried out as it is, or not at all: raises PlanNotFound and, with
    what changed, PlanStale. A memory that changes on the way ends it: PlanStale tells the run of
    what was done until then, StaleRead says that nothing was.
    """
    started = time.perf_counter()
    if request.cursor and request.cursor.startswith(DONE.letter):
        page = await read_run(pipeline.db, request.target.agent, request.cursor, request.limit)
        return _page_of_run(page, started)
    key, shown, start, counts, next_cursor = request.plan, 0, 0, None, None
    if request.cursor:
        key, shown, start, *known = SHOWN.decode(request.cursor)
        counts = Counts(*known)
    async with pipeline.consolidating.of(request.target.agent):
        plan = await planned(pipeline, request.target, key)
        if request.dry_run:
            if counts is None and plan.counted:
                counts = Counts(*plan.counted)
            outcome = await preview(pipeline, plan, request.limit, start, counts)
            if key is None:
                await save_plan(pipeline.db, plan)
                await keep_counts(pipeline.db, plan, astuple(outcome.counts))
        else:
            outcome = await _carried_out(pipeline, plan, request.limit)
            next_cursor = await keep_run(pipeline.db, plan, outcome)
    await give_back()
    end = shown + len(outcome.shown)
    if request.dry_run and plan.id and outcome.shown and end < outcome.counts.groups:
        next_cursor = SHOWN.encode(plan.id, end, outcome.done, *astuple(outcome.counts))
    return Consolidated(
        plan=plan.id,
        run=outcome.run if outcome.counts.groups or outcome.counts.concepts else None,
        dry_run=request.dry_run,
        agent=plan.target.agent,
        scope=plan.target.scope,
        before=plan.target.before,
        counts=outcome.counts,
        groups=[_shown(group, group.summary) for group in outcome.shown if group.summary],
        concepts=[
            OneConcept(group.slug, list(group.others)) for group in plan.concepts[:_MOST_CONCEPTS]
        ],
        next_cursor=next_cursor,
        warnings=outcome.warnings,
        took_ms=_since(started),
    )


async def _carried_out(pipeline: Pipeline, plan: ConsolidationPlan, limit: int) -> Outcome:
    """Do what a plan says; raises PlanStale where a memory changes after some of it was done."""
    outcome = Outcome(run=uuid4().hex, counts=Counts(alone=plan.alone))
    try:
        await carry_out(pipeline, plan, outcome, limit)
    except StaleRead as error:
        if not (outcome.counts.groups or outcome.counts.concepts):
            raise
        msg = (
            f"A memory changed while its summary was made. {outcome.counts.groups} groups were "
            f"done before, as run {outcome.run!r}, which POST /consolidate/undo takes back, and "
            "`graph-memory consolidate --undo`; the others were not: make a new plan."
        )
        raise PlanStale(msg) from error
    return outcome


def _page_of_run(page: ExecutedPage, started: float) -> Consolidated:
    target = page.plan.target
    return Consolidated(
        plan=page.plan.id,
        run=page.run,
        dry_run=False,
        agent=target.agent,
        scope=target.scope,
        before=target.before,
        counts=page.counts,
        groups=page.groups,
        concepts=[],
        next_cursor=page.next_cursor,
        warnings=[],
        took_ms=_since(started),
    )


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)


async def planned(pipeline: Pipeline, target: Target, key: str | None) -> ConsolidationPlan:
    """Return a plan that was shown, if it still holds, or a new one for the target."""
    if key is None:
        return await make_plan(pipeline.db, target, pipeline.section_tokens)
    plan = await read_plan(pipeline.db, target.agent, key)
    await check_plan(pipeline.db, plan)
    return plan


def _shown(group: SummarisedGroup, summary: Summary) -> SummaryOfGroup:
    draft = summary.draft
    return SummaryOfGroup(
        id=draft.id,
        action="create" if group.is_new else "revise",
        ref=group.group.ref,
        title=draft.title,
        content=draft.content,
        scope=draft.scope,
        tags=list(draft.tags),
        importance=draft.importance,
        occurred_at=draft.occurred_at,
        sources=[
            SourceOfSummary(
                id=original.id,
                title=title_of(original.title, original.content),
                occurred_at=original.occurred_at,
                lines=list(summary.lines.get(original.id, ())),
                joins=original.id in group.group.joining,
            )
            for original in sorted(group.originals, key=lambda one: one.order)
        ],
    )
