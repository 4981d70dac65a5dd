"""An embedded store is flushed by reopening it; whoever asks meanwhile waits, and no more."""

import asyncio
from pathlib import Path

import pytest

from service.store import address as store_address
from service.store import connecting, engine_memory, flushing
from service.store.address import StoreAddress
from service.store.allocator import give_back
from service.store.database import Database
from service.store.flushing import keep_flushing
from service.store.queries import Query

pytestmark = pytest.mark.anyio

WRITING = "CREATE type::record('row', $n) SET blob = $blob"
WRITE = Query("write", WRITING, frozenset({"n", "blob"}), writes=True)
COUNT = Query("count", "RETURN array::len((SELECT VALUE id FROM row))", frozenset(), writes=False)
BLOB = "x" * 20_000


async def fill(db: Database, rows: range) -> None:
    for n in rows:
        await db.run(WRITE, n=n, blob=BLOB)


async def test_reads_and_writes_go_on_while_a_long_log_is_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_address, "_LONGEST_LOG_BYTES", 400_000)
    address = StoreAddress(f"surrealkv://{tmp_path / 'store'}")
    db = Database(address)
    await db.apply("DEFINE TABLE row")
    counts: list[int] = []

    async def read() -> None:
        while not counts or counts[-1] < 80:
            counts.append(await db.run(COUNT))

    readers = [asyncio.create_task(read()) for _ in range(3)]
    await asyncio.gather(fill(db, range(40)), fill(db, range(40, 80)))
    async with asyncio.timeout(60):
        await asyncio.gather(*readers)
    assert not address.must_flush()
    assert list((tmp_path / "store" / "sstables").iterdir())
    await db.close()
    again = Database(address)
    assert await again.run(COUNT) == 80
    await again.close()


async def test_a_store_that_nobody_writes_to_is_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_address, "_LOG_BYTES_WHEN_IDLE", 100_000)
    monkeypatch.setattr(flushing, "_LOOK_SECONDS", 0.02)
    monkeypatch.setattr(flushing, "_QUIET_SECONDS", 0.1)
    address = StoreAddress(f"surrealkv://{tmp_path / 'store'}")
    db = Database(address)
    await db.apply("DEFINE TABLE row")
    await fill(db, range(10))
    assert address.may_flush()
    keeping = asyncio.create_task(keep_flushing(db))
    async with asyncio.timeout(30):
        while address.may_flush():  # noqa: ASYNC110 - a file's size tells nobody
            await asyncio.sleep(0.02)
    assert await db.run(COUNT) == 10
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    await db.close()


async def test_a_process_that_has_grown_reopens_its_store_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = 500_000_000
    grows_by_each_look = 0

    def looked_at() -> int:
        nonlocal held
        held += grows_by_each_look
        return held

    monkeypatch.setattr(engine_memory, "resident_bytes", looked_at)
    monkeypatch.setattr(flushing, "_LOOK_SECONDS", 0.02)
    db = Database(StoreAddress(f"surrealkv://{tmp_path / 'store'}"))
    await db.apply("DEFINE TABLE row")
    keeping = asyncio.create_task(keep_flushing(db))
    await asyncio.sleep(0.2)
    # What grows while nobody asks the store is not the engine's.
    held += 200_000_000
    await asyncio.sleep(0.2)
    assert await db.run(COUNT) == 0
    await asyncio.sleep(0.2)
    assert not db.address.tables()
    grows_by_each_look = 150_000_000
    assert await db.run(COUNT) == 0
    grows_by_each_look = 0
    async with asyncio.timeout(30):
        while not db.address.tables():  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.2)
    assert len(db.address.tables()) == 1
    assert await db.run(COUNT) == 0
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    await db.close()


@pytest.mark.parametrize(("much", "times"), [(1, 2), (10**12, 1)])
async def test_a_store_that_is_merged_while_it_opens_is_opened_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, much: int, times: int
) -> None:
    address = StoreAddress(f"surrealkv://{tmp_path / 'store'}")
    for n in range(4):
        db = Database(address)
        await fill(db, range(n, n + 1))
        await db.close()
    assert len(address.tables()) == 4
    connections: list[object] = []
    connect = connecting._connect

    async def counted(address: StoreAddress) -> object:
        connections.append(client := await connect(address))
        return client

    monkeypatch.setattr(connecting, "_MUCH_MERGED_BYTES", much)
    monkeypatch.setattr(connecting, "_connect", counted)
    db = Database(address)
    assert await db.run(COUNT) == 4
    assert len(connections) == times
    await db.close()


async def test_what_a_process_holds_is_known_here() -> None:
    before = engine_memory.resident_bytes()
    block = bytearray(b"x" * 50_000_000)
    assert engine_memory.resident_bytes() >= before + 40_000_000
    del block
    await give_back()
    assert engine_memory.resident_bytes() < before + 40_000_000


def test_a_server_flushes_by_itself() -> None:
    address = StoreAddress("ws://127.0.0.1:8000/rpc")
    assert (address.must_flush(), address.may_flush()) == (False, False)
