"""A dry run asked for again: what it counted is told at once, until anything changes."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from service.consolidate import executing, planning
from service.consolidate.consolidating import Consolidation, consolidate
from service.consolidate.planning import Target
from service.consolidate.shapes import Consolidated
from service.consolidate.summary.summaries import summarise
from service.consolidate.undoing import undo_run
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.store.queries import Query
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio
TARGET = Target("main", None, START + timedelta(days=900))
# Of so many groups some are never shown, and their summaries are made for the counts alone.
_BIRDS = [f"Osprey-{n} {word}" for n in range(300, 600) for word in ("came.", "went.")]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[OpenStore]:
    """Give a store with logs of many groups, of which a dry run was shown."""
    async with open_store(tmp_path) as opened:
        await _push(opened, _BIRDS)
        yield opened


async def _push(world: OpenStore, texts: list[str]) -> list[str]:
    pushed = [
        Pushed(text, kind="daily_log", occurred_at=START + timedelta(hours=n), source_ref=text)
        for n, text in enumerate(texts)
    ]
    return (await store(world.pipeline, pushed))[0]


async def _show(world: OpenStore, target: Target = TARGET, limit: int = 7) -> Consolidated:
    """Make a dry run; its time and the moment it is of do not count."""
    shown = await consolidate(world.pipeline, Consolidation(target, limit=limit))
    return replace(shown, took_ms=0.0)


async def test_the_second_one_makes_what_it_shows(
    world: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, planned, plan_groups = [], [], planning._plan_groups

    def summarised(key: str, *others: Any) -> Any:
        made.append(key)
        return summarise(key, *others)

    async def plan(*args: Any) -> Any:
        planned.append(1)
        return await plan_groups(*args)

    monkeypatch.setattr(executing, "summarise", summarised)
    monkeypatch.setattr(planning, "_plan_groups", plan)
    first = await _show(world)
    assert (first.counts.groups, len(made), len(planned)) == (300, 300, 1)
    made.clear()
    assert await _show(world) == first
    # A lot of groups at once, and one ahead.
    assert (len(made) < 200, len(planned)) == (True, 1)
    # A moment later the same memories are old.
    later = replace(TARGET, before=TARGET.before + timedelta(seconds=1))
    assert await _show(world, later) == replace(first, before=later.before)
    assert len(planned) == 1
    done = await consolidate(world.pipeline, Consolidation(TARGET, dry_run=False))
    assert (done.plan, done.counts) == (first.plan, first.counts)


async def _add(world: OpenStore) -> None:
    await _push(world, ["Osprey-300 slept."])


async def _pin(world: OpenStore) -> None:
    [key] = await _push(world, _BIRDS[:1])
    await change_memory(world.pipeline, await find(world.db, ["main"], key), {"pinned": True})


async def _delete(world: OpenStore) -> None:
    [key] = await _push(world, _BIRDS[:1])
    await remove(world.pipeline, "main", key)


async def _do_and_undo(world: OpenStore) -> None:
    done = await consolidate(world.pipeline, Consolidation(TARGET, dry_run=False))
    await undo_run(world.pipeline, "main", done.run or "", pin=False)


async def _do_a_part(world: OpenStore) -> None:
    early = replace(TARGET, before=START + timedelta(hours=100))
    await consolidate(world.pipeline, Consolidation(early, dry_run=False))


async def _shorten(world: OpenStore) -> None:
    world.pipeline.section_tokens = 3


async def _forget(world: OpenStore) -> None:
    await world.db.run(Query("own", "DELETE plan", frozenset(), writes=True))


@pytest.mark.parametrize(
    "change", [_add, _pin, _delete, _do_and_undo, _do_a_part, _shorten, _forget]
)
async def test_after_a_change_it_is_as_if_none_had_been_shown(
    world: OpenStore, change: Callable[[OpenStore], Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    first = await _show(world)
    await change(world)
    second = await _show(world)

    async def unknown(*_: Any) -> None:
        return None

    monkeypatch.setattr(planning, "_counted_plan", unknown)
    assert second == await _show(world)
    assert (second == first) == (change in {_do_and_undo, _forget})


async def test_each_scope_and_moment_has_its_own(world: OpenStore) -> None:
    every = await _show(world)
    early = replace(TARGET, before=START + timedelta(hours=100))
    some = await _show(world, early)
    none = await _show(world, replace(TARGET, scope="lab"))
    assert [one.counts.memories for one in (every, some, none)] == [600, 100, 0]
    assert await _show(world) == every
