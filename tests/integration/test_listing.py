"""How memories are listed: each page is read from its place on, by an index in RAM or the store."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from service.index.resident.engine import ResidentEngine
from service.memories.storing import remove, store
from service.moments import micros_of
from service.records import AHEAD_OF_ALL, QUARANTINED, Filters, Memory, Place
from service.store.database import record
from service.store.fetching import FETCH_NEWEST, fetch_newest
from service.trust.quarantine import set_tiers
from tests.effort import examples
from tests.integration.test_engines_agree import EVERYTHING, Chance, do
from tests.integration.test_written_amid import once_before
from tests.stores.asked import Asked, note_asked
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return note_asked(monkeypatch)


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path, form="bytes") as opened:
        yield opened


def engine_of(opened: OpenStore) -> ResidentEngine:
    assert isinstance(opened.engine, ResidentEngine)
    return opened.engine


def place_of(memory: Memory) -> Place:
    return Place(micros_of(memory.occurred_at), memory.id)


async def test_a_page_is_read_from_its_place_on(opened: OpenStore) -> None:
    await opened.push("A kettle.", "A crane.")
    place = {"before": 1_800_000_000_000_000, "before_id": record("memory", "x")}
    params = {**place, **Filters().params(), "limit": 50}
    plan = str(await opened.ask(f"EXPLAIN {FETCH_NEWEST.text}", **params))
    assert "IndexScan" in plan
    assert "by_moment" in plan
    # The whole of an agent's memories is read for each page where no bound is told.
    assert "LessThanEqual 1800000000000000" in plan
    assert "Sort" not in plan


async def test_so_is_a_page_of_several_agents_memories(opened: OpenStore, asked: Asked) -> None:
    # Most of them at the same moment: then the ids say which comes first.
    for agent in ("anna", "bob", "carl"):
        await opened.push(*(f"A crane of {agent}, number {n}." for n in range(5)), agent=agent)
    filters = Filters(agents=("bob", "anna"))
    asked.clear()
    first = [one.id for one in await fetch_newest(opened.db, filters, AHEAD_OF_ALL, 4)]
    place = Place(micros_of(START), first[-1])
    rest = [one.id for one in await fetch_newest(opened.db, filters, place, 100)]
    assert len(asked) == 4
    for _, params in list(asked):
        plan = str(await opened.ask(f"EXPLAIN {FETCH_NEWEST.text}", **params))
        assert ("by_moment" in plan, "Sort" in plan) == (True, False)
    both = [*await opened.ids("anna"), *await opened.ids("bob")]
    assert [*first, *rest] == sorted(both, reverse=True)


async def test_the_store_reads_no_memory_for_what_an_index_in_ram_knows(
    opened: OpenStore, asked: Asked
) -> None:
    await opened.push(*(f"A crane, number {n}." for n in range(9)), tags=["port"])
    [own] = await opened.push("A kettle.", session="s1")
    await engine_of(opened).residency.index_of("main")
    asked.clear()
    for filters, ids in (
        (Filters(session="s1"), [own]),
        (Filters(tags=("none",)), []),
        (Filters(until=START.replace(year=2020)), []),
    ):
        page = await opened.engine.fetch_newest(filters, AHEAD_OF_ALL, 50)
        assert [one.id for one in page] == ids
    assert len(await opened.engine.fetch_newest(Filters(), AHEAD_OF_ALL, 50)) == 10
    assert asked == []


@pytest.mark.parametrize("kind", ["decision", "handoff"])
async def test_of_one_kind_the_store_reads_no_other_memory(
    opened: OpenStore, asked: Asked, kind: str
) -> None:
    await opened.push("A kettle.")
    asked.clear()
    filters = Filters(kinds=(kind,), with_ended=True)
    assert await fetch_newest(opened.db, filters, Place(micros_of(START), "x"), 9) == []
    [(query, params)] = asked
    plan = str(await opened.ask(f"EXPLAIN {query.text}", **params))
    assert f"by_archived_moment, access: ['main', '{kind}', NONE] LessThanEqual 177" in plan
    assert "Sort" not in plan


@settings(max_examples=examples(12), phases=[Phase.explicit, Phase.generate])
@given(st.integers(0, 2**32 - 1))
def test_every_page_is_the_stores(seed: int) -> None:
    asyncio.run(_check_pages(Chance(seed)))


async def _check_pages(chance: Chance) -> None:
    """List by random filters while a store changes; some of it the index is not told at once."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        opened = await stack.enter_async_context(open_store(Path(folder), form="bytes"))
        tell, pushed = opened.db.after_write, chance.memories()
        await store(opened.pipeline, pushed)
        for agent in ("main", *chance.some(["second"], 1)):
            await engine_of(opened).residency.index_of(agent)
        for number, (deed, place, other) in enumerate(chance.deeds()):
            opened.db.after_write = chance.choice([tell, None])
            ids = [*await opened.ids("main"), *await opened.ids("second"), "no such memory"]
            owner = pushed[place % len(pushed)]
            await do(opened, deed, ids[place % len(ids)], replace(other, agent=owner.agent), number)
            every = await fetch_newest(opened.db, EVERYTHING, AHEAD_OF_ALL, 1000)
            places = [AHEAD_OF_ALL, *map(place_of, every), Place(micros_of(chance.moment()), "8")]
            for filters in (EVERYTHING, *(chance.question().filters for _ in range(4))):
                for limit in (1, 7, 1000):
                    before = chance.choice(places)
                    mine = await opened.engine.fetch_newest(filters, before, limit)
                    assert mine == await fetch_newest(opened.db, filters, before, limit)


@pytest.mark.parametrize("what", ["quarantined", "deleted", "moved"])
async def test_what_changes_while_a_page_is_made_is_shown_as_it_is_now(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    ids = await opened.push(*(f"A crane, number {n}." for n in range(5)))
    await engine_of(opened).residency.index_of("main")
    first, second, *_ = sorted(ids, reverse=True)
    deeds: dict[str, Callable[[], Awaitable[object]]] = {
        "quarantined": lambda: set_tiers(opened.pipeline, {"main": [first]}, QUARANTINED),
        "deleted": lambda: remove(opened.pipeline, "main", first),
        "moved": lambda: opened.ask(
            "UPDATE $one SET occurred_at = $at",
            one=record("memory", first),
            at=START.replace(year=2020),
        ),
    }

    async def deed() -> None:
        await deeds[what]()
        opened.db.written.add([("memory", first)])

    once_before(monkeypatch, opened.engine, "fetch", deed)
    page = await opened.engine.fetch_newest(Filters(), AHEAD_OF_ALL, 3)
    assert [one.id for one in page] == sorted(ids, reverse=True)[1:4]
    assert page == await fetch_newest(opened.db, Filters(), AHEAD_OF_ALL, 3)
    assert second == page[0].id


async def _squeeze(engine: ResidentEngine) -> None:
    engine.residency.budget_bytes = 1
    await engine.residency.rebuild(["main"])


async def _spoil(engine: ResidentEngine) -> None:
    index = await engine.residency.index_of("main")
    index.leave_out("memory", index.keys[0])


async def _doubt(engine: ResidentEngine) -> None:
    index = await engine.residency.index_of("main")
    index.remove_memory(index.keys[0])
    engine.residency.doubts["main"] += 1


async def _hold_nothing(engine: ResidentEngine) -> None:
    assert engine.residency.residents() == []


@pytest.mark.parametrize("lacking", [_squeeze, _spoil, _doubt, _hold_nothing])
async def test_what_the_index_lacks_is_listed_all_the_same(
    opened: OpenStore,
    monkeypatch: pytest.MonkeyPatch,
    lacking: Callable[[ResidentEngine], Awaitable[None]],
) -> None:
    monkeypatch.setattr("service.index.resident.loading._PAGE_MEMORIES", 2)
    ids = await opened.push(*(f"A crane, number {n}." for n in range(8)))
    engine = engine_of(opened)
    held = engine.residency.residents()
    assert held == []
    await lacking(engine)
    held = engine.residency.residents()
    page = await engine.fetch_newest(Filters(), AHEAD_OF_ALL, 50)
    assert [one.id for one in page] == sorted(ids, reverse=True)
    # No index is loaded for a page.
    assert engine.residency.residents() == held
