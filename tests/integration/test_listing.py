"""How memories are listed: each page is read from its place on, and not from the newest."""

from pathlib import Path

import pytest

from service.memories.route import LIST
from service.records import Filters
from service.store.database import record
from tests.stores.open_store import open_store

pytestmark = pytest.mark.anyio


async def test_a_page_is_read_from_its_place_on(tmp_path: Path) -> None:
    async with open_store(tmp_path, form="bytes") as opened:
        await opened.push("A kettle.", "A crane.")
        place = {"before": 1_800_000_000_000_000, "before_id": record("memory", "x")}
        params = {**place, **Filters().params(), "limit": 50}
        plan = str(await opened.ask(f"EXPLAIN {LIST.text}", **params))
        assert "IndexScan" in plan
        assert "by_moment" in plan
        # The whole of an agent's memories is read for each page where no bound is told.
        assert "LessThanEqual 1800000000000000" in plan
        assert "Sort" not in plan
