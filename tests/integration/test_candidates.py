"""What is looked at though words and meaning alone would not bring it: by other names, by times."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from service.memories.screening import Pushed
from service.memories.storing import store
from service.search.hybrid import hybrid_search
from service.search.searcher import Searcher, SearchQuery
from service.settings import Settings
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio

MANY = 130


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path, form="bytes") as opened:
        yield opened


async def _found(opened: OpenStore, question: str, **weights: float) -> list[str]:
    settings = Settings(_env_file=None)
    searcher = Searcher(opened.db, opened.vectors, settings, opened.engine)
    query = SearchQuery(question, weights={"vector": 0, "text": 0, "graph": 0} | weights)
    return [hit.memory.content for hit in (await hybrid_search(searcher, query)).hits]


async def test_a_thing_is_found_by_its_other_name_by_whoever_asks_by_words(
    opened: OpenStore,
) -> None:
    await opened.declare('[[concept]]\nname = "migration"\naliases = ["이전"]\n')
    said = "이전 작업은 어제 끝났다."
    await opened.push(said, *(f"Sheet {n} lists invoices." for n in range(5)))
    assert await _found(opened, "Is the migration done?", text=1.0) == [said]
    assert await _found(opened, "Is the migration done?", graph=1.0) == []


@pytest.mark.parametrize("named", ["June 2024", "June 2024 and March 2024"])
async def test_what_happened_at_a_named_time_is_found_however_many_say_more(
    opened: OpenStore, named: str
) -> None:
    await opened.push(*(f"Crane {n}: this crane is a crane." for n in range(MANY)))
    months = {"June": (6, "letters"), "March": (3, "ledgers")}
    old = [
        Pushed(
            f"We wrote at length of {thing} and of much else, and of an old crane by the lake too.",
            occurred_at=datetime(2024, number, 14, tzinfo=UTC),
        )
        for month, (number, thing) in months.items()
        if month in named
    ]
    await store(opened.pipeline, old)
    found = await _found(opened, f"What was with the crane in {named}?", text=1.0)
    assert {one.text for one in old} <= set(found)


async def test_of_ranks_alone_the_graph_pushes_no_best_hit_away(opened: OpenStore) -> None:
    said = ("Apples, plums and pears.", "Bees hum.")
    await opened.push(*said, concepts=("copper",))
    searcher = Searcher(opened.db, opened.vectors, Settings(_env_file=None), opened.engine)
    weights = {"vector": 0, "text": 1.0, "graph": 0.5}
    query = SearchQuery("apples plums pears", fusion="rrf", weights=weights)
    hits = (await hybrid_search(searcher, query)).hits
    assert [hit.memory.content for hit in hits] == [*said]
    assert [hit.fused.signals["graph"].rank for hit in hits] == [1, 2]
