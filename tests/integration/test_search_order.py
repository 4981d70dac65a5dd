"""When a search asks whom: the embedder first, and nothing is left of one that is given up."""

import asyncio
import gc
import time
from pathlib import Path

import pytest

from service.index.database.engine import DatabaseEngine
from service.index.engine import Engine
from service.records import Filters
from service.search import ranking
from service.search.hybrid import hybrid_search
from service.search.searcher import Searcher, SearchQuery
from service.search.times.time_filters import Moments, moments_named
from service.settings import Settings
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
