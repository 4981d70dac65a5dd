"""How memories are listed: each page is read from its place on, and not from the newest."""

from pathlib import Path
from typing import Any

import pytest

from service.memories.route import LIST, newest
from service.records import Filters
from service.store.database import Database, record
from service.store.queries import Query
from tests.stores.open_store import START, open_store

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


async def test_so_is_a_page_of_several_agents_memories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    run = Database.run

    async def noting(db: Database, query: Query, **params: Any) -> Any:
        if query is LIST:
            asked.append(params)
        return await run(db, query, **params)

    async with open_store(tmp_path, form="bytes") as opened:
        # Most of them at the same moment: then the ids say which comes first.
        for agent in ("anna", "bob", "carl"):
            await opened.push(*(f"A crane of {agent}, number {n}." for n in range(5)), agent=agent)
        filters = Filters(agents=("bob", "anna"))
        monkeypatch.setattr(Database, "run", noting)
        first = [row["id"] for row in await newest(opened.db, filters, 2**63 - 1, "", 4)]
        place = (int(START.timestamp() * 1_000_000), first[-1])
        rest = [row["id"] for row in await newest(opened.db, filters, *place, 100)]
        both = [*await opened.ids("anna"), *await opened.ids("bob")]
        assert [*first, *rest] == sorted(both, reverse=True)
        assert asked
        for params in asked:
            plan = str(await opened.ask(f"EXPLAIN {LIST.text}", **params))
            assert ("by_moment" in plan, "Sort" in plan) == (True, False)
