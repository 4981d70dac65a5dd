"""One budget of RAM: what dictionaries hold, indexes do without."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from service.concepts.merging import merge_concepts, variants_of
from service.index.resident import apply_commits as taking
from service.index.resident import left_out, loading
from service.index.resident import residency as residencies
from service.index.resident.agent_index import AgentIndex
from service.index.resident.apply_commits import apply_commits
from service.index.resident.engine import ResidentEngine
from service.index.resident.residency import Residency
from service.memories.changing import change_memory
from service.memories.storing import find, remove
from service.records import Filters
from tests.stores.open_store import open_store
from tests.stores.resident_index import PLENTY_BYTES, memory_row, write_memories

pytestmark = pytest.mark.anyio


async def test_indexes_leave_when_dictionaries_need_their_room(tmp_path: Path) -> None:
    dictionaries = 0
    async with open_store(tmp_path, form="bytes") as opened:
        rows = [memory_row(f"{agent}{n}", "word", agent=agent) for agent in "abc" for n in range(9)]
        await write_memories(opened.db, rows)
        residency = Residency(opened.db, PLENTY_BYTES, None, lambda: dictionaries)
        for agent in "ab":
            await residency.index_of(agent)
        both = residency.state().bytes
        assert residency.residents() == ["a", "b"]
        # What is packed differs by a few bytes.
        dictionaries = PLENTY_BYTES - both - 99
        assert residency.state().bytes == PLENTY_BYTES - 99
        await residency.index_of("c")
        assert residency.residents() == ["b", "c"]


async def test_a_merge_reaches_the_memories_that_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_PAGE_MEMORIES", 2)
    monkeypatch.setattr(left_out, "_PAGE_MEMORIES", 2)
    async with open_store(tmp_path, form="bytes") as opened:
        assert isinstance(opened.engine, ResidentEngine)
        residency = opened.engine.residency
        await opened.read("one.md", "An [[embedding server]] is up.\n")
        await opened.read("two.md", "Two [[embedding servers]] are up.\n")
        await opened.read("three.md", "Of an embedding server.\n")
        await opened.push(*(f"Nothing of that, {n}." for n in range(4)))
        residency.budget_bytes = 1
        await residency.rebuild(["main"])
        assert (await residency.index_of("main")).beyond_budget
        [merged] = await merge_concepts(
            opened.pipeline, "main", await variants_of(opened.db, "main"), "r1"
        )
        assert await opened.memories_of(merged.slug) == []
        assert len(await opened.memories_of(merged.into)) == 3
        assert await opened.complaints() == []


async def test_the_service_counts_its_dictionaries(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        assert opened.pipeline.dictionaries.bytes == 0
        await opened.push("We met at the harbour.", title="Blue Harbour")
        before = opened.pipeline.dictionaries.bytes
        assert before > 0
        await opened.push("We met at the mill.", title="Old Mill", agent="scout")
        assert opened.pipeline.dictionaries.bytes > before


async def test_a_write_is_taken_into_no_index_but_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a write costs must not grow with the agents in RAM."""
    seen: list[str] = []

    def noted(index: AgentIndex, *rest: Any) -> bool:
        seen.append(index.agent)
        return apply_commits(index, *rest)

    async with open_store(tmp_path, form="bytes") as opened:
        agents = [f"a{n}" for n in range(8)]
        for agent in agents:
            await opened.push(f"The kettle of {agent} is old.", agent=agent)
        residency = Residency(opened.db, PLENTY_BYTES, None)
        for agent in agents:
            await residency.index_of(agent)
        await residency.follower.catch_up()
        monkeypatch.setattr(taking, "apply_commits", noted)
        await opened.push("A bell rings in the harbour.", agent="a3")
        await residency.follower.catch_up()
        assert set(seen) == {"a3"}
        index = await residency.index_of("a3")
        assert len(index.by_text("bell", Filters(agents=("a3",)), 5)) == 1


async def test_agents_that_own_nothing_are_not_held(tmp_path: Path) -> None:
    async with open_store(tmp_path, form="bytes") as opened:
        await opened.push("The kettle is old.")
        residency = Residency(opened.db, PLENTY_BYTES, None, most_agents=2)
        residency.expect(["configured"])
        for agent in ("main", "ghost", "configured", "ghost"):
            assert (await residency.index_of(agent)).agent == agent
        assert residency.residents() == ["main", "configured"]
        await residency.rebuild(["ghost"])
        await residency.take_census("ghost")
        assert residency.state().drift == {}
        await opened.push("A bell rings.", agent="ghost")
        assert (await residency.index_of("ghost")).memories == 1
        assert residency.residents() == ["configured", "ghost"]
        assert residency.evicted == 1


@pytest.mark.parametrize("share", [0.25, 2.0], ids=["scanned", "picked"])
async def test_long_texts_are_left_out_as_many_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    """How much an agent takes is known only as its texts are read."""
    monkeypatch.setattr(loading, "_SCAN_SHARE", share)
    monkeypatch.setattr(loading, "_PAGE_MEMORIES", 20)
    chance = random.Random(1)
    async with open_store(tmp_path, form="bytes") as opened:
        texts = (" ".join(f"w{chance.randrange(200_000)}" for _ in range(800)) for _ in range(200))
        rows = [memory_row(f"m{n:04}", text) for n, text in enumerate(texts)]
        await write_memories(opened.db, rows)
        residency = Residency(opened.db, 500_000, None)
        index = await residency.index_of("main")
        assert index.bytes < 2 * residency.budget_bytes
        assert 0 < index.memories < 200
        assert index.memories + index.beyond_budget == 200
        assert index.holds(max((row["occurred_at"], row["id"]) for row in rows)[1])


@pytest.mark.parametrize("is_all_left_out", [True, False])
async def test_what_did_not_fit_comes_in_once_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_all_left_out: bool
) -> None:
    monkeypatch.setattr(loading, "_PAGE_MEMORIES", 10)
    monkeypatch.setattr(residencies, "_WATCH_SECONDS", 0.02)
    async with open_store(tmp_path, form="bytes") as opened:
        assert isinstance(opened.engine, ResidentEngine)
        ids = await opened.push(*(f"Note {n} of the harbour." for n in range(90)))
        residency = opened.engine.residency
        residency.expect(["main"])
        residency.budget_bytes = 55_000
        await residency.rebuild(["main"])
        index = await residency.index_of("main")
        assert 0 < index.beyond_budget < 90
        out = [key for key in ids if not index.holds(key)]
        gone = out if is_all_left_out else [key for key in ids if key != out[0]]
        watching = asyncio.create_task(residency.run())
        try:
            for key in gone:
                await remove(opened.pipeline, "main", key)
            async with asyncio.timeout(30):
                while residency.caveat("main"):  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.02)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        index = await residency.index_of("main")
        assert index.memories == 90 - len(gone)
        assert is_all_left_out or index.holds(out[0])


async def test_what_did_not_fit_does_not_come_in_by_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A patch tells of the memory alone: its vector and its steps stay where they are."""
    monkeypatch.setattr(loading, "_PAGE_MEMORIES", 10)
    async with open_store(tmp_path, form="bytes") as opened:
        assert isinstance(opened.engine, ResidentEngine)
        ids = await opened.push(*(f"Note {n} of the harbour." for n in range(90)))
        residency = opened.engine.residency
        residency.budget_bytes = 55_000
        await residency.rebuild(["main"])
        index = await residency.index_of("main")
        out = [key for key in ids if not index.holds(key)]
        counts = index.counts()
        for change in ({"tags": ["old"]}, {"text": "Note of the mill."}):
            await change_memory(opened.pipeline, await find(opened.db, ["main"], out[0]), change)
            await residency.follower.catch_up()
            assert not index.holds(out[0])
            # A tag's concept is new, and its name is known whether or not its memories are held.
            assert index.counts() | {"concept": 0} == counts
        [new] = await opened.push("A bell rings in the harbour.")
        await residency.follower.catch_up()
        assert index.holds(new)
        assert index.counts()["embedding"] == counts["embedding"] + 1
        await remove(opened.pipeline, "main", out[0])
        await residency._stale()
        assert index.beyond_budget == len(out) - 1


async def test_an_index_that_outgrew_its_room_leaves_the_oldest_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_PAGE_MEMORIES", 10)
    monkeypatch.setattr(residencies, "_WATCH_SECONDS", 0.02)
    async with open_store(tmp_path, form="bytes") as opened:
        assert isinstance(opened.engine, ResidentEngine)
        [first] = await opened.push("The first note of the harbour.")
        residency = opened.engine.residency
        residency.expect(["main"])
        residency.budget_bytes = 55_000
        watching = asyncio.create_task(residency.run())
        try:
            ids = [(await opened.push(f"Note {n} of the harbour."))[0] for n in range(150)]
            async with asyncio.timeout(30):
                while (await residency.index_of("main")).holds(first):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        index = await residency.index_of("main")
        assert index.holds(ids[-1])
        assert index.bytes < 1.5 * residency.budget_bytes
        assert index.beyond_budget
