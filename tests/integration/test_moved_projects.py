"""What others write while a project is moved, or while a session of it ends, holds."""

from pathlib import Path

import pytest

from service.access.caller import LOCAL
from service.memories.changing import change_memory
from service.memories.storing import find, remove
from service.projects import moving
from service.projects.identity import Identity
from service.projects.moving import move
from service.projects.registry import register
from service.session_end import ending
from service.working_memory.texts import Place, append, put, read
from tests.integration.test_written_amid import once_before
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio
HARBOUR = Identity(name="harbour")
PORT = Identity(name="port")


async def focus(world: OpenStore, place: Place, text: str) -> None:
    await put(world.db, world.pipeline.sanitiser, place, text, LOCAL)


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


async def test_what_moves_into_a_focus_while_its_session_ends_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        scopes = [await register(world.db, "main", one) for one in (HARBOUR, PORT)]
        left, place = (Place("main", scope, "s1") for scope in scopes)
        await focus(world, left, "The crane is to be mended.")
        await focus(world, place, "The kiln is to be lit.")
        found = await ending.weigh(world.engine, world.pipeline, place, 0.0, START)

        async def join() -> None:
            await move(world.pipeline, "main", HARBOUR, PORT, 100)

        once_before(monkeypatch, ending, "clear_seen", join)
        _, is_cleared = await ending.end(world.pipeline, place, found, LOCAL)
        kept = await read(world.db, place)
        assert kept is not None
        assert ("The crane is to be mended." in kept.text, is_cleared) == (True, False)


async def test_what_was_weighed_goes_where_nothing_came_meanwhile(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        place = Place("main", "port", "s1")
        await focus(world, place, "The kiln is to be lit.")
        await append(world.db, world.pipeline.sanitiser, place, "Then the oven.", LOCAL)
        found = await ending.weigh(world.engine, world.pipeline, place, 0.0, START)
        assert (await ending.end(world.pipeline, place, found, LOCAL))[1]
        assert await read(world.db, place) is None


async def test_a_session_ends_though_its_notes_are_deleted_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        place = Place("main", None, "s1")
        await focus(world, place, "The kiln is to be lit.")
        texts = ("We decided that the crane is red.", "ok")
        keys = await world.push(*texts, session="s1", tags=("ephemeral",))
        found = await ending.weigh(world.engine, world.pipeline, place, 0.0, START)
        assert {one.memory.id for one in found.kept if one.memory} == set(keys)

        async def forget() -> None:
            for key in keys:
                await remove(world.pipeline, "main", key)

        once_before(monkeypatch, ending, "change_memory", forget)
        kept, is_cleared = await ending.end(world.pipeline, place, found, LOCAL)
        assert (kept[1:], is_cleared) == ([None, None], True)
        assert await world.ids() == kept[:1]
        assert await world.complaints() == []
