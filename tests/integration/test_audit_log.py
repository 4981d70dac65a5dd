"""The audit in a real store: lines of older versions, what is too old, a store that is away."""

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.access.audit import Entry
from service.access.caller import LOCAL
from service.audit.route import AuditParameters, get_audit
from service.errors import QueryFailed, StoreUnavailable
from service.memories.lineage import NOTED
from service.store import database
from service.store.audit_log import AuditLog
from service.store.database import Database, record
from service.store.queries import Query
from tests.servers.running import free_port, service_process, wait_for
from tests.stores.template import open_database

pytestmark = pytest.mark.anyio


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(tmp_path) as database:
        yield database


def _entry(operation: str, at: datetime | None = None) -> Entry:
    moment = at or datetime.now(UTC)
    return Entry(moment, operation, "done", 200, None, "local", "main", None)


async def _listed(db: Database, **filters: Any) -> list[str | None]:
    """Return the operations of all lines, two a page."""
    found: list[str | None] = []
    cursor = None
    while True:
        parameters = AuditParameters(limit=2, cursor=cursor, **filters)
        page = await get_audit(db, LOCAL, parameters)
        found += [entry.operation for entry in page.entries]
        if (cursor := page.next_cursor) is None:
            return found


async def test_lines_of_older_versions_stay_readable_behind_all_others(db: Database) -> None:
    for n in range(3):
        await db.apply(
            f'CREATE audit SET action = "older{n}", agent = "main", subject = "m{n}",'
            " at = d'2026-01-01T00:00:00Z'"
        )
    log = AuditLog(db, "writes", 90)
    for n in range(3):
        log.add(_entry(f"new{n}"))
    await log.write()
    listed = await _listed(db)
    assert listed[:3] == ["new2", "new1", "new0"]
    assert sorted(filter(None, listed[3:])) == ["older0", "older1", "older2"]
    assert await _listed(db, operation="older1", outcome="done") == ["older1"]
    [older] = (await get_audit(db, LOCAL, AuditParameters(operation="older2"))).entries
    assert (older.ids, older.outcome, older.count) == (["m2"], "done", 1)


# Row after row, each with all that is asked for.
ALL_NOTED = """SELECT id, at, operation ?? action AS operation, key, name, agent
FROM audit WITH NOINDEX WHERE (outcome IS NONE OR outcome = "done")
    AND (ids ?? [subject]) CONTAINSANY $ids
    AND ($agents IS NONE OR agent IN $agents OR key = $own_key)
ORDER BY id DESC LIMIT $limit"""


async def test_of_lines_about_others_none_is_decoded(db: Database) -> None:
    chance = random.Random(7)

    def of(*values: Any) -> Any:
        return chance.choice(values)

    at = datetime(2026, 1, 1, tzinfo=UTC)
    rows: list[dict[str, Any]] = [
        {
            "id": record("audit", [n, f"{n}"]), "at": at, "operation": of("search", "deleted"),
            "outcome": of("done", "done", "failed"), "agent": of("anna", "bob", None),
            "key": of("k1", "k2", None), "count": 1,
            "ids": [f"m{chance.randrange(8)}" for _ in range(chance.randrange(4))],
        }
        for n in range(200)
    ]  # fmt: skip
    rows += [
        {
            "id": record("audit", f"{n:020x}"), "at": at, "action": "deleted", "agent": "anna",
            "subject": f"m{chance.randrange(8)}",
        }
        for n in range(20)
    ]  # fmt: skip
    chance.shuffle(rows)
    adding = Query("own", "INSERT INTO audit $rows RETURN NONE", frozenset({"rows"}), writes=False)
    await db.run(adding, rows=rows)
    every = Query("own", ALL_NOTED, NOTED.takes, writes=False)
    for _ in range(60):
        params = {
            "ids": [f"m{n}" for n in chance.sample(range(9), chance.randrange(1, 4))],
            "agents": of(None, [], ["anna"], ["anna", "bob"]), "own_key": of(None, "k1"),
            "limit": of(1, 7, 1000),
        }  # fmt: skip
        assert await db.run(NOTED, **params) == await db.run(every, **params), params
    [line] = [one for one in NOTED.text.splitlines() if "CONTAINSANY" in one]
    told = Query("own", f"EXPLAIN {line.strip(' (),')}", frozenset({"ids"}), writes=False)
    plan = str(await db.run(told, ids=["m1", "m2"]))
    assert "pre_decode_filter: yes" in plan


async def test_lines_that_are_too_old_go(db: Database) -> None:
    now = datetime.now(UTC)
    for days, name in ((200, "gone"), (1, "stays")):
        await db.apply(
            f'CREATE audit SET action = "older {name}", agent = "a", subject = "s",'
            f" at = time::now() - {days}d"
        )
    log = AuditLog(db, "writes", 90)
    log.add(_entry("gone", now - timedelta(days=91)))
    log.add(_entry("stays", now - timedelta(days=89)))
    await log.write()
    await log._forget()
    assert await _listed(db) == ["stays", "older stays"]


async def test_many_lines_that_are_too_old_go_in_parts(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, run, parts = datetime.now(UTC), db.run, list[Any]()
    log = AuditLog(db, "writes", 90)
    for minutes in range(7):
        log.add(_entry("gone", now - timedelta(days=91, minutes=minutes)))
    log.add(_entry("stays", now - timedelta(days=89)))
    await log.write()

    async def noting(query: Query, **params: Any) -> Any:
        parts.append(await run(query, **params))
        return parts[-1]

    monkeypatch.setattr(db, "run", noting)
    monkeypatch.setattr(database, "_PART_ROWS", 3)
    await log._forget()
    monkeypatch.undo()
    assert parts == [3, 3, 1]
    assert await _listed(db) == ["stays"]


async def test_a_store_that_is_away_costs_no_line(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, run = AuditLog(db, "writes", 90), db.run

    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(db, "run", away)
    log.add(_entry("first"))
    await log.write()
    log.add(_entry("second"))
    await log.write()
    monkeypatch.setattr(db, "run", run)
    await log.write()
    assert (await _listed(db), log.dropped) == (["second", "first"], 0)


async def test_a_service_that_ends_while_its_lines_wait_for_their_turn_loses_none(
    db: Database,
) -> None:
    """Who writes much holds the turn for seconds: the lines were neither written nor waiting."""
    log = AuditLog(db, "writes", 90)
    log.add(_entry("first"))
    async with db.at_rest():
        writing = asyncio.create_task(log.write())
        await asyncio.sleep(0.05)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    await log.close()
    assert (await _listed(db), log.dropped) == (["first"], 0)


async def test_lines_that_the_store_refuses_are_counted_and_told(
    db: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log = AuditLog(db, "writes", 90)

    async def refuse(*_: object, **__: object) -> None:
        raise QueryFailed("refused")

    monkeypatch.setattr(db, "run", refuse)
    log.add(_entry("first"))
    with caplog.at_level(logging.WARNING):
        await log.write()
        await log.write()
    assert log.dropped == 1
    assert caplog.text.count("1 request is in no line of the audit") == 1


async def test_a_line_that_was_written_twice_is_there_once(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time-out does not say whether a write happened: it is sent again as it was."""
    log, run = AuditLog(db, "writes", 90), db.run

    async def late(*given: Any, **params: Any) -> None:
        await run(*given, **params)
        raise StoreUnavailable("too late")

    monkeypatch.setattr(db, "run", late)
    log.add(_entry("once"))
    await log.write()
    monkeypatch.setattr(db, "run", run)
    await log.write()
    assert await _listed(db) == ["once"]


def test_a_killed_service_keeps_what_is_a_second_old_and_every_deletion(
    tmp_path: Path, embedding_url: str
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {
        "MEMORY_DATA_DIR": str(tmp_path), "MEMORY_PORT": str(port),
        "MEMORY_EMBEDDING_URL": embedding_url,
    }  # fmt: skip
    with service_process(**environment) as process:
        wait_for(f"{url}/health/ready", lambda: process.poll() is None)
        made = httpx.post(f"{url}/memories", json={"text": "The thatcher."}).json()["id"]
        for _ in range(200):
            if httpx.get(f"{url}/audit").json()["entries"]:
                break
            time.sleep(0.05)
        assert httpx.delete(f"{url}/memories/{made}").status_code == 204
        process.kill()
        process.wait()
    with service_process(**environment) as process:
        wait_for(f"{url}/health/ready", lambda: process.poll() is None)
        entries = httpx.get(f"{url}/audit").json()["entries"]
    told = [(one["operation"], one["ids"]) for one in entries]
    assert ("store_memory", [made]) in told
    assert ("deleted", [made]) in told
