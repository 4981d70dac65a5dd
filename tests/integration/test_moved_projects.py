"""What others write while a project is moved holds."""

from pathlib import Path

import pytest

from service.memories.changing import change_memory
from service.memories.storing import find
from service.projects import moving
from service.projects.identity import Identity
from service.projects.moving import move
from service.projects.registry import register
from tests.integration.test_written_amid import once_before
from tests.stores.open_store import open_store

pytestmark = pytest.mark.anyio
HARBOUR = Identity(name="harbour")
PORT = Identity(name="port")


async def test_a_memory_that_got_another_scope_meanwhile_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        scope = await register(world.db, "main", HARBOUR)
        key, other = await world.push("A bell rings.", "A horn blows.", scope=scope)

        async def label() -> None:
            memory = await find(world.db, ["main"], key)
            await change_memory(world.pipeline, memory, {"scope": "private"})

        once_before(monkeypatch, moving, "commit", label)
        await move(world.pipeline, "main", HARBOUR, PORT, 100)
        assert (await find(world.db, ["main"], key)).scope == "private"
        assert (await find(world.db, ["main"], other)).scope == "port"
        assert await world.complaints() == []
