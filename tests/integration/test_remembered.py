"""What is asked at every question is asked of the store once, until somebody writes it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from service.intents.standing import OPEN, due_intents
from service.projects.identity import Identity
from service.projects.moving import move
from service.projects.registry import KNOWN_KEYS, find_scope, register
from service.store.database import Database, record
from service.store.queries import Query
from service.store.remembered import remembered
from service.store.written_records import WrittenRecords
from tests.stores.asked import note_asked, queries_of
from tests.stores.open_store import START, open_store

pytestmark = pytest.mark.anyio


class Table:
    """A table of numbers, and how often it was read."""

    def __init__(self, folder: str | None = "store") -> None:
        written = WrittenRecords()
        self.written = written
        self.db = cast("Database", SimpleTable(folder, written))
        self.rows: dict[str, int] = {}
        self.read: list[str] = []
        self.amid: Callable[[], Awaitable[None]] | None = None

    def write(self, key: str, value: int) -> None:
        self.rows[key] = value
        self.written.add([("number", key)])

    async def _read(self, keys: Sequence[str]) -> Mapping[str, int | None]:
        self.read += keys
        found = {key: self.rows.get(key) for key in keys}
        if self.amid:
            await self.amid()
        return found

    async def of(self, *keys: str) -> Mapping[str, int | None]:
        return await remembered(self.db, "number", keys, self._read)


class SimpleTable:
    """As much of a database as remembering needs."""

    def __init__(self, folder: str | None, written: WrittenRecords) -> None:
        self.address = SimpleNamespace(folder=folder)
        self.written = written


async def test_each_key_is_read_once_until_something_is_written() -> None:
    table = Table()
    table.write("a", 1)
    assert await table.of("a", "b") == {"a": 1, "b": None}
    assert await table.of("b", "c", "a") == {"a": 1, "b": None, "c": None}
    assert table.read == ["a", "b", "c"]
    table.write("b", 2)
    assert await table.of("b", "a") == {"a": 1, "b": 2}
    assert table.read == ["a", "b", "c", "b", "a"]


async def test_of_a_server_and_while_a_write_may_happen_yet_all_is_read() -> None:
    server = Table(folder=None)
    await server.of("a")
    await server.of("a")
    assert server.read == ["a", "a"]
    table = Table()
    await table.of("a")
    table.written.doubt(frozenset({("number", "a")}))
    table.rows["a"] = 1  # it happened, and nobody told
    assert await table.of("a") == {"a": 1}
    assert await table.of("a") == {"a": 1}
    assert table.read == ["a", "a", "a"]


async def test_what_is_written_while_it_is_read_is_not_kept() -> None:
    table = Table()

    async def write() -> None:
        table.write("a", 1)

    table.amid = write
    assert await table.of("a") == {"a": None}
    table.amid = None
    assert await table.of("a") == {"a": 1}


async def test_an_agent_without_intents_is_asked_about_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as opened:
        asked, now = note_asked(monkeypatch), datetime.now(UTC)
        for _ in range(3):
            assert await due_intents(opened.db, "main", None, now) == []
        assert len(asked) == 1
        row: dict[str, object] = {
            "agent": "main", "when": [], "text": "Say it.", "scope": None, "due": START,
            "cooldown_hours": 0.0, "fires": 1, "fired": 0, "fired_at": None, "expires_at": None,
            "created_at": START, "origin": "user", "trust_tier": "trusted", "client": None,
            "key": None,
        }  # fmt: skip
        put = Query("own", "CREATE $id CONTENT $row RETURN NONE", frozenset({"id", "row"}), True)
        await opened.db.run(put, id=record("intent", ["main", "i1"]), row=row)
        assert [one.text for one in await due_intents(opened.db, "main", None, now)] == ["Say it."]
        assert await due_intents(opened.db, "other", None, now) == []
        assert queries_of(asked).count(OPEN) == 1


async def test_a_project_is_looked_up_once_and_where_it_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as opened:
        quay, dock = Identity(name="quay"), Identity(name="dock")
        await register(opened.db, "main", dock)
        scope = await register(opened.db, "main", quay)
        asked = note_asked(monkeypatch)
        for _ in range(3):
            assert await find_scope(opened.db, "main", quay) == scope
        assert queries_of(asked).count(KNOWN_KEYS) == 1
        # Told again within the hour nothing is written, and nothing read.
        await register(opened.db, "main", quay)
        assert len(asked) == 1
        await move(opened.pipeline, "main", quay, dock, 10)
        target = await find_scope(opened.db, "main", dock)
        assert await find_scope(opened.db, "main", quay) == target != scope
        # Another agent's project of that name is another project.
        assert await find_scope(opened.db, "other", quay) == scope


async def test_who_asks_amid_a_move_keeps_no_old_place(tmp_path: Path) -> None:
    for turns in range(12):
        folder = tmp_path / str(turns)
        folder.mkdir()
        async with open_store(folder) as opened:
            quay, dock = Identity(name="quay"), Identity(name="dock")
            await register(opened.db, "main", quay)
            target = await register(opened.db, "main", dock)
            moving = asyncio.create_task(move(opened.pipeline, "main", quay, dock, 10))
            for _ in range(turns):
                await asyncio.sleep(0)
            await find_scope(opened.db, "main", quay)
            await moving
            assert await find_scope(opened.db, "main", quay) == target
