"""One budget of RAM: what dictionaries hold, indexes do without."""

from pathlib import Path

import pytest

from service.index.resident.residency import Residency
from tests.stores.open_store import open_store
from tests.stores.resident_index import PLENTY_BYTES, memory_row, write_memories

pytestmark = pytest.mark.anyio


async def test_indexes_leave_when_dictionaries_need_their_room(tmp_path: Path) -> None:
    dictionaries = 0
    async with open_store(tmp_path, form="bytes") as opened:
        rows = [memory_row(f"{agent}{n}", "word", agent=agent) for agent in "abc" for n in range(9)]
        await write_memories(opened.db, rows)
        residency = Residency(opened.db, PLENTY_BYTES, None, lambda: dictionaries)
        for agent in "ab":
            await residency.index_of(agent)
        both = residency.state().bytes
        assert residency.residents() == ["a", "b"]
        dictionaries = PLENTY_BYTES - both
        assert residency.state().bytes == PLENTY_BYTES
        await residency.index_of("c")
        assert residency.residents() == ["b", "c"]


async def test_the_service_counts_its_dictionaries(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        assert opened.pipeline.dictionaries.bytes == 0
        await opened.push("We met at the harbour.", title="Blue Harbour")
        before = opened.pipeline.dictionaries.bytes
        assert before > 0
        await opened.push("We met at the mill.", title="Old Mill", agent="scout")
        assert opened.pipeline.dictionaries.bytes > before
