"""POST /consolidate as a deed: plan, show, carry out; the same for HTTP and the command line."""

import time
from dataclasses import dataclass
from typing import Final

from service.consolidate.executing import Made, Outcome, Report, carry_out, preview
from service.consolidate.planning import (
    Plan,
    Wish,
    check_plan,
    make_plan,
    read_plan,
    save_plan,
)
from service.consolidate.shapes import Consolidated, OneConcept, SourceOfSummary, SummaryOfGroup
from service.web.cursors import cursor_number, decode_cursor, encode_cursor
from service.web.fields import title_of
from service.writing.pipeline import Pipeline

# More names at once than these nobody reads; the counts tell of all.
_MOST_CONCEPTS: Final = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller wants: a wish, or a plan that was shown; `cursor` pages through its groups."""

    wish: Wish
    plan: str | None = None
    dry_run: bool = True
    limit: int = 100
    cursor: str | None = None


def nobody_listens(through: int, groups: int) -> None:
    """Report to nobody."""


async def consolidate(
    pipeline: Pipeline, asked: Asked, report: Report = nobody_listens
) -> Consolidated:
    """Show what would be done, or do it.

    A plan that was shown is carried out as it is, or not at all: raises PlanNotFound and, with
    what changed, PlanStale.
    """
    started = time.perf_counter()
    key, start = asked.plan, 0
    if asked.cursor:
        shown, place = decode_cursor(asked.cursor, 2)
        key, start = str(shown), cursor_number(place)
    async with pipeline.consolidating.of(asked.wish.agent):
        plan = await _plan(pipeline, asked.wish, key)
        if asked.dry_run:
            outcome = await preview(pipeline, plan, start, asked.limit)
            if key is None:
                await save_plan(pipeline.db, plan)
        else:
            outcome = await carry_out(pipeline, plan, asked.limit, report)
    took_ms = round((time.perf_counter() - started) * 1000, 1)
    return _answer(asked, plan, outcome, start, took_ms)


async def _plan(pipeline: Pipeline, wish: Wish, key: str | None) -> Plan:
    if key is None:
        return await make_plan(pipeline.db, wish, pipeline.section_tokens)
    plan = await read_plan(pipeline.db, wish.agent, key)
    await check_plan(pipeline.db, plan)
    return plan


def _answer(asked: Asked, plan: Plan, outcome: Outcome, start: int, took_ms: float) -> Consolidated:
    wish, counts, end = plan.wish, outcome.counts, start + len(outcome.shown)
    has_more = asked.dry_run and plan.id is not None and end < counts.groups
    return Consolidated(
        plan=plan.id,
        run=outcome.run if counts.groups or counts.concepts else None,
        dry_run=asked.dry_run,
        agent=wish.agent,
        scope=wish.scope,
        before=wish.before,
        counts=counts,
        groups=[summary for made in outcome.shown for summary in _summary(made)],
        concepts=[
            OneConcept(group.slug, list(group.others)) for group in plan.concepts[:_MOST_CONCEPTS]
        ],
        next_cursor=encode_cursor(plan.id or "", end) if has_more else None,
        warnings=outcome.warnings,
        took_ms=took_ms,
    )


def _summary(made: Made) -> list[SummaryOfGroup]:
    if made.summary is None:
        return []
    draft, lines = made.summary.draft, made.summary.lines
    sources = [
        SourceOfSummary(
            one.id, title_of(one.title, one.content), one.occurred_at,
            list(lines.get(one.id, ())), one.id in made.group.joining,
        )
        for one in sorted(made.originals, key=lambda one: one.order)
    ]  # fmt: skip
    return [
        SummaryOfGroup(
            draft.key, "create" if made.is_new else "revise", made.group.ref, draft.title,
            draft.content, draft.scope, list(draft.tags), draft.importance, draft.occurred_at,
            sources,
        )
    ]  # fmt: skip
