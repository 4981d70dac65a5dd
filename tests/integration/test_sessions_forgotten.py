"""What sessions were given is let go of when its time is over, also by a service just begun."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.sessions.given import Given
from service.store import database
from service.store.database import Database, record
from service.store.queries import Query
from tests.stores.open_store import open_store

pytestmark = pytest.mark.anyio
PUT = Query(
    "own",
    "UPSERT $id SET agent = 'main', in_session = 's', memory = 'm', why = 'w', content_hash = 'h', "
    "tokens = 1, operation = 'search', first_at = $at, at = $at, times = 1, is_known = true",
    frozenset({"id", "at"}), writes=True,
)  # fmt: skip


async def test_a_service_that_begins_forgets_at_once(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        now = datetime.now(UTC)
        for name, days in (("old", 31), ("new", 29)):
            at = now - timedelta(days=days)
            await world.db.run(PUT, id=record("given", ["main", name, "m"]), at=at)
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await Given(world.db).keep_forgetting(30)
        left = await world.ask("SELECT VALUE record::id(id)[1] FROM given")
        assert left == ["new"]


async def test_much_is_forgotten_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, parts = Database.run, list[Any]()

    async def noting(db: Database, query: Query, **params: Any) -> Any:
        parts.append(await run(db, query, **params))
        return parts[-1]

    async with open_store(tmp_path) as world:
        now = datetime.now(UTC)
        for number in range(7):
            at = now - timedelta(days=31 if number else 29)
            await world.db.run(PUT, id=record("given", ["main", "s", f"m{number}"]), at=at)
        for table, moment in (
            ("session_context", "at"), ("transcript", "updated_at"), ("recurrence", "last_at")
        ):  # fmt: skip
            for days in (31, 29):
                # Rows that are no more than old.
                await world.ask(
                    "OPTION IMPORT = TRUE; CREATE type::record($table, [$days]) CONTENT $row",
                    table=table, days=days, row={moment: now - timedelta(days=days)},
                )  # fmt: skip
        monkeypatch.setattr(Database, "run", noting)
        monkeypatch.setattr(database, "_PART_ROWS", 4)
        await Given(world.db).forget(now - timedelta(days=30))
        monkeypatch.undo()
        assert parts == [4, 2]
        assert await world.ask("SELECT VALUE record::id(id)[2] FROM given") == ["m0"]
        for table in ("session_context", "transcript", "recurrence"):
            left = await world.ask(f"SELECT VALUE record::id(id)[0] FROM {table}")  # noqa: S608
            assert left == [29], table
