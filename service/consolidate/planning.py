"""The plan of a consolidation: which memories go into which summary, exactly."""

import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final

import orjson

from service.concepts.merging import variants_of
from service.consolidate import reading
from service.consolidate.grouping import (
    Old,
    Place,
    concept_ref,
    cut,
    find_groups,
    summary_key,
    week_place,
)
from service.consolidate.revising import sources_of
from service.drafts.drafts import digest
from service.errors import FieldError, PlanNotFound, PlanStale
from service.names.variants import Variants
from service.store.database import Database, record
from service.store.queries import load_query

SAVE_PLAN: Final = load_query(__package__, "save_plan")
READ_PLAN: Final = load_query(__package__, "read_plan")

_MOST_TOLD: Final = 100
# A summary is full with sources of this many times its tokens: about half is what it leaves out.
_FULL: Final = 2


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be consolidated: an agent's logs from before a moment, of one scope or of all."""

    agent: str
    scope: str | None
    before: datetime


@dataclass(frozen=True, slots=True)
class Group:
    """One summary to make: `joining` become its sources, `staying` are so already.

    Both as id → state (see grouping.Old). `key` is the summary's id, `ref` says why these belong
    together (see grouping.Place).
    """

    key: str
    ref: str
    joining: Mapping[str, str]
    staying: Mapping[str, str] = field(default_factory=dict)

    @property
    def members(self) -> list[str]:
        """The ids of all its sources."""
        return [*self.staying, *self.joining]


@dataclass(frozen=True, slots=True)
class Plan:
    """Groups in the order of their work, and how many old memories share nothing (`alone`).

    `concepts` are the same thing under several spellings: they become one before anything else.
    """

    wish: Wish
    groups: tuple[Group, ...] = ()
    alone: int = 0
    concepts: tuple[Variants, ...] = ()

    @property
    def id(self) -> str | None:
        """A hash of the plan: equal plans have equal ids; None when there is nothing to do."""
        if not self.groups and not self.concepts:
            return None
        work = _json(self.groups) + _json(self.concepts)
        return digest("plan", self.wish.agent, self.wish.scope or "", work.decode())


def settled_key(wish: Wish) -> list[Any]:
    """Name what meta keeps of the last consolidation that left nothing to do."""
    return ["consolidation", wish.agent, wish.scope or ""]


async def make_plan(db: Database, wish: Wish, budget_tokens: int) -> Plan:
    """Work out which memories go into which summary, and which concepts are one; reads only.

    `budget_tokens` are what a summary can hold: larger groups are cut. Concepts are an agent's: a
    wish for one scope leaves them as they are.
    """
    olds = await reading.old_memories(db, wish.agent, wish.scope, wish.before)
    now = await settled_now(db, wish, [old.state for old in olds])
    if (await db.meta(settled_key(wish))) == now:
        return Plan(wish, alone=len(olds))
    variants = tuple(await variants_of(db, wish.agent)) if wish.scope is None else ()
    groups, alone = await _plan_groups(db, wish, olds, variants, _FULL * budget_tokens)
    return Plan(wish, tuple(groups), alone, variants)


async def _plan_groups(
    db: Database,
    wish: Wish,
    olds: Sequence[Old],
    variants: Iterable[Variants],
    most_tokens: int,
) -> tuple[list[Group], int]:
    """Return the groups, and how many memories share nothing."""
    merged = {slug: group.slug for group in variants for slug in group.others}
    leaders = await reading.find_clusters(db, wish.agent, olds)
    linked = await reading.concepts_of(db, [old.id for old in olds])
    concepts = {key: {merged.get(slug, slug) for slug in slugs} for key, slugs in linked.items()}
    named = {
        Place(old.wall, concept_ref(slug)) for old in olds for slug in concepts.get(old.id, ())
    }
    named |= {week_place(old) for old in olds}
    rooms = await reading.rooms(db, wish.agent, named)
    is_open = {
        place for place, found in rooms.items() if any(room.is_free(most_tokens) for room in found)
    }
    found, alone = await asyncio.to_thread(find_groups, olds, leaders, concepts, is_open)
    rooms |= await reading.rooms(db, wish.agent, found.keys() - named)
    groups = [
        Group(
            summary_key(wish.agent, place, part), place.ref, {old.id: old.state for old in joining}
        )
        for place in sorted(found, key=str)
        # Near-duplicates are told once, however many they are.
        for part, joining in cut(
            found[place],
            rooms.get(place, ()),
            sys.maxsize if place.ref.startswith("likeness:") else most_tokens,
        )
    ]
    groups = await _with_sources(db, groups)
    # One that is like the members of a full cluster has nobody to join.
    whole = [group for group in groups if len(group.members) > 1]
    return whole, len(alone) + len(groups) - len(whole)


async def _with_sources(db: Database, groups: Sequence[Group]) -> list[Group]:
    """Add to each group the sources that its summary has already."""
    sources = await sources_of(db, [group.key for group in groups])
    every = [key for found in sources.values() for key in found]
    states = {key: one.state for key, one in (await reading.members(db, every)).items()}
    return [
        Group(
            group.key, group.ref, group.joining,
            {key: states[key] for key in sorted(sources[group.key]) if key in states},
        )
        for group in groups
    ]  # fmt: skip


async def settled_now(db: Database, wish: Wish, states: Iterable[str]) -> dict[str, Any]:
    """Return what tells a store in which nothing is left to consolidate: its links and memories."""
    dictionary = await db.meta(["dictionary", wish.agent])
    return {"version": dictionary.get("version", 0), "memories": digest(*sorted(states))}


async def save_plan(db: Database, plan: Plan) -> None:
    """Keep a plan for a week, so that it can be carried out as it is."""
    if plan.id is not None:
        await db.run(
            SAVE_PLAN, id=record("plan", plan.id), agent=plan.wish.agent, scope=plan.wish.scope,
            before=plan.wish.before, groups=_json(plan.groups).decode(), alone=plan.alone,
            concepts=_json(plan.concepts).decode(),
        )  # fmt: skip


async def read_plan(db: Database, agent: str, key: str) -> Plan:
    """Return a plan that was kept; raises PlanNotFound."""
    row = await db.run(READ_PLAN, id=record("plan", key))
    if row is None or row["agent"] != agent:
        msg = f"Agent {agent!r} has no plan {key!r}: plans are kept for a week; make a new one."
        raise PlanNotFound(msg)
    groups = tuple(Group(**group) for group in orjson.loads(row["groups"]))
    concepts = tuple(
        Variants(group["slug"], tuple(group["others"])) for group in orjson.loads(row["concepts"])
    )
    wish = Wish(agent, row.get("scope"), row["before"])
    return Plan(wish, groups, row["alone"], concepts)


async def check_plan(db: Database, plan: Plan) -> None:
    """Raise PlanStale, with what changed, unless every member is as it was when it was planned."""
    now = await reading.members(db, [key for group in plan.groups for key in group.members])
    sources = await sources_of(db, [group.key for group in plan.groups])
    changed = []
    for group in plan.groups:
        faults = {key: _fault(now.get(key), state) for key, state in group.joining.items()}
        faults |= {
            key: _fault(now.get(key), state, group.key) for key, state in group.staying.items()
        }
        faults |= {key: "joined the summary" for key in sources[group.key] if key not in faults}
        changed += [
            FieldError(f"/groups/{group.key}", f"memory {key} {fault}")
            for key, fault in sorted(faults.items())
            if fault
        ]
    if changed:
        msg = (
            f"{len(changed)} memories changed since the plan was made, so nothing was done: make "
            "a new plan and look at it."
        )
        raise PlanStale(msg, tuple(changed[:_MOST_TOLD]))


def _fault(member: reading.Member | None, state: str, into: str | None = None) -> str | None:
    if member is None:
        return "is gone"
    if member.into != into:
        return "was consolidated" if member.into else "left the summary"
    if into is None and member.fault:
        return member.fault
    return None if member.state == state else "was changed"


def _json(groups: Iterable[Group | Variants]) -> bytes:
    return orjson.dumps([asdict(group) for group in groups], option=orjson.OPT_SORT_KEYS)
