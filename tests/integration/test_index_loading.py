"""Loading an index from a real store: page by page, with whatever stands there, for many agents."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.access.caller import Caller
from service.index.resident import add_pages, feed_position, loading
from service.index.resident.add_pages import Loading
from service.index.resident.agent_index import BEYOND_BUDGET, CORRUPT
from service.index.resident.apply_change import OTHER_MODEL
from service.index.resident.engine import ResidentEngine
from service.index.resident.residency import Residency
from service.memories.screening import Pushed
from service.memories.storing import store
from service.memories.voting import vote
from service.records import Filters
from service.store.address import StoreAddress
from service.store.database import Database, record
from tests.servers.outer_embeddings import vector_of
from tests.servers.running import running_service
from tests.stores.open_store import NO_DIGEST, OpenStore, open_store
from tests.stores.resident_index import (
    AT,
    EVERYTHING,
    PLENTY_BYTES,
    memory_row,
    numbers_of,
    resident_engine,
    run,
    told,
    write_memories,
    write_vector,
)

pytestmark = pytest.mark.anyio

CONCEPTS = """
[[concept]]
name = "GPU"
is_a = ["hardware"]
related_to = ["driver"]
[[concept]]
name = "RTX 5070"
is_a = ["GPU"]
"""
# Whatever goes wrong must end in an answer: a load that never ends fails the test.
PATIENCE_SECONDS = 30


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path, form="bytes") as store_:
        yield store_


@pytest.fixture
async def resident(opened: OpenStore) -> AsyncIterator[ResidentEngine]:
    async with resident_engine(opened.db) as resident:
        yield resident


async def index_told(resident: ResidentEngine, *words: str, agent: str = "main") -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        index = await resident.residency.index_of(agent)
    return told(index, *words)


async def drift(resident: ResidentEngine, agent: str = "main") -> dict[str, int]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await resident.residency.take_census(agent)


async def found(resident: ResidentEngine, text: str, **filters: Any) -> set[str]:
    return {hit.id for hit in await resident.by_text(text, Filters(**filters), 10_000)}


def forget_what_is_recent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the load alone count: else the last ten seconds come once more through the feed."""
    monkeypatch.setattr(feed_position, "MARGIN_MS", 0)


def small_pages(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    for name in ("_PAGE_MEMORIES", "_PAGE_CONCEPTS", "_PAGE_EDGES"):
        monkeypatch.setattr(loading, name, size)


async def push_notes(opened: OpenStore, agent: str = "main") -> list[str]:
    """Store memories that mention concepts and follow each other, through the pipeline."""
    names = ["RTX 5070", "GPU", "Blue Harbour", "driver"]
    pushed = [
        Pushed(
            f"Number {n}: the {names[n % 4]} met the {names[(n * 3 + 1) % 4]} and Anna Berg.",
            agent=agent, session=f"s{n % 3}", tags=("odd",) if n % 2 else (),
            occurred_at=datetime(2026, 2, 1 + n % 5, tzinfo=UTC), scope="gpu" if n % 3 else None,
        )
        for n in range(40)
    ]  # fmt: skip
    ids, _ = await store(opened.pipeline, pushed)
    return ids


# From which share of the store on its tables are scanned whole.
ALWAYS, NEVER = 0.0, 2.0


@pytest.fixture(params=[ALWAYS, NEVER], ids=["scanned", "picked"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load every store of this module both ways."""
    monkeypatch.setattr(loading, "_SCAN_SHARE", request.param)


@pytest.mark.parametrize("size", [1, 7, 40])
async def test_pages_smaller_than_the_store_give_the_same_index(
    opened: OpenStore, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opened.declare(CONCEPTS)
    ids = await push_notes(opened)
    words = ("harbour", "gpu", "anna", "number")
    async with resident_engine(opened.db) as whole, resident_engine(opened.db) as paged:
        expected = await index_told(whole, *words)
        small_pages(monkeypatch, size)
        assert await index_told(paged, *words) == expected
        assert await drift(paged) == {}
    assert expected["memories"].keys() == expected["vectors"].keys() == set(ids)
    assert all(expected["edges"].values())
    assert expected["left_out"] == {}


async def test_votes_are_loaded(opened: OpenStore, resident: ResidentEngine) -> None:
    ids = await push_notes(opened)
    for voter, key, helpful in [("a", ids[0], True), ("b", ids[0], False), ("a", ids[7], False)]:
        await vote(opened.db, Caller(voter), "main", key, helpful=helpful)
    assert (await index_told(resident))["votes"] == {ids[0]: (1, 1), ids[7]: (0, 1)}


async def test_thousands_of_one_moment_are_all_loaded(
    opened: OpenStore, resident: ResidentEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [memory_row(f"m{n:05}", "bunny") for n in range(2100)]
    rows += [memory_row(f"old{n}", "bunny", occurred_at=AT.replace(year=2025)) for n in range(5)]
    rows += [memory_row(f"new{n}", "bunny", occurred_at=AT.replace(year=2027)) for n in range(5)]
    await write_memories(opened.db, rows)
    small_pages(monkeypatch, 400)
    forget_what_is_recent(monkeypatch)
    assert await found(resident, "bunny") == {row["id"] for row in rows}
    assert await drift(resident) == {}


async def test_what_is_deleted_of_one_moment_while_it_loads_takes_nothing_with_it(
    opened: OpenStore, resident: ResidentEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page must not begin by counting rows: those counted may be gone by then."""
    monkeypatch.setattr(loading, "_SCAN_SHARE", NEVER)
    await write_memories(opened.db, [memory_row(f"m{n:03}", "bunny") for n in range(60)])
    small_pages(monkeypatch, 20)
    forget_what_is_recent(monkeypatch)
    add_page, pages = add_pages.add_picked, list[int]()

    def add_slowly(now: Loading, page: Any) -> None:
        add_page(now, page)
        pages.append(len(page))

    read_pages = loading._picked_pages

    async def read_and_delete(*given: Any) -> AsyncIterator[Any]:
        async for page in read_pages(*given):
            if not pages and page[0][0] == "m059":
                gone = [record("memory", key) for key in ("m059", "m058", "m050")]
                await run(opened.db, "DELETE $gone", gone=gone)
            yield page

    monkeypatch.setattr(loading, "add_picked", add_slowly)
    monkeypatch.setattr(loading, "_picked_pages", read_and_delete)
    assert await found(resident, "bunny") == {
        f"m{n:03}" for n in range(60) if n not in {59, 58, 50}
    }


async def test_times_to_the_nanosecond_and_to_the_end_of_the_calendar(
    opened: OpenStore, resident: ResidentEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = [
        *(f"2026-02-13T09:00:00.00000000{n}Z" for n in range(8)),
        "2026-02-13T09:00:00.000000999Z", "2026-02-13T09:00:00.000001Z",
        "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59Z", "1970-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00Z",
    ]  # fmt: skip
    await write_memories(opened.db, [memory_row(f"m{n}", "bunny") for n in range(len(moments))])
    for n, moment in enumerate(moments):
        await run(
            opened.db,
            "UPDATE type::record('memory', $key) SET occurred_at = type::datetime($at) RETURN NONE",
            key=f"m{n}", at=moment,
        )  # fmt: skip
    for size in (1, 2, 3):
        small_pages(monkeypatch, size)
        async with resident_engine(opened.db) as paged:
            assert len(await found(paged, "bunny")) == len(moments)
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert await found(resident, "bunny", since=last) == {"m10", "m11"}
    # A filter has microseconds: what happened within that one is neither before nor after it.
    assert await found(resident, "bunny", since=AT, until=AT) == {f"m{n}" for n in range(9)}


async def test_an_empty_store_has_an_empty_index(resident: ResidentEngine) -> None:
    assert await found(resident, "bunny") == set()
    question = np.array(vector_of("bunny"), np.float32)
    assert await resident.by_vector(question, Filters(), 5) == ([], 0)
    assert await resident.sizes(["main", "nobody"]) == {"main": 0, "nobody": 0}
    assert await resident.related_concepts(["main"], [], ["related_to"]) == {}
    assert resident.caveat(["main"]) is None
    assert await drift(resident) == {}


async def test_agents_are_walled_off_and_loaded_when_they_are_asked_for(
    opened: OpenStore, resident: ResidentEngine
) -> None:
    for agent in ("main", "second", "third"):
        await push_notes(opened, agent)
    assert len(await found(resident, "number")) == 40
    assert resident.residency.residents() == ["main"]
    both = await found(resident, "number", agents=("main", "third"))
    assert both == {*await opened.ids("main"), *await opened.ids("third")}
    assert resident.residency.residents() == ["main", "third"]
    state = await asyncio.to_thread(resident.residency.state)
    assert (state.agents, state.memories, state.left_out) == (2, 80, {})


async def spoilt_vectors(opened: OpenStore) -> None:
    await opened.push("the bunny", "a bunny", "this bunny", "that bunny", "one bunny", "her bunny")
    ids = await opened.ids()
    await run(opened.db, "DEFINE FIELD OVERWRITE vector ON embedding TYPE any")
    await write_vector(opened.db, ids[0], vector_of("x", 7))
    await write_vector(opened.db, ids[1], numbers_of("x"), "another-model/16")
    await write_vector(opened.db, ids[2], b"12345")
    await write_vector(opened.db, ids[3], [float("nan")] * 16)
    await write_vector(opened.db, ids[4], "no vector at all")


async def test_vectors_that_do_not_fit_are_told_and_the_others_answer(
    opened: OpenStore, resident: ResidentEngine
) -> None:
    await spoilt_vectors(opened)
    near, _ = await resident.by_vector(np.ones(16, np.float32), Filters(), 10)
    assert len(near) == 1
    assert len(await found(resident, "bunny")) == 6
    index = await resident.residency.index_of("main")
    left_out = index.left_out()
    assert (sum(left_out.values()), left_out[OTHER_MODEL]) == (5, 1)
    assert "leaves out" in (resident.caveat(["main"]) or "")
    assert await drift(resident) == {}


LOOSE = """
DEFINE TABLE OVERWRITE memory TYPE NORMAL SCHEMALESS CHANGEFEED 7d;
DEFINE TABLE OVERWRITE concept TYPE NORMAL SCHEMALESS CHANGEFEED 7d;
DEFINE TABLE OVERWRITE related_to TYPE NORMAL SCHEMALESS CHANGEFEED 7d;
"""
LOOSE_FIELDS = {
    "memory": (
        "words",
        "content",
        "tags.*",
        "tags",
        "scope",
        "session",
        "kind",
        "type",
        "occurred_at",
        "origin",
        "trust_tier",
    ),
    "concept": ("name", "memories"),
    "related_to": ("weight", "is_declared"),
}


def loose_fields() -> str:
    """Return the statements that take the fields' types away."""
    return "".join(
        f"REMOVE FIELD IF EXISTS {field} ON {table};"
        for table, fields in LOOSE_FIELDS.items()
        for field in fields
    )


async def loosen(opened: OpenStore) -> None:
    """Take the schema's types away, as a person with a console could."""
    await run(opened.db, LOOSE + loose_fields())


BAD_MEMORIES: dict[str, Any] = {
    "no words": {"words": None, "content": None},
    "words of a number": {"words": 7},
    "tags of anything": {"tags": ["a", 7, None]},
    "tags of objects": {"tags": [{"a": 1}]},
    "no tags": {"tags": None},
    "an object for a scope": {"scope": {"a": 1}},
    "a list for a session": {"session": ["a"]},
    "no kind": {"kind": None},
    "a number for a trust tier": {"trust_tier": 7},
    "no origin": {"origin": None},
    "a word for a time": {"occurred_at": "yesterday"},
    "no time": {"occurred_at": None},
}


@pytest.mark.parametrize(
    ("bad", "page_size"),
    [(bad, 5000) for bad in BAD_MEMORIES.values()]
    + [(BAD_MEMORIES[name], 1) for name in ("no words", "a word for a time", "no time")],
    ids=[*BAD_MEMORIES, "a page of no words", "a page of a word for a time", "a page of no time"],
)
async def test_a_corrupt_memory_is_told_and_the_others_answer(
    opened: OpenStore,
    resident: ResidentEngine,
    bad: dict[str, Any],
    page_size: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await write_memories(opened.db, [memory_row(f"m{n}", "bunny") for n in range(3)])
    await loosen(opened)
    row = memory_row("bad", "bunny")
    await write_memories(opened.db, [{k: v for k, v in (row | bad).items() if v is not None}])
    small_pages(monkeypatch, page_size)
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await found(resident, "bunny") == {"m0", "m1", "m2"}
    index = await resident.residency.index_of("main")
    assert index.left_out() == {CORRUPT: 1}
    assert "'bad'" in caplog.text
    assert "corrupt" in (resident.caveat(["main"]) or "")
    # The feed tells of the same row, perhaps again: it is still one.
    await resident.residency.follower.catch_up()
    assert index.left_out() == {CORRUPT: 1}
    assert await drift(resident) == {}


async def test_a_service_over_a_spoilt_store_is_ready_and_tells(
    tmp_path: Path, embedding_url: str
) -> None:
    given: dict[str, Any] = {
        "data_dir": tmp_path / "data", "embedding_url": embedding_url, "search_engine": "resident",
    }  # fmt: skip
    with running_service(**given) as service:
        for n in range(3):
            service.client.post("/memories", json={"text": f"The blue bunny, {n}."})
    db = Database(StoreAddress(f"surrealkv://{tmp_path / 'data' / 'store'}"))
    try:
        await run(db, LOOSE + loose_fields())
        await db.set_meta("schema", NO_DIGEST)
        await write_memories(db, [memory_row("bad", "bunny", tags=[7], scope={"a": 1})])
        [key, *_] = await run(db, "SELECT VALUE id FROM memory WHERE is_embedded")
        await write_vector(db, key, numbers_of("x", 7))
    finally:
        await db.close()
    with running_service(**given) as service:
        ready = service.client.get("/health/ready")
        assert ready.status_code == 200
        left_out = ready.json()["index"]["left_out"]
        assert (sum(left_out.values()), left_out[CORRUPT]) == (2, 1)
        found = service.client.post("/search", json={"query": "blue bunny"}).json()
        assert len(found["results"]) == 3
        assert "corrupt" in found["receipt"]["fallback_reason"]
        state = service.client.get("/index").json()["agent"]
        assert (state["left_out"], state["drift"]) == (left_out, {})


BAD_CONCEPTS = {
    "no name": "UPDATE concept SET name = NONE",
    "a number for a name": "UPDATE concept SET name = 7",
    "a word for a count": "UPDATE concept SET memories = 'two'",
}


@pytest.mark.parametrize("spoil", BAD_CONCEPTS.values(), ids=BAD_CONCEPTS)
async def test_a_corrupt_concept_is_told_and_the_others_answer(
    opened: OpenStore, resident: ResidentEngine, spoil: str
) -> None:
    await opened.declare(CONCEPTS)
    ids = await push_notes(opened)
    await loosen(opened)
    await run(opened.db, f"{spoil} WHERE id = concept:['main', 'gpu'] RETURN NONE")
    concepts = await resident.concepts_of_memories(["main"], ids, {"main": 100})
    slugs = {concept.id[1] for found_ in concepts.values() for concept in found_}
    assert "gpu" not in slugs
    assert "blue_harbour" in slugs
    index = await resident.residency.index_of("main")
    assert index.left_out() == {CORRUPT: 1}
    assert await drift(resident) == {}


async def test_a_concept_and_edges_with_ids_of_another_shape_do_not_hold_up_the_load(
    opened: OpenStore, resident: ResidentEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opened.declare(CONCEPTS)
    ids = await push_notes(opened)
    small_pages(monkeypatch, 1)
    row = "agent = 'main', name = 'X', aliases = [], kind = 'x', memories = 1, is_declared = false"
    odd_ids = ("['main', 'gpu', 'more']", "['main', ['list']]", "['main', 'zzz', 1]", "⟨main⟩")
    for odd in odd_ids:
        await run(opened.db, f"CREATE concept:{odd} SET {row}, is_cased = false")
    edge = "{ id: ['main', 'driver', 'gpu', 'x'], "
    edge += "agent: 'main', out: 'hardware', weight: 1, is_declared: false }"
    await run(opened.db, f"INSERT INTO related_to {edge}")
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await found(resident, "number") == set(ids)


async def test_a_memory_with_an_id_of_another_shape_does_not_hold_up_the_load(
    opened: OpenStore, resident: ResidentEngine
) -> None:
    await opened.declare(CONCEPTS)
    ids = await push_notes(opened)
    await write_memories(opened.db, [memory_row("x", "number") | {"id": ["odd", 1]}])
    odd = "{ id: ['odd', 1], concepts: [['main', 'gpu']] }"
    await run(opened.db, f"INSERT INTO references {odd} RETURN NONE")
    odd = "{ id: ['odd', 1], earlier: [$key], later: [] }"
    await run(opened.db, f"INSERT INTO follows {odd} RETURN NONE", key=ids[0])
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await found(resident, "number") == set(ids)
    index = await resident.residency.index_of("main")
    assert index.left_out()[CORRUPT] >= 1


async def test_what_does_not_fit_is_the_oldest_and_it_is_told(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        memory_row(f"m{n:04}", f"bunny number{n}", occurred_at=AT + timedelta(hours=n))
        for n in range(600)
    ]
    await write_memories(opened.db, rows)
    small_pages(monkeypatch, 50)
    forget_what_is_recent(monkeypatch)
    async with resident_engine(opened.db) as whole:
        half = (await whole.residency.index_of("main")).bytes // 2
    async with resident_engine(opened.db, half) as resident:
        kept = await found(resident, "bunny")
        assert 0 < len(kept) < 600
        assert kept == {row["id"] for row in rows[-len(kept) :]}
        index = await resident.residency.index_of("main")
        assert index.left_out() == {BEYOND_BUDGET: 600 - len(kept)}
        caveat = resident.caveat(["main"]) or ""
        assert f"{600 - len(kept):,}" in caveat
        assert "MEMORY_INDEX_MEMORY_MB" in caveat
        assert await drift(resident) == {}


async def test_the_agent_used_longest_ago_leaves_and_comes_back(opened: OpenStore) -> None:
    agents = [f"agent{n}" for n in range(4)]
    for agent in agents:
        await write_memories(
            opened.db,
            [memory_row(f"{agent}-{n}", f"bunny word{n}", agent=agent) for n in range(150)],
        )
    async with resident_engine(opened.db) as resident:
        for agent in agents:
            await found(resident, "bunny", agents=(agent,))
        one = max([(await resident.residency.index_of(agent)).bytes for agent in agents])
    async with resident_engine(opened.db, int(one * 2.5)) as resident:
        for agent in agents[:2]:
            assert len(await found(resident, "bunny", agents=(agent,))) == 150
        await found(resident, "bunny", agents=(agents[0],))
        await found(resident, "bunny", agents=(agents[2],))
        assert resident.residency.residents() == [agents[0], agents[2]]
        added = memory_row("late", "bunny", agent=agents[1])
        await write_memories(opened.db, [added])
        await resident.residency.follower.catch_up()
        assert len(await found(resident, "bunny", agents=(agents[1],))) == 151
        assert resident.residency.residents() == [agents[2], agents[1]]
        assert (await asyncio.to_thread(resident.residency.state)).bytes <= int(one * 2.5)
        assert resident.caveat(agents) is None


async def test_a_slow_load_of_one_agent_holds_up_no_other(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for agent in ("slow", "quick", "first"):
        await write_memories(opened.db, [memory_row(agent, "bunny", agent=agent)])
    is_loading, may_go_on, load = asyncio.Event(), asyncio.Event(), loading.load

    async def load_slowly(db: Any, now: Loading) -> None:
        if now.index.agent == "slow":
            is_loading.set()
            await may_go_on.wait()
        await load(db, now)

    monkeypatch.setattr("service.index.resident.residency.load", load_slowly)
    async with resident_engine(opened.db) as resident:
        assert await found(resident, "bunny", agents=("first",)) == {"first"}
        waiting = [
            asyncio.create_task(found(resident, "bunny", agents=("slow",))) for _ in range(3)
        ]
        async with asyncio.timeout(PATIENCE_SECONDS):
            await is_loading.wait()
            assert await found(resident, "bunny", agents=("quick",)) == {"quick"}
            await write_memories(opened.db, [memory_row("more", "bunny", agent="first")])
            await resident.residency.follower.catch_up()
            assert await found(resident, "bunny", agents=("first",)) == {"first", "more"}
            await write_memories(opened.db, [memory_row("late", "bunny", agent="slow")])
            assert "slow" not in resident.residency.residents()
            state = await asyncio.to_thread(resident.residency.state)
            assert state.loading.keys() == {"slow"}
            may_go_on.set()
            assert await asyncio.gather(*waiting) == [{"slow", "late"}] * 3


async def test_a_load_that_nobody_waits_for_any_more_still_serves_the_next(
    opened: OpenStore, resident: ResidentEngine
) -> None:
    await push_notes(opened)
    giving_up = asyncio.create_task(found(resident, "number"))
    await asyncio.sleep(0)
    giving_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await giving_up
    assert len(await found(resident, "number")) == 40


async def test_a_rebuild_answers_from_the_old_index_until_the_new_one_is_there(
    opened: OpenStore,
) -> None:
    await push_notes(opened)
    residency = Residency(opened.db, PLENTY_BYTES, None)
    before = await residency.index_of("main")
    expected = told(before, "harbour")
    rebuilding = asyncio.create_task(residency.rebuild(["main"]))
    seen = 0
    while not rebuilding.done():
        index = await residency.index_of("main")
        seen += len(index.by_text("number", EVERYTHING, 100)) == 40
        await asyncio.sleep(0.001)
    await rebuilding
    after = await residency.index_of("main")
    assert after is not before
    assert seen
    assert told(after, "harbour") == expected
