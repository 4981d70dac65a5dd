"""A wall clock that is wrong, while the service runs and between runs: order is the store's own.

The service is a process under a clock that the test moves (tests/servers/clock_shim.c).
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.memories.screening import Pushed
from service.memories.storing import store
from service.store.address import StoreAddress
from service.store.database import Database
from tests.servers.clock_shim import ClockShim, build_clock_shim, why_no_clock_shim
from tests.servers.running import free_port, service_process, wait_for
from tests.stores.graph_check import violations
from tests.stores.open_store import open_store

pytestmark = pytest.mark.skipif(bool(why_no_clock_shim()), reason=str(why_no_clock_shim()))

ENGINES = ("resident", "database")
# Loose, for a loaded machine: before, a clock set back by an hour held a write for an hour.
LONGEST_SECONDS = 10.0
HOUR, DAY = 3600.0, 86400.0
WRONG_CLOCKS = (-2.0, -HOUR, -10 * DAY, 10 * DAY)


@pytest.fixture
def clock(tmp_path: Path) -> ClockShim:
    return build_clock_shim(tmp_path)


@contextmanager
def service_under(
    clock: ClockShim, folder: Path, embedding_url: str, engine: str
) -> Iterator[httpx.Client]:
    """Run the service as a process whose clock the test moves."""
    port = free_port()
    with service_process(
        **clock.environment,
        MEMORY_PORT=str(port), MEMORY_DATA_DIR=str(folder / "data"),
        MEMORY_EMBEDDING_URL=embedding_url, MEMORY_SEARCH_ENGINE=engine,
    ) as process:  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/health/ready", lambda: process.poll() is None)
        with httpx.Client(base_url=url, timeout=LONGEST_SECONDS) as client:
            yield client


def write(client: httpx.Client, word: str, **fields: Any) -> str:
    answer = client.post("/memories", json={"text": f"The {word} came by.", **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def is_found(client: httpx.Client, word: str, key: str) -> bool:
    answer = client.post("/search", json={"query": word, "weights": {"vector": 0, "graph": 0}})
    assert answer.status_code == 200, answer.text
    return key in {hit["id"] for hit in answer.json()["results"]}


async def complaints(folder: Path) -> list[str]:
    db = Database(StoreAddress(f"surrealkv://{folder / 'data' / 'store'}"))
    try:
        return await violations(db)
    finally:
        await db.close()


def test_a_clock_that_is_moved_while_it_runs_holds_nothing_up(
    tmp_path: Path, clock: ClockShim, embedding_url: str, engine: str
) -> None:
    with service_under(clock, tmp_path, embedding_url, engine) as client:
        key = write(client, "heron")
        for number, seconds in enumerate(WRONG_CLOCKS):
            clock.move(seconds)
            started = time.monotonic()
            word = f"osprey{'abcdefgh'[number]}"
            new = write(client, word)
            assert time.monotonic() - started < LONGEST_SECONDS
            assert is_found(client, word, new)
            changed = client.patch(f"/memories/{key}", json={"text": f"Now a {word} of its own."})
            assert changed.status_code == 200, changed.text
            assert is_found(client, word, key)
            assert client.get("/health/ready").status_code == 200
        clock.move(0)
        assert client.delete(f"/memories/{new}").status_code == 204
        assert not is_found(client, word, new)
        assert is_found(client, word, key)
        if engine == "resident":
            assert not client.get("/index?agent=main").json()["agent"]["drift"]
    assert asyncio.run(complaints(tmp_path)) == []


def test_a_start_with_a_clock_behind_the_last_run_finds_what_it_writes(
    tmp_path: Path, clock: ClockShim, embedding_url: str, engine: str
) -> None:
    with service_under(clock, tmp_path, embedding_url, engine) as client:
        key = write(client, "heron")
    for number, seconds in enumerate((10 * DAY, -10 * DAY)):
        clock.move(seconds)
        with service_under(clock, tmp_path, embedding_url, engine) as client:
            word = f"osprey{'abcdefgh'[number]}"
            new = write(client, word)
            assert is_found(client, word, new)
            changed = client.patch(f"/memories/{key}", json={"text": f"Now a {word} of its own."})
            assert changed.status_code == 200, changed.text
            assert is_found(client, word, key)
    assert asyncio.run(complaints(tmp_path)) == []


def test_moments_within_a_second_stand_in_their_order(start: Any, engine: str) -> None:
    """Surrealdb issue 7493: an index over datetimes sorts a whole second behind its fractions."""
    client = start(search_engine=engine).client
    second = datetime(2026, 2, 13, 9, tzinfo=UTC)
    parts = (0, 1, 1000, 499_999, 500_000, 500_001, 999_000, 1_000_000)
    moments = [second + timedelta(microseconds=part) for part in parts]
    keys = []
    for moment in (moments[0], *moments[:0:-1]):
        pushed = {"session": "s", "occurred_at": moment.isoformat()}
        keys.append(write(client, f"heron {moment.isoformat()}", **pushed))
    in_order = [keys[0], *keys[:0:-1]]
    assert [one["id"] for one in client.get("/memories").json()["memories"]] == in_order[::-1]
    paged, cursor = [], None
    while True:
        page = client.get("/memories", params={"limit": 1} | ({"cursor": cursor} if cursor else {}))
        paged += [one["id"] for one in page.json()["memories"]]
        cursor = page.json()["next_cursor"]
        if not cursor:
            break
    assert paged == in_order[::-1]
    for earlier, later in pairwise(in_order):
        surroundings = client.get(f"/memories/{later}").json()
        assert [one["id"] for one in surroundings["before"]] == [earlier]
    window = {"since": moments[0].isoformat(), "until": moments[-2].isoformat()}
    within = client.get("/memories", params=window).json()["memories"]
    assert [one["id"] for one in within] == in_order[-2::-1]


@pytest.mark.anyio
async def test_a_batch_without_dates_is_one_chain(tmp_path: Path) -> None:
    """Its moments are those of writing: some end on a whole millisecond, some on a whole second."""
    async with open_store(tmp_path) as opened:
        for part in range(3):
            texts = [f"Turn {part} {number}." for number in range(130)]
            await store(opened.pipeline, [Pushed(text, session="s") for text in texts])
        assert await opened.complaints() == []
        steps = "RETURN math::sum((SELECT VALUE array::len(earlier) FROM follows))"
        assert await opened.ask(steps) == 3 * 130 - 1
