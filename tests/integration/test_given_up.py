"""Searches whose caller goes away leave nothing behind, at whatever step that is."""

import asyncio
import gc
from pathlib import Path

import pytest

from service.index.database.engine import DatabaseEngine
from service.search.hybrid import hybrid_search
from service.search.searcher import Searcher, SearchQuery
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
