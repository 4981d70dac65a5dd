"""The hot memory is what the last look back chose, whole, or what it was before."""

from pathlib import Path

import pytest

from service.drafts.ids import digest
from service.errors import ServiceError
from service.reflect.reflecting import REPLACE_HOT
from service.store.database import record
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio


async def _keep(world: OpenStore, memory: str, score: object = 0.5) -> None:
    one = {
        "id": record("hot_memory", digest("main", "", memory)), "memory": memory, "why": "marked",
        "score": score, "promoted_at": START,
    }  # fmt: skip
    await world.db.run(REPLACE_HOT, kept=[one], agent="main", scope="")


async def test_what_cannot_be_kept_leaves_what_was_kept_before(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await _keep(world, "first")
        with pytest.raises(ServiceError):
            await _keep(world, "second", "no number")
        assert await world.ask("SELECT VALUE memory FROM hot_memory") == ["first"]
        await _keep(world, "second")
        assert await world.ask("SELECT VALUE memory FROM hot_memory") == ["second"]
