"""Pages of the audit in a real store: whatever the times of its lines, the newest that pass."""

import math
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.access.caller import LOCAL, Caller
from service.audit.newest import LIST
from service.audit.route import PLACE, AuditParameters, get_audit
from service.moments import micros_of
from service.store.database import Database, record
from service.store.queries import Query, narrowed
from tests.stores.template import open_database

pytestmark = pytest.mark.anyio
NOW = datetime.now(UTC)
ADD = Query("own", "INSERT INTO audit $rows RETURN NONE", frozenset({"rows"}), writes=True)
# Row after row, each with all that is asked for.
EVERY = Query(
    "own",
    """SELECT VALUE (ids ?? [subject])[0] FROM (SELECT * FROM audit WITH NOINDEX
    WHERE ($before IS NONE OR id < $before)
    AND ($since IS NONE OR at >= $since) AND ($until IS NONE OR at <= $until)
    AND ($key_id IS NONE OR key = $key_id) AND ($agent IS NONE OR agent = $agent)
    AND ($operation IS NONE OR (operation ?? action) = $operation)
    AND ($outcome IS NONE OR (outcome ?? "done") = $outcome)
    AND ($agents IS NONE OR agent IN $agents OR key = $own_key)
    ORDER BY id DESC)""",
    frozenset(
        {
            "before", "since", "until", "key_id", "agent", "operation", "outcome", "agents",
            "own_key",
        }
    ),
    writes=False,
)  # fmt: skip


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(tmp_path) as database:
        yield database


def _line(chance: random.Random, n: int, at: datetime) -> dict[str, Any]:
    return {
        "id": record("audit", [micros_of(at), f"{n:04x}"]), "at": at, "ids": [f"{n}"],
        "operation": chance.choice(("search", "search", "deleted", None)),
        "outcome": chance.choice(("done", "done", "failed")),
        "agent": chance.choice(("anna", "bob", None)), "key": chance.choice(("k1", "k2", None)),
    }  # fmt: skip


def _older(chance: random.Random, n: int) -> dict[str, Any]:
    """Return a line of an older version."""
    return {
        "id": record("audit", f"{n:020x}"), "action": "deleted", "subject": f"older {n}",
        "agent": "bob", "at": NOW - timedelta(days=chance.randrange(90)),
    }  # fmt: skip


def _some_lines(chance: random.Random) -> list[dict[str, Any]]:
    """Return lines of one microsecond, of seconds, of years, of tomorrow and of older versions."""
    moments = [NOW - timedelta(days=chance.randrange(90))] * 40
    for seconds in (1e-5, 1, 3600, 3e6, 2e8):
        moments += [NOW - timedelta(seconds=chance.random() * seconds) for _ in range(30)]
    moments += [NOW + timedelta(days=chance.random()) for _ in range(20)]
    lines = [_line(chance, n, at) for n, at in enumerate(moments)]
    lines += [_older(chance, n) for n in range(20)]
    chance.shuffle(lines)
    return lines


@pytest.mark.parametrize("seed", range(3))
async def test_a_page_holds_the_newest_lines_that_pass_all_filters(db: Database, seed: int) -> None:
    chance = random.Random(seed)

    def of(*values: Any) -> Any:
        return chance.choice(values)

    lines = _some_lines(chance)
    await db.run(ADD, rows=lines)
    for _ in range(80):
        before = of(None, *(line["id"] for line in lines))
        since, until = sorted(line["at"] for line in chance.choices(lines, k=2))
        asked = {
            "since": of(None, None, since), "until": of(None, None, until),
            "key_id": of(None, None, "k1", "other"), "agent": of(None, None, "anna"),
            "operation": of(None, None, "search", "deleted"),
            "outcome": of(None, None, "done", "failed"),
        }  # fmt: skip
        caller = Caller(of(None, "k1"), agents=of(None, (), ("anna",), ("anna", "bob")))
        agents = None if caller.agents is None else list(caller.agents)
        told = await db.run(EVERY, **asked, before=before, agents=agents, own_key=caller.key)
        cursor = None
        if before:
            key = before.id
            cursor = PLACE.encode(*key) if isinstance(key, list) else PLACE.encode(0, key)
        limit = of(1, 2, 7, 1000)
        page = await get_audit(
            db, caller, AuditParameters(**asked, limit=limit, cursor=cursor)
        )  # fmt: skip
        listed = [entry.ids[0] for entry in page.entries]
        assert listed == told[:limit], (asked, before, caller)
        assert (page.next_cursor is None) == (len(told) <= limit)


async def test_pages_follow_each_other_through_what_was_deleted_together(db: Database) -> None:
    chance = random.Random(7)
    await db.run(ADD, rows=_some_lines(chance))
    nothing = dict.fromkeys(EVERY.takes)
    told = await db.run(EVERY, **nothing)
    listed: list[str] = []
    cursor: str | None = None
    while not listed or cursor:
        page = await get_audit(db, LOCAL, AuditParameters(limit=3, cursor=cursor))
        listed += [entry.ids[0] for entry in page.entries]
        cursor = page.next_cursor
    assert listed == told


@pytest.mark.parametrize(
    "given",
    [
        {"since": NOW}, {"until": NOW}, {"key_id": "k"}, {"agent": "anna"}, {"operation": "search"},
        {"outcomes": ["done", None]}, {"agents": ["anna"]}, {"agents": ["anna"], "since": NOW},
    ],
    ids="-".join,
)  # fmt: skip
async def test_what_a_filter_leaves_out_is_not_decoded(db: Database, given: dict[str, Any]) -> None:
    names = ("since", "until", "key_id", "agent", "operation", "outcomes", "agents")
    query, values = narrowed(LIST, dict.fromkeys(names) | given)
    explain = Query("own", f"EXPLAIN {query.text}", query.takes, writes=False)
    plan = await db.run(explain, **values, own_key="k", first=[0], last=[micros_of(NOW)], limit=9)
    assert "pre_decode_filter: deferred" in str(plan)


async def _looks(
    db: Database, monkeypatch: pytest.MonkeyPatch, **asked: Any
) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return what a full page of 20 lines asked of the store, each with its answer."""
    run, looks = db.run, list[Any]()

    async def noting(query: Query, **params: Any) -> Any:
        looks.append((params, await run(query, **params)))
        return looks[-1][1]

    with monkeypatch.context() as patched:
        patched.setattr(db, "run", noting)
        page = await get_audit(db, LOCAL, AuditParameters(limit=20, **asked))
    assert len(page.entries) == 20
    return looks


@pytest.mark.parametrize("seconds", [1e-3, 60])
async def test_a_page_that_is_far_back_costs_what_the_first_one_does(
    db: Database, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """All lines between were looked at: a second for 200,000 of them."""
    # Of now, not of when this file was read: how long ago the newest line is counts.
    now = datetime.now(UTC)
    moments = [now - timedelta(seconds=seconds * n) for n in range(3000)]
    await db.run(ADD, rows=[_line(random.Random(n), n, at) for n, at in enumerate(moments)])
    for cursor in (None, PLACE.encode(micros_of(moments[2500]), "")):
        looks = await _looks(db, monkeypatch, cursor=cursor)
        assert sum(len(lines) for _, lines in looks) < 1000


@pytest.mark.parametrize("seconds", [1e-3, 1])
async def test_the_newest_lines_of_months_ago_are_found_in_few_looks(
    db: Database, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """A stretch that grew again after it was too long took twice as many."""
    gap = timedelta(days=200)
    moments = [datetime.now(UTC) - gap - timedelta(seconds=seconds * n) for n in range(500)]
    await db.run(ADD, rows=[_line(random.Random(n), n, at) for n, at in enumerate(moments)])
    looks = await _looks(db, monkeypatch)
    assert len(looks) < math.log2(gap // timedelta(microseconds=1))
    assert sum(len(lines) for _, lines in looks) < 1000


async def test_nothing_is_looked_at_outside_of_the_time_that_is_asked_for(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = [NOW - timedelta(hours=n) for n in range(200)]
    await db.run(ADD, rows=[_line(random.Random(n), n, at) for n, at in enumerate(moments)])
    since, until = moments[119], moments[100]
    for cursor in (None, PLACE.encode(micros_of(moments[50]), "")):
        # The last look is for lines of older versions.
        *looks, _ = await _looks(db, monkeypatch, since=since, until=until, cursor=cursor)
        assert min(params["first"] for params, _ in looks) == [micros_of(since)]
        assert max(params["last"] for params, _ in looks) == [micros_of(until) + 1]
