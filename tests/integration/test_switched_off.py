"""What is switched off is asked of the store once; no answer is older than the last write."""

import asyncio
from pathlib import Path

import pytest

from service.errors import ServiceError
from service.fixes.fixes import Proof, put_fix
from service.projects.identity import Identity
from service.projects.moving import move
from service.projects.registry import register
from service.projects.switched_off import (
    SWITCHED_OFF,
    OptOut,
    SwitchedOff,
    refuse_any_switched_off,
    switch_off,
    switch_on,
)
from service.store.database import Database
from tests.stores.asked import note_asked, queries_of
from tests.stores.open_store import START, open_store

pytestmark = pytest.mark.anyio

Places = list[tuple[str, str | None, str | None]]


async def is_refused(db: Database, places: Places) -> bool:
    try:
        await refuse_any_switched_off(db, places)
    except SwitchedOff:
        return True
    return False


async def test_a_place_is_asked_for_once_until_something_is_switched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as opened:
        db, asked = opened.db, note_asked(monkeypatch)
        place: Places = [("main", "harbour", "s1")]
        for _ in range(3):
            assert not await is_refused(db, place)
        assert queries_of(asked).count(SWITCHED_OFF) == 1
        await switch_off(db, OptOut("main", scope="harbour"))
        assert await is_refused(db, place)
        assert await is_refused(db, [("main", None, "s1"), ("main", "harbour", None)])
        # Another agent's project of that name is another project.
        assert not await is_refused(db, [("other", "harbour", "s1")])
        await switch_on(db, OptOut("main", scope="harbour"))
        await switch_off(db, OptOut("main", session="s1"))
        assert not await is_refused(db, [("main", "harbour", None)])
        assert await is_refused(db, place)
        await opened.push("The crane is red.")
        before = queries_of(asked).count(SWITCHED_OFF)
        assert await is_refused(db, place)
        assert queries_of(asked).count(SWITCHED_OFF) == before


async def test_a_project_that_becomes_another_one_stays_switched_off(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        old, new = Identity(name="harbour"), Identity(name="port")
        scope = await register(opened.db, "main", old)
        await switch_off(opened.db, OptOut("main", scope=scope))
        assert await is_refused(opened.db, [("main", scope, None)])
        target = await register(opened.db, "main", new)
        assert not await is_refused(opened.db, [("main", target, None)])
        await move(opened.pipeline, "main", old, new, 100)
        assert await is_refused(opened.db, [("main", target, None)])
        assert not await is_refused(opened.db, [("main", scope, None)])


async def test_while_a_write_may_happen_yet_the_store_is_asked_each_time(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        place: Places = [("main", "harbour", None)]
        assert not await is_refused(opened.db, place)
        opened.db.written.doubt(frozenset({("opt_out", ("main", "harbour", ""))}))
        # As a write that was given up, and of which nobody hears when it happens.
        await opened.ask(
            "CREATE type::record('opt_out', ['main', 'harbour', '']) SET agent = 'main', "
            "scope = 'harbour', created_at = time::now()"
        )
        assert await is_refused(opened.db, place)


@pytest.mark.parametrize("turns", range(12))
async def test_who_asks_while_it_is_switched_off_keeps_no_old_answer(
    tmp_path: Path, turns: int
) -> None:
    async with open_store(tmp_path) as opened:
        place: Places = [("main", "harbour", None)]
        switching = asyncio.create_task(switch_off(opened.db, OptOut("main", scope="harbour")))
        for _ in range(turns):
            await asyncio.sleep(0)
        await is_refused(opened.db, place)
        await switching
        assert await is_refused(opened.db, place)


async def test_a_move_that_ends_amid_is_done_whole_the_next_time(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        db, quay, dock = opened.db, Identity(name="quay"), Identity(name="dock")
        await switch_off(db, OptOut("main", scope=await register(db, "main", quay)))
        await put_fix(db, Proof("main", "quay", "error", "make", "s1", START), "a-memory")
        field = "DEFINE FIELD OVERWRITE scope ON fix TYPE string"
        await db.apply(f"{field} ASSERT $value != 'dock'")
        with pytest.raises(ServiceError):
            await move(opened.pipeline, "main", quay, dock, 10)
        assert await is_refused(db, [("main", "quay", None)])
        await db.apply(field)
        await move(opened.pipeline, "main", quay, dock, 10)
        assert await opened.ask("SELECT VALUE scope FROM fix") == ["dock"]
        assert await is_refused(db, [("main", "dock", None)])
