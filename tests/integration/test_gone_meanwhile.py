"""What a reader of the store finds gone half-way through a query, for another writer removed it."""

from pathlib import Path

import pytest

from service.records import Concept
from tests.stores.open_store import open_store

pytestmark = pytest.mark.anyio


async def test_a_concept_that_goes_after_its_edges_were_read(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push("One.", "Two.", tags=("bellows", "kettle", "steam"))
        # Between two statements of a query another transaction takes the concept and its edges: to
        # those that follow it looks like this.
        gone = "LET $ends_gone = true; DELETE type::record('concept', ['main', 'steam'])"
        await opened.ask(gone)
        assert len(await opened.engine.related_edges("main", ["bellows"])) == 2
        here = Concept(("main", "bellows"), "bellows", 2)
        found = await opened.engine.related_concepts(["main"], [here], ["related_to", "is_a"])
        assert [near.concept.id[1] for near in found["main", "bellows"]] == ["kettle"]
