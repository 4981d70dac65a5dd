"""Consolidation on a store itself: races, stores from before, many memories at once."""

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.consolidate import executing, grouping, planning
from service.consolidate.consolidating import Consolidation, consolidate
from service.consolidate.grouping import GroupKey, Wall
from service.consolidate.planning import Target
from service.consolidate.reading import CAPACITIES, capacities
from service.consolidate.revising import sources_of
from service.consolidate.shapes import Consolidated
from service.consolidate.summary.summaries import summarise
from service.consolidate.undoing import undo_run, undo_summary
from service.errors import EmbedderUnavailable, MemoryNotFound, PlanNotFound, PlanStale, StaleRead
from service.inference.model import Made
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.records import QUARANTINED
from service.store.queries import Query
from service.store.vector_forms import VectorForm
from service.trust.quarantine import set_tiers
from service.writing.embed_later import embed_pending
from tests.longest_turn import longest_turn
from tests.stores.open_store import NO_DIGEST, START, OpenStore, open_store

pytestmark = pytest.mark.anyio
TARGET = Target("main", None, START + timedelta(days=900))
FORMS: tuple[VectorForm, ...] = ("array", "bytes")


async def _push(world: OpenStore, texts: list[str], first: datetime = START) -> list[str]:
    pushed = [
        Pushed(text, kind="daily_log", occurred_at=first + timedelta(hours=n), source_ref=text)
        for n, text in enumerate(texts)
    ]
    ids, _ = await store(world.pipeline, pushed)
    return ids


async def _push_apart(world: OpenStore, texts: list[str]) -> None:
    """Store logs of as many weeks, so that nothing but their vectors joins them."""
    for n, text in enumerate(texts):
        at, name = START + timedelta(days=8 * n), f"s{n}"
        log = Pushed(text, kind="daily_log", occurred_at=at, session=name, source_ref=name)
        await store(world.pipeline, [log])


async def _run(world: OpenStore, **asked: Any) -> Consolidated:
    return await consolidate(world.pipeline, Consolidation(TARGET, dry_run=False, **asked))


async def _write(world: OpenStore, text: str) -> None:
    await world.db.run(Query("own", text, frozenset(), writes=True))


def _write_while_embedding(world: OpenStore, text: str) -> None:
    """Let a statement be written each time that summaries are embedded."""
    embed = world.vectors.embed_each

    async def slowly(texts: Any) -> Any:
        await _write(world, text)
        return await embed(texts)

    world.vectors.embed_each = slowly  # type: ignore[assignment, method-assign]


@pytest.mark.parametrize(
    "meanwhile",
    [
        "UPDATE memory SET archived_at = time::now() WHERE title = ''",
        "UPDATE memory SET pinned = true WHERE title = ''",
        "UPDATE memory SET content_hash = 'other' WHERE title = ''",
        "UPDATE memory SET origin = 'untrusted' WHERE title = ''",
        "UPDATE memory SET tags = ['secret'] WHERE title = ''",
        "UPDATE memory SET title = 'Harbour' WHERE title = ''",
        "UPDATE memory SET importance = 0.9 WHERE title = ''",
    ],
)
async def test_a_memory_that_changes_while_its_summary_is_made_stops_the_group(
    tmp_path: Path, meanwhile: str
) -> None:
    async with open_store(tmp_path) as world:
        await _push(world, ["Osprey-2 came.", "Osprey-2 went."])
        _write_while_embedding(world, meanwhile)
        with pytest.raises(StaleRead):
            await _run(world)
        kinds = await world.ask("SELECT VALUE kind FROM memory")
        assert kinds == ["daily_log", "daily_log"]
        assert await world.ask("SELECT VALUE id FROM derived_from") == []


async def test_a_source_that_changes_while_another_joins_stops_the_group(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await _push(world, ["Osprey-2 came.", "Osprey-2 went."])
        await _run(world)
        before = await world.ask("SELECT VALUE content FROM memory WHERE kind = 'summary'")
        await _push(world, ["Osprey-2 is back."], START + timedelta(days=2))
        _write_while_embedding(
            world, "UPDATE memory SET content_hash = 'x' WHERE content = 'Osprey-2 came.'"
        )
        with pytest.raises(StaleRead):
            await _run(world)
        assert await world.ask("SELECT VALUE content FROM memory WHERE kind = 'summary'") == before


@pytest.mark.parametrize(
    "put_away",
    [
        "UPDATE memory SET archived_at = time::now() WHERE kind = 'summary'",
        "UPDATE memory SET pinned = true WHERE kind = 'summary'",
        "UPDATE memory SET valid_until = time::now() WHERE kind = 'summary'",
    ],
)
async def test_a_summary_that_is_put_away_while_another_log_joins_stops_the_group(
    tmp_path: Path, put_away: str
) -> None:
    async with open_store(tmp_path) as world:
        await _push(world, ["Osprey-2 came.", "Osprey-2 went."])
        await _run(world)
        await _push(world, ["Osprey-2 is back."], START + timedelta(days=2))
        _write_while_embedding(world, put_away)
        with pytest.raises(StaleRead):
            await _run(world)
        left = "SELECT VALUE content FROM memory WHERE kind != 'summary' AND !consolidated_into"
        assert await world.ask(left) == ["Osprey-2 is back."]


async def test_a_store_from_before_there_were_pins_is_consolidated(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await _push(world, ["Osprey-2 came.", "Osprey-2 went."])
        await _write(
            world, "REMOVE FIELD pinned ON memory; REMOVE INDEX by_archived_moment ON memory"
        )
        await _write(world, "UPDATE memory UNSET pinned RETURN NONE")
        await world.db.set_meta("schema", NO_DIGEST)
        assert await world.ask("SELECT VALUE pinned FROM memory") == [None, None]
    async with open_store(tmp_path) as world:
        done = await _run(world)
        assert done.counts.memories == 2
        await undo_run(world.pipeline, "main", done.run or "", pin=False)
        [key, _] = await world.ids()
        memory = await find(world.db, ["main"], key)
        await change_memory(world.pipeline, memory, {"importance": 0.9})
        assert await world.complaints() == []


@pytest.mark.parametrize("form", FORMS)
async def test_many_memories_in_many_groups(tmp_path: Path, form: VectorForm) -> None:
    texts = [f"Number {n}: Osprey-{n % 40} saw {n * 7} birds. Nothing else." for n in range(400)]
    async with open_store(tmp_path, form) as world:
        keys = await _push(world, texts)
        shown = await consolidate(world.pipeline, Consolidation(TARGET, limit=1000))
        asked = Consolidation(TARGET, plan=shown.plan, dry_run=False, limit=1000)
        done = await consolidate(world.pipeline, asked)
        assert done.groups == shown.groups
        assert sorted(source.id for group in done.groups for source in group.sources) == sorted(
            keys
        )
        assert await world.complaints() == []
        undone = await undo_run(world.pipeline, "main", done.run or "", pin=False)
        assert sorted(undone.restored) == sorted(keys)
        assert await world.complaints() == []


async def test_a_large_group_is_cut_and_filled_up(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await _push(world, [f"Osprey-2 saw {n} birds." for n in range(130)])
        done = await _run(world)
        assert sorted(len(group.sources) for group in done.groups) == [50, 80]
        await _push(
            world, [f"Osprey-2 saw {n + 300} cats." for n in range(50)], START + timedelta(days=9)
        )
        again = await _run(world)
        assert sorted((group.action, len(group.sources)) for group in again.groups) == [
            ("create", 27),
            ("revise", 73),
        ]
        assert await world.complaints() == []


async def test_a_part_that_is_gone_leaves_the_others_as_full_as_they_were(tmp_path: Path) -> None:
    texts = [
        f"Osprey-2 saw {n * 7} birds, then {n * 11}. Nothing else to tell." for n in range(250)
    ]
    async with open_store(tmp_path) as world:
        await _push(world, texts)
        made = sorted((await _run(world)).groups, key=lambda group: group.occurred_at)
        assert len(made) > 2
        await undo_summary(world.pipeline, "main", made[0].id, pin=True)
        full = {group.id: len(group.sources) for group in made[1:]}
        later = [f"Osprey-2 went home at {n}. It was late." for n in range(250)]
        await _push(world, later, START + timedelta(days=30))
        asked = [0]
        run = world.db.run

        async def counting(query: Query, **params: Any) -> Any:
            asked[0] += query is CAPACITIES
            return await run(query, **params)

        world.db.run = counting  # type: ignore[method-assign]
        again = await _run(world, limit=1000)
        assert again.counts.memories == len(later)
        sizes = {group.id: len(group.sources) for group in again.groups if group.id in full}
        assert sum(sizes.values()) - sum(full[key] for key in sizes) < 20
        # Not once for each part.
        assert asked[0] < 12


async def test_what_a_writer_of_before_called_the_services_own_is_treated_as_his(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as world:
        [claimed] = await world.push("A claim.", source_kind="consolidation")
        with pytest.raises(MemoryNotFound, match="no summary"):
            await undo_summary(world.pipeline, "main", claimed, pin=False)
        assert claimed in await world.ids()
        [read] = await world.push("Read from nowhere.", source_kind="document")
        memory = await find(world.db, ["main"], read)
        await change_memory(world.pipeline, memory, {"text": "His own."})
        assert (await find(world.db, ["main"], read)).content == "His own."


async def test_a_short_tag_that_nobody_has_any_more_takes_no_plan_along(tmp_path: Path) -> None:
    """Its letters stand in many an id."""
    async with open_store(tmp_path) as world:
        [other] = await world.push("Nothing about birds.", tags=("db",))
        texts = [f"Number {n}: the Osprey-{n % 20} saw {n * 7} birds." for n in range(100)]
        await _push(world, texts)
        shown = await consolidate(world.pipeline, Consolidation(TARGET))
        assert all(group.ref != "concept:db" for group in shown.groups)
        await remove(world.pipeline, "main", other)
        assert shown.plan
        done = await _run(world, plan=shown.plan, limit=3)
        assert done.counts.groups == shown.counts.groups
        [other] = await world.push("No birds.", tags=("fa",))
        await remove(world.pipeline, "main", other)
        page = Consolidation(TARGET, cursor=done.next_cursor, limit=3)
        assert len((await consolidate(world.pipeline, page)).groups) == 3


async def test_a_later_page_of_a_plan_makes_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "_TRANSACTION_MEMORIES", 9)
    made = []

    def summarised(key: str, *others: Any) -> Any:
        made.append(key)
        # One that holds nothing to tell is counted, and shown on no page.
        return None if key == silent else summarise(key, *others)

    monkeypatch.setattr(executing, "summarise", summarised)
    async with open_store(tmp_path) as world:
        names = [f"Osprey-{n}" for n in range(10, 40)]
        texts = [f"{name} {word}" for name in names for word in ("came.", "went.")]
        await _push(world, texts)
        silent = (await planning.make_plan(world.db, TARGET, 500)).groups[8].key
        whole = await consolidate(world.pipeline, Consolidation(TARGET, limit=1000))
        page = await consolidate(world.pipeline, Consolidation(TARGET, limit=7))
        assert (len(whole.groups), whole.counts.silent) == (29, 1)
        # The counts of the first are known; of the second's groups those are made that are shown.
        assert len(made) <= 45
        groups, sizes = page.groups, []
        while page.next_cursor:
            made.clear()
            asked = Consolidation(TARGET, limit=7, cursor=page.next_cursor)
            page = await consolidate(world.pipeline, asked)
            assert (page.counts, page.plan) == (whole.counts, whole.plan)
            groups += page.groups
            sizes.append(len(made))
        assert groups == whole.groups
        # Three groups a transaction, and one ahead.
        assert max(sizes) <= 15


async def test_logs_that_came_after_the_plan_was_shown_are_done_by_the_next_run(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as world:
        await _push(world, ["Osprey-2 came.", "Osprey-2 went."])
        shown = await consolidate(world.pipeline, Consolidation(TARGET))
        await _push(world, ["Heron-7 came.", "Heron-7 went."])
        assert (await _run(world, plan=shown.plan)).counts.groups == 1
        assert (await _run(world)).counts.groups == 1


async def test_logs_that_come_amid_a_run_are_done_by_the_next_one(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await _push(world, ["Osprey-2 came.", "Osprey-2 went."])
        embed, late = world.vectors.embed_each, ["Heron-7 came.", "Heron-7 went."]

        async def slowly(texts: Any) -> Any:
            if late:
                await _push(world, [late.pop(), late.pop()])
            return await embed(texts)

        world.vectors.embed_each = slowly  # type: ignore[assignment, method-assign]
        assert (await _run(world)).counts.groups == 1
        assert (await _run(world)).counts.groups == 1


async def test_near_duplicates_are_found_once_they_have_vectors(tmp_path: Path) -> None:
    text = "the kettle was put on and the tea was poured for all of us here"
    async with open_store(tmp_path) as world:
        embed = world.vectors.embed_some

        async def away(*_: Any) -> Any:
            return Made([], EmbedderUnavailable("away"))

        world.vectors.embed_some = away  # type: ignore[assignment, method-assign]
        await _push_apart(world, [text] * 5)
        assert (await _run(world)).counts.alone == 5
        world.vectors.embed_some = embed  # type: ignore[method-assign]
        assert await embed_pending(world.pipeline) == 5
        assert (await _run(world)).counts.memories == 5


async def test_what_was_set_on_a_summary_stays_when_it_is_told_anew(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        texts = [f"The [[Osprey]] saw {n} ships." for n in (3, 5, 7)]
        first, *_ = await _push(world, texts)
        [summary] = [group.id for group in (await _run(world)).groups]
        until = START + timedelta(days=9000)
        fields = {"pinned": True, "valid_until": until}
        made = await find(world.db, ["main"], summary)
        await change_memory(world.pipeline, made, fields)
        await remove(world.pipeline, "main", first)
        anew = await find(world.db, ["main"], summary)
    assert anew.content != made.content
    assert (anew.pinned, anew.valid_until) == (True, until)


async def test_a_summary_and_its_sources_go_behind_another_wall_together(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        keys = await _push(world, [f"The [[Osprey]] saw {n} ships." for n in (3, 5)])
        [summary] = [group.id for group in (await _run(world)).groups]
        await set_tiers(world.pipeline, {"main": [*keys, summary]}, QUARANTINED)
        assert (await find(world.db, ["main"], summary)).trust_tier == QUARANTINED
        assert (await sources_of(world.db, [summary]))[summary].keys() == set(keys)
        # Without its summary a source leaves it, and with both of them it goes.
        await set_tiers(world.pipeline, {"main": keys}, "trusted")
        with pytest.raises(MemoryNotFound):
            await find(world.db, ["main"], summary)


async def test_near_duplicates_are_one_group_however_long_they_are(tmp_path: Path) -> None:
    text = " ".join(f"the kettle {n} was put on and the tea was poured" for n in range(30))
    async with open_store(tmp_path) as world:
        await _push_apart(world, [text] * 6)
        [group] = (await _run(world)).groups
        assert (len(group.sources), group.ref.partition(":")[0]) == (6, "likeness")


async def test_a_plan_for_one_scope_leaves_concepts_as_they_are(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        for tag in ("harbour camera", "harbour cameras"):
            await world.push(f"It fell, said who saw the {tag}.", tags=(tag,), scope="app")
        merged = {}
        for scope in ("app", None):
            asked = Consolidation(Target("main", scope, TARGET.before))
            merged[scope] = [one.id for one in (await consolidate(world.pipeline, asked)).concepts]
    assert merged == {"app": [], None: ["harbour_camera"]}


async def test_a_run_looks_once_more_at_what_it_left_and_the_next_ones_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, plan_groups = 0, planning._plan_groups

    async def counted(*args: Any) -> Any:
        nonlocal looked
        looked += 1
        return await plan_groups(*args)

    monkeypatch.setattr(planning, "_plan_groups", counted)
    async with open_store(tmp_path) as world:
        await _push(world, ["Osprey-2 came.", "Osprey-2 went."])
        # Of these nothing can be told: whoever planned them each time would never be done.
        await _push(world, ["---", "***"], START + timedelta(days=9))
        first = await _run(world)
        assert (first.counts.groups, first.counts.silent) == (1, 1)
        assert looked == 2
        assert [(await _run(world)).counts.groups for _ in range(3)] == [0, 0, 0]
        assert looked == 2


async def test_a_run_that_a_change_ends_tells_how_to_take_back_what_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "_TRANSACTION_MEMORIES", 6)
    texts = [f"Number {n}: Osprey-{n % 10} saw {n * 7} birds." for n in range(40)]
    async with open_store(tmp_path) as world:
        await _push(world, texts)
        embed, calls = world.vectors.embed_each, 0

        async def changing(asked: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == 4:
                await _write(world, "UPDATE memory SET pinned = true WHERE archived_at IS NONE")
            return await embed(asked)

        monkeypatch.setattr(world.vectors, "embed_each", changing)
        with pytest.raises(PlanStale) as stale:
            await _run(world)
        made = await world.ask("SELECT VALUE id FROM memory WHERE kind = 'summary'")
        assert isinstance(made, list)
        assert made
        [run] = re.findall(r"[0-9a-f]{32}", stale.value.detail)
        undone = await undo_run(world.pipeline, "main", run, pin=False)
        assert sorted(undone.removed) == sorted(made)


async def test_what_is_kept_of_a_run_goes_with_its_plan_and_the_run_can_be_undone(
    tmp_path: Path,
) -> None:
    kept = Query(
        "own", 'SELECT VALUE id[2] FROM meta:["consolidated"]..["consolidated", ..]', frozenset(),
        writes=False,
    )  # fmt: skip
    async with open_store(tmp_path) as world:
        runs = []
        for night in range(3):
            texts = [f"Osprey-{night}{n} {went}." for n in range(3) for went in ("came", "went")]
            await _push(world, texts)
            runs.append(await _run(world, limit=1))
            assert await world.db.run(kept) == [runs[-1].run]
            page = await consolidate(
                world.pipeline, Consolidation(TARGET, cursor=runs[-1].next_cursor)
            )
            assert (page.counts, len(page.groups)) == (runs[-1].counts, 2)
            await _write(world, "UPDATE plan SET created_at = time::now() - 8d")
        with pytest.raises(PlanNotFound, match="undoing it is possible"):
            await consolidate(world.pipeline, Consolidation(TARGET, cursor=runs[0].next_cursor))
        for one in runs:
            undone = await undo_run(world.pipeline, "main", one.run or "", pin=False)
            assert len(undone.restored) == 6


async def test_the_places_of_many_groups_hold_up_nobody(tmp_path: Path) -> None:
    walls = Wall(None, "trusted", "normal")
    groups = [GroupKey(walls, f"concept:number_{n}") for n in range(100_000)]
    async with open_store(tmp_path) as world, longest_turn() as longest:
        assert await capacities(world.db, "main", groups) == {}
    assert longest[0] < 0.1
