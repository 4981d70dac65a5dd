"""Whether a plan still holds: what of its memories changed since it was made."""

from collections.abc import Iterable, Mapping
from typing import Final

from service.consolidate import reading
from service.consolidate.planning import ConsolidationPlan, PlannedGroup
from service.consolidate.revising import sources_of
from service.errors import FieldError, PlanStale
from service.plurals import how_many
from service.store.database import Database

_MOST_FAULTS: Final = 100


async def check_plan(
    db: Database, plan: ConsolidationPlan, undone: str = "nothing was done"
) -> None:
    """Raise PlanStale, with what changed, unless every member is as it was when it was planned.

    `undone` is what the error says of the work.
    """
    keys = [key for group in plan.groups for key in (*group.members, group.key)]
    members = await reading.members(db, keys)
    sources = await sources_of(db, [group.key for group in plan.groups])
    changed = [
        FieldError(f"/groups/{group.key}", f"memory {key} {fault}")
        for group in plan.groups
        for key, fault in sorted(_faults(group, members, sources[group.key]).items())
    ]
    if changed:
        told = how_many(len(changed), "memory", "memories")
        msg = (
            f"{told} changed since the plan was made, so {undone}: make a new plan and look at it."
        )
        raise PlanStale(msg, tuple(changed[:_MOST_FAULTS]))


def _faults(
    group: PlannedGroup, members: Mapping[str, reading.Member], sources: Iterable[str]
) -> dict[str, str]:
    """Return how the memories of a group differ from the plan; those that do not are left out."""
    faults = {key: _fault(members.get(key), state) for key, state in group.joining.items()}
    for key, state in group.staying.items():
        faults[key] = _fault(members.get(key), state, group.key)
    for key in sources:
        faults.setdefault(key, "joined the summary")
    summary = members.get(group.key)
    if summary and summary.fault != reading.IS_SUMMARY:
        faults[group.key] = summary.fault
    return {key: fault for key, fault in faults.items() if fault}


def _fault(member: reading.Member | None, state: str, into: str | None = None) -> str | None:
    """Return what is wrong with a member; `into` is the summary that it should be a source of."""
    if member is None:
        return "is gone"
    if member.into != into:
        return "was consolidated" if member.into else "left the summary"
    if into is None and member.fault:
        return member.fault
    return None if member.state == state else "was changed"
