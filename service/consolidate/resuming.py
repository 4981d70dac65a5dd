"""A run that was interrupted: what of it is in the store, so that nothing is done twice."""

from dataclasses import replace

from service.concepts.merging import merged_by
from service.consolidate.checking import check_plan
from service.consolidate.executing import Counts, Outcome, in_batches
from service.consolidate.planning import ConsolidationPlan
from service.consolidate.undoing import DERIVED_BY_RUN
from service.links import stored
from service.store.database import Database


async def resume(db: Database, plan: ConsolidationPlan, run: str) -> Outcome:
    """Return what a run has done of its plan, as it would have counted it itself.

    A group is written in one transaction, so that it is done or not begun.
    """
    agent = plan.target.agent
    made = {row["summary"] for row in await db.run(DERIVED_BY_RUN, agent=agent, run=run)}
    done = [group for group in plan.groups if group.key in made]
    outcome = Outcome(
        run, Counts(alone=plan.alone), done=len(done), written=frozenset(made), is_resumed=True
    )
    outcome.counts.concepts = await merged_by(db, agent, run)
    for batch in in_batches(done):
        memories = await stored.memories_by_id(
            db, {key for group in batch for key in (*group.joining, group.key)}
        )
        for group in batch:
            if group.key not in memories:
                continue  # deleted meanwhile
            joining = [memories[key].content for key in group.joining if key in memories]
            summary = memories[group.key].content
            outcome.count(group, joining, summary, is_new=not group.staying)
    return outcome


async def check_rest(db: Database, plan: ConsolidationPlan, outcome: Outcome) -> None:
    """Raise PlanStale when memories of the groups that are left changed meanwhile."""
    left = tuple(group for group in plan.groups if group.key not in outcome.written)
    await check_plan(db, replace(plan, groups=left), "nothing more was done")
