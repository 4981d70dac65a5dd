"""The plan of a consolidation: which memories go into which summary, exactly."""

import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final

import orjson

from service.concepts.merging import variants_of
from service.consolidate import reading
from service.consolidate.grouping import (
    Candidate,
    Capacity,
    GroupKey,
    concept_group,
    find_groups,
    split_group,
    summary_key,
    week_group,
)
from service.consolidate.revising import sources_of
from service.consolidate.summary.refs import is_of_near_duplicates
from service.drafts.ids import digest
from service.errors import PlanNotFound
from service.names.variants import Variants
from service.store.database import Database, record
from service.store.queries import load_query
from service.version import VERSION

SAVE_PLAN: Final = load_query(__package__, "save_plan")
READ_PLAN: Final = load_query(__package__, "read_plan")
WAITING_VECTORS: Final = load_query(__package__, "waiting_vectors")

# A summary takes sources of up to this many times its token budget: it leaves out about half of
# their text.
_SOURCES_PER_BUDGET: Final = 2


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be consolidated: an agent's logs from before a moment, of one scope or of all."""

    agent: str
    scope: str | None
    before: datetime


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """One summary to make: `joining` become its sources, `staying` are so already.

    Both as id → state (see grouping.Candidate). `key` is the summary's id, `ref` says why these
    belong together (see summary/refs.py). Plans are stored with these names.
    """

    key: str
    ref: str
    joining: Mapping[str, str]
    staying: Mapping[str, str] = field(default_factory=dict)

    @property
    def members(self) -> list[str]:
        """The ids of all its sources."""
        return [*self.staying, *self.joining]


@dataclass(frozen=True)
class ConsolidationPlan:
    """Groups in the order of their work, and how many old memories share nothing (`alone`).

    `concepts` are the same thing under several spellings: they become one before anything else.
    `state` is what the plan was made from (see _state_of); None of one that was read back, and of
    one that was made without looking. `counted` is what a dry run counted of it, where it is known.
    """

    target: Target
    groups: tuple[PlannedGroup, ...] = ()
    alone: int = 0
    concepts: tuple[Variants, ...] = ()
    state: Mapping[str, Any] | None = None
    counted: tuple[int, ...] | None = None

    @cached_property
    def id(self) -> str | None:
        """A hash of the plan: equal plans have equal ids; None when there is nothing to do.

        Of a large one it takes a tenth of a second, and each report of a job tells it.
        """
        if not self.groups and not self.concepts:
            return None
        work = _json(self.groups) + _json(self.concepts)
        return digest("plan", self.target.agent, self.target.scope or "", work.decode())


async def make_plan(db: Database, target: Target, budget_tokens: int) -> ConsolidationPlan:
    """Work out which memories go into which summary, and which concepts are one; reads only.

    While nothing changes that was shown last is not worked out again.

    `budget_tokens` are what a summary can hold: larger groups are split. Concepts belong to all of
    an agent's scopes: a plan for one scope leaves them as they are.
    """
    candidates = await reading.candidates(db, target.agent, target.scope, target.before)
    # Read before what is planned with: whatever changes meanwhile, the next state differs.
    now = await _state_of(db, target, [candidate.state for candidate in candidates])
    now |= {"budget": budget_tokens, "service": VERSION}
    if (await db.meta(_settled_key(target))) == now:
        return ConsolidationPlan(target, alone=len(candidates))
    if (known := await _counted_plan(db, target, now)) is not None:
        return known
    variants = tuple(await variants_of(db, target.agent)) if target.scope is None else ()
    most_tokens = _SOURCES_PER_BUDGET * budget_tokens
    groups = await _plan_groups(db, target.agent, candidates, variants, most_tokens)
    alone = len(candidates) - sum(len(group.joining) for group in groups)
    return ConsolidationPlan(target, tuple(groups), alone, variants, now)


async def _plan_groups(
    db: Database,
    agent: str,
    candidates: Sequence[Candidate],
    variants: Iterable[Variants],
    most_tokens: int,
) -> list[PlannedGroup]:
    leaders = await reading.find_clusters(db, agent, candidates)
    concepts = await _merged_concepts(db, candidates, variants)
    # A summary that takes more makes a group of a single memory, so capacities are read before the
    # grouping; those of near-duplicates after it, for only then is it known which groups there are.
    shared = await asyncio.to_thread(_shared_groups, candidates, concepts)
    capacities = await reading.capacities(db, agent, shared)
    takes_more = {
        group
        for group, those in capacities.items()
        if any(capacity.takes_more(most_tokens) for capacity in those)
    }
    members = await asyncio.to_thread(find_groups, candidates, leaders, concepts, takes_more)
    capacities |= await reading.capacities(db, agent, members.keys() - shared)
    parts = await asyncio.to_thread(_split, agent, members, capacities, most_tokens)
    groups = await _with_staying(db, parts)
    # A near-duplicate that its cluster's full summaries do not take may be alone in a new part.
    return [group for group in groups if len(group.members) > 1]


def _shared_groups(
    candidates: Sequence[Candidate], concepts: Mapping[str, Iterable[str]]
) -> set[GroupKey]:
    """Return the groups of all concepts and weeks that these memories could be in."""
    shared = {concept_group(one, slug) for one in candidates for slug in concepts.get(one.id, ())}
    return shared | {week_group(one) for one in candidates}


async def _merged_concepts(
    db: Database, candidates: Sequence[Candidate], variants: Iterable[Variants]
) -> dict[str, set[str]]:
    """Return the concepts of each memory as they will be once the variants are one."""
    merged = {slug: group.slug for group in variants for slug in group.others}
    concepts = await reading.concepts_of(db, [candidate.id for candidate in candidates])
    return {key: {merged.get(slug, slug) for slug in slugs} for key, slugs in concepts.items()}


def _split(
    agent: str,
    members: Mapping[GroupKey, Sequence[Candidate]],
    capacities: Mapping[GroupKey, Sequence[Capacity]],
    most_tokens: int,
) -> list[PlannedGroup]:
    """Split the groups into parts, each the size of a summary; in the order of their keys."""
    planned = []
    for group in sorted(members, key=str):
        # Of near-duplicates one is kept whole, so their number adds little to the summary.
        most = sys.maxsize if is_of_near_duplicates(group.ref) else most_tokens
        for part, joining in split_group(members[group], capacities.get(group, ()), most):
            key = summary_key(agent, group, part)
            planned.append(PlannedGroup(key, group.ref, {one.id: one.state for one in joining}))
    return planned


async def _with_staying(db: Database, groups: Sequence[PlannedGroup]) -> list[PlannedGroup]:
    """Add to each group the sources that its summary has already."""
    sources = await sources_of(db, [group.key for group in groups])
    every = [key for those in sources.values() for key in those]
    states = {key: member.state for key, member in (await reading.members(db, every)).items()}
    return [
        replace(
            group,
            staying={key: states[key] for key in sorted(sources[group.key]) if key in states},
        )
        for group in groups
    ]


async def settle(db: Database, plan: ConsolidationPlan) -> None:
    """Note that what a plan was made from leaves nothing to do: the next one need not look."""
    if plan.state is not None:
        await db.set_meta(_settled_key(plan.target), plan.state)


async def keep_counts(db: Database, plan: ConsolidationPlan, counts: Sequence[int]) -> None:
    """Note what a dry run of a plan that is kept has counted, for which it makes all summaries."""
    if plan.state is not None and plan.id is not None:
        facts = {"state": plan.state, "plan": plan.id, "counts": [*counts]}
        await db.set_meta(_counted_key(plan.target), facts)


async def _counted_plan(
    db: Database, target: Target, state: Mapping[str, Any]
) -> ConsolidationPlan | None:
    """Return the plan that was counted last, if it was made from the same and is kept still."""
    facts = await db.meta(_counted_key(target))
    if facts.get("state") != state:
        return None
    with suppress(PlanNotFound):
        plan = await read_plan(db, target.agent, facts["plan"])
        return replace(plan, target=target, state=state, counted=tuple(facts["counts"]))
    return None


def _counted_key(target: Target) -> list[Any]:
    return ["counted", target.agent, target.scope or ""]


def _settled_key(target: Target) -> list[Any]:
    return ["consolidation", target.agent, target.scope or ""]


async def _state_of(db: Database, target: Target, states: Iterable[str]) -> dict[str, Any]:
    """Return what a plan depends on: while it is the same, there is nothing new to plan.

    That is the version of the agent's dictionary, which counts its writes, the candidates' states,
    the model of the vectors, and how many memories have none yet: those that come later are not
    counted as writes.
    """
    dictionary = await db.meta(["dictionary", target.agent])
    embedding = await db.meta("embedding")
    return {
        "version": dictionary.get("version", 0),
        "memories": digest(*sorted(states)),
        "model": embedding.get("fingerprint", ""),
        "waiting": await db.run(WAITING_VECTORS, agent=target.agent),
    }


async def save_plan(db: Database, plan: ConsolidationPlan) -> None:
    """Keep a plan for a week, so that it can be carried out as it is."""
    if plan.id is not None:
        await db.run(
            SAVE_PLAN,
            id=record("plan", plan.id),
            agent=plan.target.agent,
            scope=plan.target.scope,
            before=plan.target.before,
            groups=_json(plan.groups).decode(),
            alone=plan.alone,
            concepts=_json(plan.concepts).decode(),
        )


async def read_plan(db: Database, agent: str, key: str) -> ConsolidationPlan:
    """Return a plan that was kept; raises PlanNotFound."""
    row = await db.run(READ_PLAN, id=record("plan", key))
    if row is None or row["agent"] != agent:
        msg = f"Agent {agent!r} has no plan {key!r}: plans are kept for a week; make a new one."
        raise PlanNotFound(msg)
    groups = tuple(PlannedGroup(**group) for group in orjson.loads(row["groups"]))
    concepts = tuple(
        Variants(group["slug"], tuple(group["others"])) for group in orjson.loads(row["concepts"])
    )
    target = Target(agent, row.get("scope"), row["before"])
    return ConsolidationPlan(target, groups, row["alone"], concepts)


def _json(groups: Iterable[PlannedGroup | Variants]) -> bytes:
    # As `asdict`, which copies all that they hold, for ten times as long.
    rows = [{one.name: getattr(group, one.name) for one in fields(group)} for group in groups]
    return orjson.dumps(rows, option=orjson.OPT_SORT_KEYS)
