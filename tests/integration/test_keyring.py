"""Keys in RAM beside keys in the store: what was ended here stays ended, what was made is known."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.access.errors import Unauthorized
from service.access.keys import Key
from service.errors import StoreUnavailable
from service.store import keyring as module
from service.store.database import Database, record
from service.store.keyring import Keyring
from service.store.queries import Query
from tests.stores.open_store import open_store

pytestmark = pytest.mark.anyio


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_store(tmp_path, form="bytes") as opened:
        yield opened.db


async def read_anew(db: Database, key: Key) -> Key:
    """Return a key as a service knows it that has just started."""
    keyring = Keyring(db)
    await keyring.read()
    return keyring.named(key.id)


async def test_a_revocation_that_the_store_did_not_take_is_written_when_asked_again(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = Keyring(db)
    key, secret = await keyring.create("laptop", ("read",), None)

    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as while_away:
        while_away.setattr(db, "run", away)
        with pytest.raises(StoreUnavailable):
            await keyring.revoke(key.id)
    with pytest.raises(Unauthorized, match="was revoked"):
        await keyring.caller_of(str(secret))
    assert (await read_anew(db, key)).revoked_at is None
    await keyring.revoke(key.id)
    ended = (await read_anew(db, key)).revoked_at
    assert ended == keyring.named(key.id).revoked_at
    assert ended is not None
    await keyring.revoke(key.id)
    assert (await read_anew(db, key)).revoked_at == ended


async def test_a_rotated_key_is_another_one_after_a_restart_too(db: Database) -> None:
    keyring = Keyring(db)
    key, secret = await keyring.create("laptop", ("read",), None)
    _, other = await keyring.rotate(key.id)
    again = Keyring(db)
    await again.read()
    assert (await again.caller_of(str(other))).key == key.id
    with pytest.raises(Unauthorized, match="unknown here"):
        await again.caller_of(str(secret))


async def test_what_another_service_did_to_keys_is_known_here(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SHARED_SECONDS", -1.0)
    here, there = Keyring(db), Keyring(db)
    here._is_shared = True
    key, secret = await there.create("laptop", ("read",), None)
    assert (await here.caller_of(str(secret))).key == key.id
    await there.revoke(key.id)
    with pytest.raises(Unauthorized, match="was revoked"):
        await here.caller_of(str(secret))


class Slow:
    """Keys that are read as the store had them, and told half a second later."""

    def __init__(self, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_read, self._run = asyncio.Event(), db.run
        monkeypatch.setattr(db, "run", self.run)

    async def run(self, query: Query, **params: Any) -> Any:
        rows = await self._run(query, **params)
        if query is module.LIST_KEYS:
            self.has_read.set()
            await asyncio.sleep(0.5)
        return rows


async def test_what_is_read_meanwhile_brings_no_key_back(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = Keyring(db)
    key, secret = await keyring.create("laptop", ("read",), None)
    slow = Slow(db, monkeypatch)
    reading = asyncio.create_task(keyring.read())
    await slow.has_read.wait()
    await keyring.revoke(key.id)
    await reading
    with pytest.raises(Unauthorized, match="was revoked"):
        await keyring.caller_of(str(secret))


async def test_what_is_read_meanwhile_takes_no_new_key_away(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = Keyring(db)
    slow = Slow(db, monkeypatch)
    reading = asyncio.create_task(keyring.read())
    await slow.has_read.wait()
    key, secret = await keyring.create("laptop", ("read",), None)
    await reading
    assert (await keyring.caller_of(str(secret))).name == "laptop"
    slow.has_read.clear()
    reading = asyncio.create_task(keyring.read())
    await slow.has_read.wait()
    _, other = await keyring.rotate(key.id)
    await reading
    assert (await keyring.caller_of(str(other))).name == "laptop"
    with pytest.raises(Unauthorized):
        await keyring.caller_of(str(secret))


async def test_a_clock_that_was_set_back_before_the_start_revives_no_key(db: Database) -> None:
    keyring, now = Keyring(db), datetime.now(UTC)
    ended, secret = await keyring.create("laptop", ("read",), None, now + timedelta(hours=1))
    used, _ = await keyring.create("hook", ("read",), None)
    later = {"id": record("key", used.id), "at": now + timedelta(hours=2)}
    await db.run(module.NOTE_KEYS, used=[later])
    assert (await keyring.caller_of(str(secret))).key == ended.id
    again = Keyring(db)
    await again.read()
    with pytest.raises(Unauthorized, match="past its time"):
        await again.caller_of(str(secret))


async def test_while_the_server_does_not_answer_the_keys_that_are_known_count(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = Keyring(db)
    _, secret = await keyring.create("laptop", ("read",), None)
    keyring._is_shared = True
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.05)
    asked = asyncio.Event()

    async def hanging(*_: object, **__: object) -> None:
        asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(db, "run", hanging)
    assert (await keyring.caller_of(str(secret))).name == "laptop"
    assert asked.is_set()


async def test_when_a_key_was_used_is_written_once_the_store_is_back(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = Keyring(db)
    key, secret = await keyring.create("laptop", ("read",), None)
    await keyring.caller_of(str(secret))

    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as while_away:
        while_away.setattr(db, "run", away)
        await keyring.note()
    assert (await read_anew(db, key)).last_used_at is None
    await keyring.note()
    assert (await read_anew(db, key)).last_used_at == keyring.named(key.id).last_used_at is not None
