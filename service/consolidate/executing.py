"""A plan carried out: each group's summary written, its sources archived, in one transaction."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from service.concepts.merging import merge_concepts
from service.consolidate.derived_from import Joining, derived_from, state_of
from service.consolidate.grouping import batches
from service.consolidate.planning import ConsolidationPlan, PlannedGroup, make_plan, settle
from service.consolidate.reading import PUT_AWAY, declared_names
from service.consolidate.revising import edges_of, kept, sources_of
from service.consolidate.summary.originals import Original, original_of
from service.consolidate.summary.summaries import Summary, summarise
from service.drafts.stored_memory import StoredMemory
from service.errors import EmbedderRefused, EmbedderUnavailable, StaleRead, VectorsUnfit
from service.links import stored
from service.links.change import Change
from service.records import Vector
from service.store.database import Database
from service.writing.pipeline import Pipeline, write_change

T = TypeVar("T")
# Called with what is done so far.
OnProgress = Callable[["Outcome"], None]


@dataclass(frozen=True, slots=True)
class SummarisedGroup:
    """A group with its summary; None where its memories hold no passage.

    `originals` are the members that exist; `is_new` says that the summary is not stored yet.
    """

    group: PlannedGroup
    originals: tuple[Original, ...]
    summary: Summary | None
    is_new: bool = True


@dataclass(slots=True)
class Counts:
    """What a plan does, or did.

    `memories` join a summary; `waiting` groups are left for the next time, as no embedder answers;
    `silent` ones hold nothing to tell. `concepts` counts spellings that become one with another.
    Characters are of the memories that join and of the
    summaries made.
    """

    memories: int = 0
    groups: int = 0
    created: int = 0
    revised: int = 0
    waiting: int = 0
    silent: int = 0
    alone: int = 0
    concepts: int = 0
    characters_before: int = 0
    characters_after: int = 0


@dataclass(slots=True)
class Outcome:
    """What was done, or would be; `shown` are the groups of the page, `silent` those so counted.

    `stage` is what is being done: `concepts` or `groups`. `done` groups of the plan were gone
    through, whatever became of them; those in `written` by a process that was interrupted, which
    this run goes on for where it `is_resumed`.
    """

    run: str | None = None
    counts: Counts = field(default_factory=Counts)
    shown: list[SummarisedGroup] = field(default_factory=list)
    silent: dict[str, PlannedGroup] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    stage: str = "concepts"
    done: int = 0
    written: frozenset[str] = frozenset()
    is_resumed: bool = False

    def add(self, done: SummarisedGroup) -> None:
        """Count one group that is done, or would be."""
        if done.summary is None:
            self.counts.silent += 1
            self.silent[done.group.key] = done.group
            return
        joining = [one.content for one in done.originals if one.id in done.group.joining]
        self.count(done.group, joining, done.summary.draft.content, is_new=done.is_new)

    def count(
        self, group: PlannedGroup, joining: Sequence[str], summary: str, *, is_new: bool
    ) -> None:
        """Count a group by the texts of those that join and of its summary."""
        counts = self.counts
        counts.groups += 1
        counts.memories += len(group.joining)
        counts.created += is_new
        counts.revised += not is_new
        counts.characters_before += sum(map(len, joining))
        counts.characters_after += len(summary)


async def preview(
    pipeline: Pipeline, plan: ConsolidationPlan, limit: int, start: int = 0,
    counts: Counts | None = None,
) -> Outcome:  # fmt: skip
    """Make the summaries of a plan without writing any; shows `limit` groups.

    Where the `counts` are known, from a page before, only summaries from the plan's group `start`
    on are made, until there are enough to show. `done` counts its groups up to the last shown.
    """
    outcome = Outcome(counts=counts or Counts(alone=plan.alone), done=start)
    if counts is None:
        outcome.counts.concepts = sum(len(group.others) for group in plan.concepts)
    place = start
    batches_left = in_batches(plan.groups[start:])
    async with aclosing(_ahead(_summarise(pipeline, batch) for batch in batches_left)) as made:
        async for done in made:
            for one in done:
                place += 1
                if counts is None:
                    outcome.add(one)
                if one.summary and len(outcome.shown) < limit:
                    outcome.shown.append(one)
                    outcome.done = place
            if counts is not None and len(outcome.shown) >= limit:
                break
    return outcome


async def carry_out(
    pipeline: Pipeline,
    plan: ConsolidationPlan,
    outcome: Outcome,
    limit: int = 0,
    on_progress: OnProgress = lambda _: None,
) -> None:
    """Write the summaries of a plan, and add to `outcome` what is done; shows `limit` groups.

    What `outcome` names as written already is passed over. Without an embedder the groups that are
    left wait for the next time: their memories stay as they are. Raises StaleRead when a memory
    changes while its group is written; the groups before it are done.
    """
    counts, run = outcome.counts, outcome.run or ""

    def on_merged(moved: int) -> None:
        counts.concepts += moved
        on_progress(outcome)

    await merge_concepts(pipeline, plan.target.agent, plan.concepts, run, on_merged)
    outcome.stage = "groups"
    on_progress(outcome)
    left = [group for group in plan.groups if group.key not in outcome.written]
    try:
        async for done, vectors in _ahead(
            _summarise_and_embed(pipeline, batch) for batch in in_batches(left)
        ):
            ready = [one for one in done if one.group.key in vectors]
            if ready:
                await _write(pipeline, ready, vectors, run)
            for one in done:
                if one.summary is None or one.group.key in vectors:
                    outcome.add(one)
                else:
                    counts.waiting += 1
                    key = one.group.key
                    outcome.warnings.append(f"The embedding server refuses summary {key}.")
            outcome.shown += ready[: limit - len(outcome.shown)]
            outcome.done += len(done)
            on_progress(outcome)
    except (EmbedderUnavailable, VectorsUnfit) as error:
        counts.waiting += len(plan.groups) - outcome.done
        outcome.warnings.append(
            f"{counts.waiting} groups wait for the embedding server, and their memories stay as "
            f"they are: {error.detail}"
        )
    if not counts.waiting:
        await _settle(pipeline, plan, outcome)


async def _settle(pipeline: Pipeline, plan: ConsolidationPlan, outcome: Outcome) -> None:
    """Note that nothing is left to do, where it is so: the next run need not look.

    After a run that changed something a new plan looks: what came meanwhile, and what the changes
    make possible, no plan has seen.
    """
    if outcome.counts.groups or outcome.counts.concepts:
        plan = await make_plan(pipeline.db, plan.target, pipeline.section_tokens)
        if plan.concepts or any(outcome.silent.get(group.key) != group for group in plan.groups):
            return
    await settle(pipeline.db, plan)


async def _ahead(work: Iterable[Coroutine[Any, Any, T]]) -> AsyncGenerator[T]:
    """Yield the results of work in its order; the next piece runs while one result is used."""
    waiting: deque[asyncio.Task[T]] = deque()
    try:
        for piece in work:
            waiting.append(asyncio.create_task(piece))
            if len(waiting) > 1:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def in_batches(groups: Sequence[PlannedGroup]) -> Iterable[list[PlannedGroup]]:
    """Yield groups in lots whose memories may be held at once and written in one transaction."""
    by_key = {group.key: group for group in groups}
    for keys in batches({key: len(group.members) + 1 for key, group in by_key.items()}):
        yield [by_key[key] for key in keys]


async def _summarise_and_embed(
    pipeline: Pipeline, batch: Sequence[PlannedGroup]
) -> tuple[list[SummarisedGroup], dict[str, Vector]]:
    done = await _summarise(pipeline, batch)
    return done, await _embed(pipeline, done)


async def _summarise(pipeline: Pipeline, batch: Sequence[PlannedGroup]) -> list[SummarisedGroup]:
    keys = {key for group in batch for key in (*group.members, group.key)}
    memories = await stored.memories_by_id(pipeline.db, keys)
    refs = [group.ref for group in batch]
    names = await declared_names(pipeline.db, memories.values(), refs)
    # Megabytes of text take seconds.
    most = pipeline.section_tokens
    return await asyncio.to_thread(_summarise_batch, batch, memories, most, names)


def _summarise_batch(
    batch: Sequence[PlannedGroup],
    memories: Mapping[str, StoredMemory],
    budget_tokens: int,
    names: Mapping[str, str],
) -> list[SummarisedGroup]:
    done = []
    for group in batch:
        originals = tuple(original_of(memories[key]) for key in group.members if key in memories)
        summary = summarise(group.key, group.ref, originals, budget_tokens, names)
        done.append(SummarisedGroup(group, originals, summary, group.key not in memories))
    return done


async def _embed(pipeline: Pipeline, done: Sequence[SummarisedGroup]) -> dict[str, Vector]:
    """Return the vectors of summaries by key; one that the server refuses is left out."""
    texts = {one.group.key: one.summary.draft.text for one in done if one.summary}
    try:
        vectors = await pipeline.vectors.embed_each([*texts.values()])
    except EmbedderRefused:
        return {}
    pairs = zip(texts, vectors, strict=True)
    return {key: vector for key, vector in pairs if vector is not None}


async def _write(
    pipeline: Pipeline, made: Sequence[SummarisedGroup], vectors: Mapping[str, Vector], run: str
) -> None:
    agent = next(one.summary.draft.agent for one in made if one.summary)
    change = Change(agent, in_turn=partial(_join, made, run))
    await write_change(pipeline, change, vectors)


async def _join(made: Sequence[SummarisedGroup], run: str, db: Database, change: Change) -> Change:
    """Add summaries to a change, as what is stored in its turn asks for.

    Raises StaleRead where a summary was put away meanwhile: what joins it would go with it.
    """
    keys = [one.group.key for one in made]
    old = await stored.memories_by_id(db, keys)
    if any(getattr(one, name) for one in old.values() for name in PUT_AWAY):
        raise StaleRead
    sources = await sources_of(db, keys)
    drafts, joining, derived = [], [], []
    for one in made:
        if one.summary is None:
            continue
        key = one.group.key
        summary = _kept(one.summary, old.get(key))
        drafts.append(summary.draft)
        states = tuple(map(state_of, one.originals))
        joining.append(Joining(key, tuple(one.group.joining), tuple(one.group.staying), states))
        runs = {original.id: sources[key].get(original.id, run) for original in one.originals}
        derived += edges_of(summary, one.originals, runs)
    change = replace(change, drafts=tuple(drafts), replaced=old)
    return change.with_fragment(derived_from(joining=joining, derived=derived))


def _kept(summary: Summary, old: StoredMemory | None) -> Summary:
    return summary if old is None else replace(summary, draft=kept(summary.draft, old))
