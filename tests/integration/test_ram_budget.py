"""One budget of RAM: what dictionaries hold, indexes do without."""

from pathlib import Path
from typing import Any

import pytest

from service.concepts.merging import merge_concepts, variants_of
from service.index.resident import follow, left_out, loading
from service.index.resident.agent_index import AgentIndex
from service.index.resident.engine import ResidentEngine
from service.index.resident.follow import apply_commits
from service.index.resident.residency import Residency
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
        monkeypatch.setattr(follow, "apply_commits", noted)
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
