"""/stats and /concepts: the index in RAM tells what the store would, and reads no rows for it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import pytest

from service.concepts.listing import ROWS
from service.concepts.route import ConceptPage, get_concepts
from service.index.resident.residency import Residency
from service.memories.storing import store
from service.operate.stats import BESIDE_THE_INDEX, get_stats
from tests.integration.test_engines_agree import CONCEPTS, Chance, do
from tests.servers.outer_embeddings import Answer
from tests.stores.asked import Asked, note_asked, queries_of
from tests.stores.open_store import OpenStore, open_store
from tests.stores.resident_index import memory_row, resident_engine, run

pytestmark = pytest.mark.anyio
AGENTS: Final = ("main", "second")
# How the store was asked before any index was.
COUNTED_ROW_BY_ROW: Final = """RETURN {
    memories: array::len((SELECT VALUE id FROM memory WHERE agent = $agent)),
    kinds: (SELECT kind, count() AS memories FROM memory WHERE agent = $agent GROUP BY kind),
    archived: array::len((SELECT VALUE id FROM memory
        WHERE agent = $agent AND archived_at IS NOT NONE)),
    without_vector: array::len((SELECT VALUE id FROM memory
        WHERE agent = $agent AND is_embedded = false)),
    documents: array::len((SELECT VALUE id FROM document WHERE agent = $agent)),
    concepts: array::len((SELECT VALUE id FROM concept WHERE agent = $agent)),
    references: math::sum((SELECT VALUE array::len(
        type::record("references", record::id(id)).concepts ?? [])
        FROM memory WHERE agent = $agent)),
    related_to: array::len((SELECT VALUE id
        FROM type::record("related_to", [$agent]..[$agent, ..]))),
    is_a: array::len((SELECT VALUE id FROM is_a WHERE in.agent = $agent)),
    follows: math::sum((SELECT VALUE array::len(
        type::record("follows", record::id(id)).earlier ?? []) FROM memory WHERE agent = $agent)),
    jobs_waiting: array::len((SELECT VALUE id FROM job
        WHERE state IN ["queued", "running"] AND request.agent = $agent))
}"""


async def counted(opened: OpenStore, agent: str) -> Any:
    row: Any = await opened.ask(COUNTED_ROW_BY_ROW, agent=agent)
    kinds = [(one["kind"], one["memories"]) for one in row["kinds"]]
    return {"agent": agent, **row, "kinds": kinds}


async def stats(opened: OpenStore, residency: Residency | None, agent: str) -> dict[str, Any]:
    told = asdict(await get_stats(opened.db, residency, agent))
    return told | {"kinds": list(told["kinds"].items())}


async def check_numbers(opened: OpenStore, residency: Residency, agent: str) -> None:
    expected = await counted(opened, agent)
    assert await stats(opened, residency, agent) == expected
    assert await stats(opened, None, agent) == expected


async def check_pages(opened: OpenStore, residency: Residency, agent: str) -> None:
    for part in (None, "G", "gpu", "er", "CAFÉ", "東", "%", "-", "no such name"):
        for limit in (1, 3, 1000):
            pages = list[ConceptPage]()
            while not pages or pages[-1].next_cursor:
                cursor = pages[-1].next_cursor if pages else None
                page = await get_concepts(opened.db, residency, agent, part, limit, cursor)
                assert page == await get_concepts(opened.db, None, agent, part, limit, cursor)
                pages.append(page)
            ids = [concept.id for page in pages for concept in page.concepts]
            assert len(ids) == len({*ids})


@pytest.mark.parametrize("seed", range(3))
async def test_an_index_counts_as_the_store_does(tmp_path: Path, seed: int) -> None:
    chance = Chance(seed)
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(open_store(tmp_path))
        resident = await stack.enter_async_context(resident_engine(opened.db))
        residency = resident.residency
        await opened.declare(CONCEPTS)
        pushed = [*chance.memories(), chance.memory(AGENTS[:1]), chance.memory(AGENTS[1:])]
        await store(opened.pipeline, pushed)
        for number, (deed, place, other) in enumerate(chance.deeds()):
            owner, ids = pushed[place % len(pushed)], [*await opened.ids(pushed[0].agent), ""]
            if chance.random() < 0.3:
                opened.embeddings.next_answers.append(Answer({"data": []}))
            await do(opened, deed, ids[place % len(ids)], replace(other, agent=owner.agent), number)
            # At once: what was written a moment ago is counted.
            await check_numbers(opened, residency, owner.agent)
        for agent in AGENTS:
            await check_numbers(opened, residency, agent)
            await check_pages(opened, residency, agent)


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path) as own:
        await own.push("The kettle is on.", concepts=["kettle", "crane"], session="s1")
        await own.push("The crane is old.", concepts=["crane"], session="s1", kind="decision")
        yield own


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return note_asked(monkeypatch)


async def test_no_memory_is_read_to_count_them(opened: OpenStore, asked: Asked) -> None:
    async with resident_engine(opened.db) as resident:
        for _ in range(2):
            asked.clear()
            told = await get_stats(opened.db, resident.residency, "main")
        assert (told.memories, told.kinds) == (2, {"decision": 1, "note": 1})
        assert queries_of(asked) == [BESIDE_THE_INDEX]
        # The documents are counted by their keys: their rows have their whole text.
        text = "EXPLAIN SELECT count() FROM document:['main']..['main', ..] GROUP ALL"
        assert "CountScan" in str(await opened.ask(text))


async def test_no_concept_is_read_but_those_of_the_page(opened: OpenStore, asked: Asked) -> None:
    async with resident_engine(opened.db) as resident:
        await check_pages(opened, resident.residency, "main")
        asked.clear()
        page = await get_concepts(opened.db, resident.residency, "main", limit=1)
        assert [concept.id for concept in page.concepts] == ["crane"]
        assert queries_of(asked) == [ROWS]


async def test_the_store_counts_what_the_index_leaves_out(opened: OpenStore) -> None:
    await opened.push(*(f"A heron by the mill, number {n}." for n in range(60)))
    async with resident_engine(opened.db) as whole:
        half = (await whole.residency.index_of("main")).bytes // 2
    async with resident_engine(opened.db, half) as resident:
        assert (await resident.residency.index_of("main")).beyond_budget
        await check_numbers(opened, resident.residency, "main")
        await check_pages(opened, resident.residency, "main")
    odd = memory_row("x", "odd", is_embedded=True) | {"id": ["odd", 1]}
    await run(opened.db, "INSERT INTO memory $row RETURN NONE", row=odd)
    odd = {"id": ["main", "odd", "concept"], "agent": "main", "name": "Odd", "memories": 3}
    odd |= {"aliases": [], "kind": "tag", "is_declared": False, "is_cased": False}
    await run(opened.db, "INSERT INTO concept $row RETURN NONE", row=odd)
    async with resident_engine(opened.db) as resident:
        assert (await counted(opened, "main"))["memories"] == 63
        await check_numbers(opened, resident.residency, "main")
        page = await get_concepts(opened.db, resident.residency, "main")
        assert page.concepts[0].id == "odd"
        assert page == await get_concepts(opened.db, None, "main")


async def test_the_store_counts_where_the_index_was_found_to_differ(opened: OpenStore) -> None:
    async with resident_engine(opened.db) as resident:
        residency = resident.residency
        index = await residency.index_of("main")
        with index.lock:
            index.remove_memory(next(iter(index.rows)))
            index.graph.remove_concept("kettle")
        assert (await residency.take_census("main")).keys() >= {"memory", "concept"}
        await check_numbers(opened, residency, "main")
        await check_pages(opened, residency, "main")
        await residency.rebuild(["main"])
        assert (await get_stats(opened.db, residency, "main")).memories == 2
