"""The one door to the store: statuses, transactions, conflicts, time-outs, values, refusals."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from surrealdb import RecordID

from service.errors import (
    InvalidRequest,
    QueryFailed,
    StaleRead,
    StoreInUse,
    StoreNotWritable,
    StoreRefused,
    StoreUnavailable,
)
from service.store import connecting, connection
from service.store.address import StoreAddress
from service.store.database import Database, record
from service.store.plain import plain
from service.store.queries import Query
from service.store.schema import SCHEMA_VERSION, definitions_of, schema_facts
from tests.servers.surreal_server import SurrealServer
from tests.stores.open_store import NO_DIGEST
from tests.stores.template import SCHEMA

pytestmark = pytest.mark.anyio


def reading(text: str, *takes: str) -> Query:
    return Query("reading", text, frozenset(takes), writes=False)


def writing(text: str, *takes: str) -> Query:
    return Query("writing", text, frozenset(takes), writes=True)


def address(folder: Path, timeout_seconds: float = 30.0) -> StoreAddress:
    return StoreAddress(f"surrealkv://{folder / 'store'}", timeout_seconds=timeout_seconds)


@asynccontextmanager
async def opened(where: StoreAddress) -> AsyncIterator[Database]:
    db = Database(where)
    try:
        await db.open(SCHEMA)
        yield db
    finally:
        await db.close()


async def test_a_failure_of_any_statement_is_raised(tmp_path: Path) -> None:
    async with opened(address(tmp_path)) as db:
        for text in (
            "CREATE meta:1; CREATE meta:1; RETURN 3",
            "RETURN 1; THROW 'no'; RETURN 3",
            "SELEC 1",
            "RETURN 1 + 'a'; RETURN 2",
        ):
            with pytest.raises(QueryFailed, match="The database refused a query"):
                await db.run(writing(text))


async def test_the_last_statement_is_the_result(tmp_path: Path) -> None:
    async with opened(address(tmp_path)) as db:
        assert await db.run(reading("RETURN 1; RETURN 2; RETURN $three", "three"), three=3) == 3


async def test_a_failed_transaction_leaves_nothing_and_names_its_cause(tmp_path: Path) -> None:
    async with opened(address(tmp_path)) as db:
        text = "BEGIN; CREATE meta:a; CREATE meta:b; CREATE meta:a; COMMIT;"
        with pytest.raises(QueryFailed, match=r"meta:a.*already exists"):
            await db.run(writing(text))
        assert await db.meta("a") == {}
        assert await db.meta("b") == {}


async def test_a_value_that_the_schema_refuses_is_the_callers(tmp_path: Path) -> None:
    async with opened(address(tmp_path)) as db:
        for text in (
            "CREATE grant:1 SET reader = 3, owner = 'main'",
            """CREATE job:1 SET kind = 'scan', request = {}, state = 'lost', counts = {},
            created_at = time::now(), updated_at = time::now()""",
        ):
            with pytest.raises(InvalidRequest, match="The store refused a value"):
                await db.run(writing(text))


async def test_two_writers_of_one_record_both_succeed(tmp_path: Path) -> None:
    add = writing("BEGIN; UPDATE meta:n SET n += 1; SLEEP 30ms; COMMIT;")
    async with SurrealServer(f"surrealkv://{tmp_path / 'store'}") as server:
        where = StoreAddress(server.url, "root", "secret")
        async with opened(where) as first, opened(where) as second, opened(where) as third:
            await first.set_meta("n", {"n": 0})
            await asyncio.gather(*[db.run(add) for db in (first, second, third)])
            assert await second.meta("n") == {"n": 3}


async def test_a_database_that_takes_too_long_is_unavailable(tmp_path: Path) -> None:
    async with opened(address(tmp_path)) as db:
        quick = Database(address(tmp_path, timeout_seconds=0.1))
        quick._connection = db._connection
        with pytest.raises(StoreUnavailable, match=r"no answer in 0\.1 s"):
            await quick.run(reading("SLEEP 1s"))
        assert await db.run(reading("RETURN 1")) == 1


@pytest.mark.parametrize("params", [{}, {"a": 1}, {"a": 1, "b": 2, "c": 3}, {"a": 1, "c": 2}])
async def test_wrong_variables_are_a_type_error(tmp_path: Path, params: dict[str, int]) -> None:
    db = Database(address(tmp_path))
    with pytest.raises(TypeError, match=r"takes \['a', 'b'\]"):
        await db.run(reading("RETURN $a + $b", "a", "b"), **params)


async def test_values_are_bound_and_never_read_as_text(tmp_path: Path) -> None:
    text = "'; REMOVE TABLE memory; -- \" ` \\ \n⟩ $other {{ 한국어 \U0001f430"
    async with opened(address(tmp_path)) as db:
        await db.set_meta(["k", text], {"text": text, "none": None, "list": [None, text]})
        assert await db.meta(["k", text]) == {"text": text, "list": [None, text]}
        assert await db.run(reading("RETURN $x IS NONE", "x"), x=None) is True


async def test_the_data_stays_over_starts(tmp_path: Path) -> None:
    for start in range(3):
        async with opened(address(tmp_path)) as db:
            await db.define_index(SCHEMA, "vectors", dimensions=16)
            await db.define_index(SCHEMA, "vectors", dimensions=16)
            assert await db.meta("starts") == ({"n": start - 1} if start else {})
            await db.set_meta("starts", {"n": start})
            assert await db.meta("schema") == schema_facts(definitions_of(SCHEMA, is_shared=False))


TABLES = reading("RETURN object::keys((INFO FOR DB).tables)")


async def _tables(folder: Path, schema: str = SCHEMA) -> list[str]:
    """Start once with a schema; returns the tables of the store."""
    db = Database(address(folder))
    try:
        await db.open(schema)
        tables: list[str] = await db.run(TABLES)
        return tables
    finally:
        await db.close()


async def test_a_start_skips_definitions_that_the_store_has_noted(tmp_path: Path) -> None:
    async with opened(address(tmp_path)) as db:
        await db.apply("REMOVE TABLE audit")
    assert "audit" not in await _tables(tmp_path)
    more = SCHEMA.replace("-- words:", "DEFINE TABLE IF NOT EXISTS kept;\n-- words:")
    assert {"audit", "kept"} <= set(await _tables(tmp_path, more))


@pytest.mark.parametrize("old", [NO_DIGEST, {}])
async def test_a_store_that_an_older_program_started_gets_the_definitions(
    tmp_path: Path, old: dict[str, int]
) -> None:
    async with opened(address(tmp_path)) as db:
        await db.set_meta("kept", {"n": 1})
        await db.apply("REMOVE TABLE audit")
        # What a program writes at its start that knows of no digest.
        await db.set_meta("schema", old)
    assert "audit" in await _tables(tmp_path)
    async with opened(address(tmp_path)) as db:
        assert await db.meta("schema") == schema_facts(definitions_of(SCHEMA, is_shared=False))
        assert await db.meta("kept") == {"n": 1}


async def test_a_start_that_failed_half_way_is_made_up_for(tmp_path: Path) -> None:
    broken = SCHEMA.replace("-- words:", "DEFINE NOTHING;\n-- words:")
    with pytest.raises(StoreRefused, match="MEMORY_SCHEMA_FILE: Parse error"):
        await _tables(tmp_path, broken)
    assert "audit" in await _tables(tmp_path)


async def test_a_newer_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    async with opened(address(tmp_path)) as db:
        await db.set_meta("schema", {"version": SCHEMA_VERSION + 1})
        await db.apply("REMOVE TABLE audit")
    told = f"schema version {SCHEMA_VERSION + 1}.* give another MEMORY_DATABASE_URL"
    with pytest.raises(StoreRefused, match=told):
        async with opened(address(tmp_path)):
            pass
    db = Database(address(tmp_path))
    tables = await db.run(reading("RETURN object::keys((INFO FOR DB).tables)"))
    assert await db.meta("schema") == {"version": SCHEMA_VERSION + 1}
    await db.close()
    assert "audit" not in tables


async def test_a_second_opener_is_told_who_is_in_the_way(tmp_path: Path) -> None:
    async with opened(address(tmp_path)) as db:
        with pytest.raises(StoreInUse, match="Another process holds the store"):
            async with opened(address(tmp_path)):
                pass
        assert await db.run(reading("RETURN 1")) == 1
    async with opened(address(tmp_path)) as again:
        assert await again.run(reading("RETURN 1")) == 1


async def test_a_folder_that_cannot_be_is_not_writable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a regular file")
    with pytest.raises(StoreNotWritable, match="give another MEMORY_DATABASE_URL"):
        await Database(address(tmp_path / "file")).open(SCHEMA)


async def test_nobody_at_the_address_is_unavailable() -> None:
    db = Database(StoreAddress("ws://127.0.0.1:9/rpc", "root", "secret"))
    with pytest.raises(StoreUnavailable, match="No database answers at ws://127"):
        await db.open(SCHEMA)


async def test_moments_come_back_as_they_went(tmp_path: Path) -> None:
    moments = [
        datetime(1, 1, 1, 0, 0, 0, 999_999, UTC),
        datetime(1969, 12, 31, 23, 59, 59, 1, UTC),
        datetime(2026, 2, 13, 23, 59, 59, 999_999, UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC),
    ]
    async with opened(address(tmp_path)) as db:
        back = await db.run(reading("RETURN $moments", "moments"), moments=moments)
    assert back == moments
    assert {type(moment) for moment in back} == {datetime}


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (RecordID("memory", "a"), "a"),
        (RecordID("concept", ["main", RecordID("x", 3)]), ["main", 3]),
        (
            {"id": RecordID("memory", "a"), "n": [None, 1.5]},
            {"id": "a", "n": [None, 1.5]},
        ),
        ("text", "text"),
    ],
)
def test_plain_leaves_nothing_of_the_driver(value: Any, wanted: Any) -> None:
    assert plain(value) == wanted
    assert orjson.loads(orjson.dumps(plain(value))) == wanted


async def test_a_write_from_a_stale_reading_is_not_tried_again(tmp_path: Path) -> None:
    async with opened(address(tmp_path)) as db:
        text = 'BEGIN; UPSERT meta:n SET n = 1; THROW "stale read"; COMMIT;'
        with pytest.raises(StaleRead):
            await db.run(writing(text))
        assert await db.meta("n") == {}


def test_a_record_is_named_by_table_and_key() -> None:
    assert record("edge", ["a", "b"]) == RecordID("edge", ["a", "b"])


async def test_an_opening_that_nobody_waits_for_any_more_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken off halfway it held the store's lock, and no query was answered ever again."""
    opened_so_far = 0

    async def slow(where: StoreAddress) -> Any:
        nonlocal opened_so_far
        client = await connecting.connect(where)
        opened_so_far += 1
        await asyncio.sleep(0.3)
        return client

    async with opened(address(tmp_path)) as db:
        monkeypatch.setattr(connection, "connect", slow)
        looks = [asyncio.create_task(db.flush())]
        await asyncio.sleep(0.01)
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await db.ping()
        looks[0].cancel()
        await asyncio.gather(*looks, return_exceptions=True)
        await db.ping()
        assert opened_so_far == 1
        # An end in the midst of an opening waits for it: the next process finds no lock.
        renewing = asyncio.create_task(db.flush())
        await asyncio.sleep(0.05)
    await asyncio.gather(renewing, return_exceptions=True)
    await db.close()
    monkeypatch.undo()
    async with opened(address(tmp_path)) as again:
        await again.ping()
