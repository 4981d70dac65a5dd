"""What sessions were given is let go of when its time is over, also by a service just begun."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.sessions.given import Given
from service.store.database import record
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
