"""When a search asks whom: the embedder first, and nothing is left of one that is given up."""

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from service.errors import AgentUnknown, StoreUnavailable
from service.index.database.engine import DatabaseEngine
from service.index.engine import Engine
from service.index.numbered import Hits
from service.index.resident import engine as resident_engine
from service.index.resident.agent_index import AgentIndex
from service.index.resident.engine import ResidentEngine
from service.index.resident.phrases import keep_phrase
from service.index.resident.row_engine import RowEngine
from service.index.resident.vectors import VectorIndex
from service.memories.screening import Pushed
from service.memories.storing import store
from service.records import Filters, Scored
from service.search import ranking
from service.search.hybrid import hybrid_search
from service.search.searcher import Searcher, SearchQuery, turns_of
from service.search.times.time_filters import Moments, moments_named
from service.settings import Settings
from service.store.database import Database
from service.store.queries import Query
from tests.stores.open_store import open_store

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("fusion", ["default", "rrf"])
async def test_a_search_may_be_given_up_at_any_turn_of_the_loop(
    tmp_path: Path, fusion: str
) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push("The harbour is closed in March.", "The crane is mended.")
        engine = DatabaseEngine(opened.db)
        searcher = Searcher(opened.db, opened.vectors, Settings(_env_file=None), engine)
        query = SearchQuery("When is the harbour closed?", fusion=fusion)
        for turns in range(30):
            searching = asyncio.create_task(hybrid_search(searcher, query))
            for _ in range(turns):
                await asyncio.sleep(0)
            searching.cancel()
            await asyncio.gather(searching, return_exceptions=True)
        # A coroutine that nobody awaited warns when it goes, which fails a test.
        gc.collect()
        assert len((await hybrid_search(searcher, query)).hits) > 0


async def test_a_search_that_fails_waits_for_no_vector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look(*_: object) -> None:
        raise StoreUnavailable("It is gone.")

    async with open_store(tmp_path) as opened:
        searcher = Searcher(
            opened.db, opened.vectors, Settings(_env_file=None), DatabaseEngine(opened.db)
        )
        monkeypatch.setattr(ranking, "by_words", look)
        before = asyncio.all_tasks()
        with pytest.raises(StoreUnavailable):
            await hybrid_search(searcher, SearchQuery("When is the harbour closed?"))
        assert all(task.cancelling() for task in asyncio.all_tasks() - before)


async def test_a_question_is_read_once_it_is_on_its_way_to_the_embedder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question, was_sent = "When is the harbour closed?", list[bool]()
    async with open_store(tmp_path) as opened:
        await opened.push("The harbour is closed in March.")

        async def look(engine: Engine, text: str, filters: Filters) -> Moments | None:
            # Nothing else may run meanwhile: what was not sent before is not sent now.
            until = time.monotonic() + 2
            while question not in opened.embeddings.embedded_texts() and time.monotonic() < until:
                time.sleep(0.01)  # noqa: ASYNC251
            was_sent.append(question in opened.embeddings.embedded_texts())
            return await moments_named(engine, text, filters)

        searcher = Searcher(
            opened.db, opened.vectors, Settings(_env_file=None), DatabaseEngine(opened.db)
        )
        # Over a connection that is there.
        await hybrid_search(searcher, SearchQuery("Warm."))
        monkeypatch.setattr(ranking, "moments_named", look)
        assert (await hybrid_search(searcher, SearchQuery(question))).hits
    assert was_sent == [True]


# They share a concept, so that a search follows links.
_NOTES = [
    f"#harbour {what}" for what in ("The crane is red.", "The gate is shut.", "A buoy rings.")
]


def watch(patch: pytest.MonkeyPatch, told: Callable[[str], object], *names: str) -> None:
    """Tell of each look into the resident index by one of these names, once it is over."""

    def watched(owner: type, name: str) -> Callable[..., Any]:
        look = getattr(owner, name)

        async def looked(*args: Any) -> Any:
            found = await look(*args)
            told(name)
            return found

        return looked

    for name in names:
        owner = RowEngine if hasattr(RowEngine, name) else ResidentEngine
        patch.setattr(owner, name, watched(owner, name))


async def test_what_needs_no_vector_is_looked_up_while_a_question_is_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[object]()
    async with open_store(tmp_path, form="bytes") as opened:
        await opened.push(*_NOTES)
        searcher = Searcher(opened.db, opened.vectors, Settings(_env_file=None), opened.engine)
        index = await cast("ResidentEngine", opened.engine).residency.index_of("main")
        embed = opened.vectors.embed_query

        async def late(text: str, seconds: float) -> Any:
            vector = await embed(text, seconds)
            for _ in range(200):
                await asyncio.sleep(0)
            seen.append(index.told)
            return vector

        monkeypatch.setattr(opened.vectors, "embed_query", late)
        before = index.told
        assert (await hybrid_search(searcher, SearchQuery("Which crane is red?"))).hits
    # What is told then is of this question, and is the same once its vector is there.
    assert seen == [index.told]
    assert index.told is not before


async def test_one_search_after_the_other_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = list[asyncio.Task[Any] | None]()
    async with open_store(tmp_path, form="bytes") as opened:
        await opened.push(*_NOTES)
        turns = turns_of(is_resident=True)
        settings = Settings(_env_file=None)
        searcher = Searcher(opened.db, opened.vectors, settings, opened.engine, turns=turns)
        looked = ("collect_evidence", "linked")
        watch(monkeypatch, lambda _: looks.append(asyncio.current_task()), *looked)
        queries = [SearchQuery(text) for text in ("Which crane?", "Which gate?", "Which buoy?")]
        found = await asyncio.gather(*[hybrid_search(searcher, query) for query in queries])
    assert all(one.hits for one in found)
    assert len(looks) >= 2 * len(queries)
    assert len([task for task, _ in groupby(looks)]) == len(queries)


@pytest.mark.parametrize(
    ("fusion", "steps"),
    [
        ("default", ("by_vector", "collect_evidence", "linked", "fetch")),
        ("rrf", ("by_vector", "collect_evidence", "fetch")),
    ],
)
async def test_a_search_gives_way_before_each_of_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fusion: str, steps: tuple[str, ...]
) -> None:
    turns, turns_at = 0, dict[str, int]()
    async with open_store(tmp_path, form="bytes") as opened:
        await opened.push(*_NOTES)
        searcher = Searcher(opened.db, opened.vectors, Settings(_env_file=None), opened.engine)
        watch(monkeypatch, lambda name: turns_at.setdefault(name, turns), *steps)

        async def turn() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        turning = asyncio.create_task(turn())
        assert (await hybrid_search(searcher, SearchQuery("Which crane?", fusion=fusion))).hits
        turning.cancel()
    assert tuple(turns_at) == steps
    assert len(set(turns_at.values())) == len(steps)


@pytest.mark.parametrize(("memories", "is_here"), [(100_000, True), (300_000, False)])
async def test_a_short_scan_needs_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, memories: int, is_here: bool
) -> None:
    threads = list[threading.Thread]()

    def by_vector(*_: Any) -> tuple[Hits, int]:
        threads.append(threading.current_thread())
        return Hits(), 0

    async with open_store(tmp_path, form="bytes") as opened:
        await opened.push(*_NOTES)
        engine = cast("ResidentEngine", opened.engine)
        await engine.sizes(["main"])
        monkeypatch.setattr(VectorIndex, "numbers_compared", property(lambda _: 384 * memories))
        monkeypatch.setattr(AgentIndex, "by_vector", by_vector)
        await engine.by_vector(np.ones(384, np.float32), Filters(), 10)
    assert [one is threading.current_thread() for one in threads] == [is_here]


async def test_who_never_stored_anything_costs_the_store_two_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()
    run = Database.run

    async def noted(self: Database, query: Query, **params: Any) -> Any:
        asked.append(query.name)
        return await run(self, query, **params)

    async with open_store(tmp_path, form="bytes") as opened:
        searcher = Searcher(opened.db, opened.vectors, Settings(_env_file=None), opened.engine)
        monkeypatch.setattr(Database, "run", noted)
        with pytest.raises(AgentUnknown):
            await hybrid_search(searcher, SearchQuery("Which crane?", Filters(("nobody",))))
    assert asked == ["owns_anything", "get_meta"]


@pytest.mark.parametrize("fusion", ["default", "rrf"])
async def test_a_search_goes_on_while_its_index_is_loaded_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fusion: str
) -> None:
    async with open_store(tmp_path, form="bytes") as opened:
        await opened.push(*_NOTES)
        residency = cast("ResidentEngine", opened.engine).residency
        searcher = Searcher(opened.db, opened.vectors, Settings(_env_file=None), opened.engine)
        query = SearchQuery("Which crane is red?", fusion=fusion)
        before = [hit.memory.id for hit in (await hybrid_search(searcher, query)).hits]
        index, embed = await residency.index_of("main"), opened.vectors.embed_query

        async def late(text: str, seconds: float) -> Any:
            vector = await embed(text, seconds)
            await residency.rebuild(["main"])
            return vector

        monkeypatch.setattr(opened.vectors, "embed_query", late)
        found = [hit.memory.id for hit in (await hybrid_search(searcher, query)).hits]
        assert await residency.index_of("main") is not index
    assert found == before
    assert found


async def test_a_phrase_of_several_agents_is_looked_for_in_one_ranking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_through = list[int]()

    async def kept(db: Database, ranking: Sequence[Scored], phrase: str, limit: int) -> Any:
        looked_through.append(len(ranking))
        return await keep_phrase(db, ranking, phrase, limit)

    monkeypatch.setattr(resident_engine, "keep_phrase", kept)
    monkeypatch.setattr(resident_engine, "_MOST_PHRASE_TEXTS", 3)
    async with open_store(tmp_path, form="bytes") as opened:
        for agent in ("main", "second"):
            said = [Pushed(f"The crane {n} is red.", agent=agent) for n in range(4)]
            await store(opened.pipeline, said)
        found = await opened.engine.by_phrase("is red", Filters(("main", "second")), 2)
    assert (len(found), looked_through) == (2, [3])
