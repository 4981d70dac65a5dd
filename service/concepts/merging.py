"""Concepts that are the same thing become one, and can be parted again."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from service.errors import InvalidRequest
from service.links import stored
from service.links.change import Change
from service.links.merges import Merged, Regroup
from service.names.variants import Variants, find_variants
from service.store.database import Database
from service.store.queries import load_query
from service.writing.pipeline import Pipeline, commit
from service.writing.turns import keep_doing

MERGED: Final = load_query(__package__, "merged")
UNFINISHED: Final = load_query(__package__, "unfinished")


async def variants_of(db: Database, agent: str) -> list[Variants]:
    """Return the groups of an agent's concepts that are the same thing; reads them all once."""
    rows = await stored.dictionary_rows(db, agent)
    return await asyncio.to_thread(find_variants, rows)


async def merge_concepts(
    pipeline: Pipeline,
    agent: str,
    variants: Iterable[Variants],
    run: str,
    on_merged: Callable[[int], None] = lambda _: None,
) -> list[Merged]:
    """Make each group one concept; returns what is no concept of its own any more.

    The memories of the others are linked to the concept that stays, which keeps their spellings. A
    group is one transaction, or several where they are many; what a crash leaves goes on with the
    next start, or with the next call. `run` is the id by which it is undone. A concept that is
    gone or was declared since `variants_of` is left out; to be merged again changes nothing. What
    the user declares as an alias is merged too, but only the concepts file can part it again.
    After each group `on_merged` is told how many concepts it merged.
    """
    moved: list[Merged] = []
    async with pipeline.regrouping.of(agent):
        await _finish(pipeline, agent)
        for group in variants:
            asked = Regroup(group.slug, merge=group.others, run=run)
            merged = await _regroup(pipeline, agent, asked)
            moved += merged
            on_merged(len(merged))
    return moved


async def merged_by(db: Database, agent: str, run: str) -> int:
    """Return how many concepts a run made one with another and nobody parted since."""
    rows = await db.run(MERGED, after=[agent], end=[f"{agent}\x00"])
    return sum(one["run"] == run for row in rows for one in row["merged"])


async def part_concepts(
    pipeline: Pipeline, agent: str, *, run: str | None = None, concept: str | None = None
) -> list[Merged]:
    """Undo merges: what was merged is its own concept again, and is not merged again by itself.

    All that a run did, or all of a concept, or a single merged one (by slug); with both, what the
    run did to that concept. One transaction for each concept that had others merged into it, or
    several, as in merge_concepts. Returns what was parted: nothing where nothing was merged. Raises
    InvalidRequest without either.
    """
    if run is None and concept is None:
        raise InvalidRequest("Say which run to undo, or which concept to part.")
    parted: list[Merged] = []
    async with pipeline.regrouping.of(agent):
        await _finish(pipeline, agent)
        for row in await pipeline.db.run(MERGED, after=[agent], end=[f"{agent}\x00"]):
            slug = row["id"][1]
            chosen = _chosen(slug, row["merged"], run, concept)
            if chosen:
                parted += await _regroup(pipeline, agent, Regroup(slug, part=chosen))
    return parted


async def keep_finishing(pipeline: Pipeline) -> None:
    """Go on with what a crash left, and later with what a failure leaves."""
    await keep_doing(
        lambda: _finish_all(pipeline), pipeline.has_unfinished, "merges of concepts wait"
    )


async def _finish_all(pipeline: Pipeline) -> None:
    for agent in {agent for agent, _ in await pipeline.db.run(UNFINISHED, agent=None)}:
        async with pipeline.regrouping.of(agent):
            await _finish(pipeline, agent)


async def _finish(pipeline: Pipeline, agent: str) -> None:
    """Bring to an end what is left of merges and partings; the caller holds the agent's turn."""
    for _, slug in await pipeline.db.run(UNFINISHED, agent=agent):
        await _regroup(pipeline, agent, Regroup(slug))


async def _regroup(pipeline: Pipeline, agent: str, asked: Regroup) -> tuple[Merged, ...]:
    is_over = False
    try:
        regrouped = (await commit(pipeline, Change(agent, regroup=asked))).regrouped
        moved = regrouped.moved
        while regrouped.later:
            change = Change(agent, regroup=Regroup(asked.slug))
            regrouped = (await commit(pipeline, change)).regrouped
        is_over = True
    finally:
        if not is_over:
            pipeline.has_unfinished.set()
    return moved


def _chosen(
    slug: str, merged: Iterable[Mapping[str, Any]], run: str | None, concept: str | None
) -> tuple[str, ...]:
    """Return which of those that were merged into a concept are to be parted."""
    return tuple(
        one["slug"]
        for one in merged
        if run in {None, one["run"]} and concept in {None, slug, one["slug"]}
    )
