"""What a consolidation made, page by page: its summaries as they are stored now."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from service.consolidate.executing import Counts, Outcome
from service.consolidate.planning import ConsolidationPlan, PlannedGroup, read_plan, save_plan
from service.consolidate.revising import SOURCES
from service.consolidate.shapes import SourceOfSummary, SummaryOfGroup
from service.consolidate.undoing import DERIVED_BY_RUN
from service.drafts.stored_memory import StoredMemory
from service.errors import PlanNotFound, RunNotFound
from service.links import stored
from service.store.database import Database, record
from service.text.titles import title_of
from service.web.cursors import CursorForm

# A run, and how many groups of its plan were looked at.
DONE: Final = CursorForm("r", (str, int))


@dataclass(frozen=True, slots=True)
class ExecutedPage:
    """Some groups of a run, what all of it did, and where the next page begins, if there is one."""

    plan: ConsolidationPlan
    run: str
    counts: Counts
    groups: list[SummaryOfGroup]
    next_cursor: str | None


async def keep_run(db: Database, plan: ConsolidationPlan, outcome: Outcome) -> str | None:
    """Return the cursor behind the groups that an answer shows; what it needs is stored.

    None where all of them are shown.
    """
    if outcome.run is None or outcome.counts.groups <= len(outcome.shown):
        return None
    await save_plan(db, plan)
    await note_run(db, plan, outcome)
    last = outcome.shown[-1].group.key
    keys = [group.key for group in plan.groups]
    return DONE.encode(outcome.run, keys.index(last) + 1)


async def note_run(db: Database, plan: ConsolidationPlan, outcome: Outcome) -> None:
    """Store which plan a run carries out, and what it has done: until that plan is forgotten."""
    facts = {"plan": plan.id, "counts": asdict(outcome.counts)}
    await db.set_meta(_key(plan.target.agent, outcome.run or ""), facts)


async def plan_of_run(db: Database, agent: str, run: str) -> ConsolidationPlan | None:
    """Return the plan of a run that was noted, else None; raises PlanNotFound after a week."""
    facts = await db.meta(_key(agent, run))
    return await read_plan(db, agent, facts["plan"]) if facts else None


async def read_run(db: Database, agent: str, cursor: str, limit: int) -> ExecutedPage:
    """Return the next groups of a run; summaries that were taken back are left out.

    Raises RunNotFound when all were, and PlanNotFound when it was more than a week ago: the facts
    of a run go with its plan.
    """
    run, start = DONE.decode(cursor)
    facts = await db.meta(_key(agent, run))
    made = {row["summary"] for row in await db.run(DERIVED_BY_RUN, agent=agent, run=run)}
    if not made:
        raise RunNotFound(f"Agent {agent!r} has no consolidation {run!r}, or it was undone.")
    if not facts:
        msg = f"What run {run!r} made is shown for a week; undoing it is possible still."
        raise PlanNotFound(msg)
    plan = await read_plan(db, agent, facts["plan"])
    left = [at for at, group in enumerate(plan.groups) if at >= start and group.key in made]
    page = [plan.groups[at] for at in left[:limit]]
    next_cursor = DONE.encode(run, left[limit - 1] + 1) if len(left) > limit else None
    groups = await _read_groups(db, page, run)
    return ExecutedPage(plan, run, Counts(**facts["counts"]), groups, next_cursor)


def _key(agent: str, run: str) -> list[str]:
    return ["consolidated", agent, run]


async def _read_groups(
    db: Database, groups: Sequence[PlannedGroup], run: str
) -> list[SummaryOfGroup]:
    edges: dict[str, list[Mapping[str, Any]]] = {group.key: [] for group in groups}
    ids = [record("memory", key) for key in edges]
    for row in await db.run(SOURCES, ids=ids) if ids else ():
        edges[row["summary"]].append(row)
    every = {row["source"] for rows in edges.values() for row in rows}
    memories = await stored.memories_by_id(db, every.union(edges))
    return [
        _group(group, memories, edges[group.key], run) for group in groups if group.key in memories
    ]


def _group(
    group: PlannedGroup,
    memories: Mapping[str, StoredMemory],
    edges: Sequence[Mapping[str, Any]],
    run: str,
) -> SummaryOfGroup:
    summary = memories[group.key]
    sources = [
        SourceOfSummary(
            id=one.id, title=title_of(one.title, one.content), occurred_at=one.occurred_at,
            lines=list(edge["lines"]), joins=edge["run"] == run,
        )
        for edge in edges
        if (one := memories.get(edge["source"]))
    ]  # fmt: skip
    return SummaryOfGroup(
        id=group.key,
        action="create" if all(one.joins for one in sources) else "revise",
        ref=group.ref,
        title=summary.title,
        content=summary.content,
        scope=summary.scope,
        tags=list(summary.tags),
        importance=summary.importance,
        occurred_at=summary.occurred_at,
        sources=sorted(sources, key=lambda one: (one.occurred_at, one.id)),
    )
