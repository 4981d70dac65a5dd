"""The census counts by pages, and finds what counting row by row finds."""

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest

from service.index.resident import census, loading
from service.index.resident import residency as residencies
from service.index.resident.census import CENSUS_OF_MEMORIES, CENSUS_PAGE, find_drift
from service.memories.storing import remove, store
from service.store.database import Database
from service.store.queries import Query
from tests.integration.test_engines_agree import CONCEPTS, Chance, do
from tests.stores.asked import note_asked, queries_of
from tests.stores.open_store import open_store
from tests.stores.resident_index import memory_row, resident_engine, run

pytestmark = pytest.mark.anyio
AGENTS: Final = ("main", "second")
COUNTED_ROW_BY_ROW: Final = """RETURN {
    memory: array::len((SELECT VALUE id FROM memory WHERE agent = $agent)),
    embedding: array::len((SELECT VALUE id FROM memory WHERE agent = $agent AND is_embedded)),
    concept: array::len((SELECT VALUE id FROM concept WHERE agent = $agent)),
    references: math::sum((SELECT VALUE array::len(
        type::record("references", record::id(id)).concepts ?? [])
        FROM memory WHERE agent = $agent)),
    related_to: array::len((SELECT VALUE id
        FROM type::record("related_to", [$agent]..[$agent, ..]))),
    is_a: array::len((SELECT VALUE id FROM type::record("is_a", [$agent]..[$agent, ..]))),
    follows: math::sum((SELECT VALUE array::len(
        type::record("follows", record::id(id)).earlier ?? []) FROM memory WHERE agent = $agent))
}"""


@pytest.fixture(params=[0.0, 2.0], ids=["by pages", "by its rows"])
def is_paged(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(loading, "_SCAN_SHARE", request.param)
    monkeypatch.setattr(census, "_PAGE_MEMORIES", 7)
    return float(request.param) < 1


@pytest.mark.parametrize("seed", range(2))
async def test_it_counts_what_the_store_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_paged: bool, seed: int
) -> None:
    chance = Chance(seed)
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(open_store(tmp_path))
        resident = await stack.enter_async_context(resident_engine(opened.db))
        await opened.declare(CONCEPTS)
        pushed = [*chance.memories(), *(chance.memory(AGENTS) for _ in range(10))]
        await store(opened.pipeline, pushed)
        for number, (deed, place, other) in enumerate(chance.deeds()):
            owner, ids = pushed[place % len(pushed)], await opened.ids()
            await do(opened, deed, ids[place % len(ids)], replace(other, agent=owner.agent), number)
        asked = note_asked(monkeypatch)
        for agent in AGENTS:
            index = await resident.residency.index_of(agent)
            assert await resident.residency.take_census(agent) == {}
            index.graph.edges["follows"].count += 2
            with index.lock:
                index.remove_memory(next(key for key in index.rows if index.holds(key)))
            stored: Any = await opened.ask(COUNTED_ROW_BY_ROW, agent=agent)
            held = {"embedding": len(index.unfit), **index.counts()}
            assert await resident.residency.take_census(agent) == {
                table: held[table] - n for table, n in stored.items() if held[table] != n
            }
        queries = queries_of(asked)
        assert (CENSUS_PAGE in queries, CENSUS_OF_MEMORIES in queries) == (is_paged, not is_paged)


async def test_ids_that_are_no_texts_are_counted(tmp_path: Path, is_paged: bool) -> None:
    async with open_store(tmp_path) as opened, resident_engine(opened.db) as resident:
        await opened.push("A kettle.", "A crane.")
        assert await resident.residency.take_census("main") == {}
        for key in (["odd", 1], -3):
            row = memory_row("x", "odd", is_embedded=is_paged) | {"id": key}
            await run(opened.db, "INSERT INTO memory $row RETURN NONE", row=row)
        found = await resident.residency.take_census("main")
        assert found == {"memory": -2} | ({"embedding": -2} if is_paged else {})


async def test_what_comes_and_goes_between_two_pages_is_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "_PAGE_MEMORIES", 7)
    async with open_store(tmp_path) as opened, resident_engine(opened.db) as resident:
        ids = sorted(await opened.push(*(f"number {n}" for n in range(30))))
        run_, pages = Database.run, list[str]()

        async def amid(db: Database, query: Query, **params: Any) -> Any:
            answer = await run_(db, query, **params)
            if query is CENSUS_PAGE:
                pages.append(params["after"])
                if len(pages) == 1:
                    # Counted on this page; what comes stands on a later one.
                    await remove(opened.pipeline, "main", ids[0])
                    while (late := await opened.push(f"late {uuid4()}"))[0] < ids[7]:
                        await remove(opened.pipeline, "main", late[0])
            return answer

        monkeypatch.setattr(Database, "run", amid)
        assert await resident.residency.take_census("main") == {}
        assert pages.count(pages[0]) == 2


async def test_an_index_that_is_exchanged_while_it_is_counted_leaves_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as opened, resident_engine(opened.db) as resident:
        await opened.push("A kettle.")
        await resident.residency.index_of("main")

        async def amid(*asked: Any) -> Any:
            await resident.residency.rebuild(["main"])
            await opened.push("A crane.")
            return await find_drift(*asked)

        monkeypatch.setattr(residencies, "find_drift", amid)
        assert await resident.residency.take_census("main") == {}
        assert resident.residency.state().drift == {}
