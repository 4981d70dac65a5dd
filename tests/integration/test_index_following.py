"""Following the change feed: others' writes arrive, one's own are there when they are answered."""

import asyncio
import shutil
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from service.commands.reembed import FORGET_VECTORS
from service.errors import ServiceError, StoreUnavailable
from service.index.resident import feed_position, follow, snapshots
from service.index.resident import residency as residencies
from service.index.resident.agent_index import AgentIndex
from service.index.resident.change_feed import ChangeFeed
from service.index.resident.engine import ResidentEngine
from service.index.resident.feed_position import FeedPosition
from service.index.resident.follow import Follower
from service.index.resident.neighbours import related
from service.index.resident.residency import Residency
from service.memories.changing import change_memory
from service.memories.storing import find, remove
from service.records import AHEAD_OF_ALL, Commit, Filters
from service.store import database
from service.store.address import StoreAddress
from service.store.database import Database
from service.store.fetching import fetch, fetch_newest
from service.store.queries import Query
from service.writing.embed_later import embed_pending
from tests.conftest import Start
from tests.servers.clock_shim import build_clock_shim, why_no_clock_shim
from tests.servers.outer_embeddings import Answer, outer_embeddings
from tests.servers.surreal_server import Credentials, SurrealProcess, SurrealServer
from tests.stores.open_store import OpenStore, open_store
from tests.stores.resident_index import (
    EVERYTHING,
    PLENTY_BYTES,
    Row,
    memory_row,
    numbers_of,
    run,
    told,
    write_memories,
    write_vector,
)
from tests.stores.template import SCHEMA, lay_store

pytestmark = pytest.mark.anyio

PATIENCE_SECONDS = 30
WORDS = ("bunny", "kettle", "gpu", "harbour", "alone")
CONCEPTS = """
[[concept]]
name = "GPU"
is_a = ["hardware"]
related_to = ["driver", "kettle"]
"""


async def until(condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for something to become true, and fail when it does not."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        await asyncio.sleep(0.02)


@dataclass(frozen=True)
class Replicas:
    """One server, one who writes to it, and another whose indexes follow."""

    server: SurrealServer
    writer: OpenStore
    reader: Database
    residency: Residency

    async def index(self, agent: str = "main") -> AgentIndex:
        return await self.residency.index_of(agent)

    async def fresh(self, agent: str = "main") -> dict[str, Any]:
        """Return what an index loaded at this moment holds."""
        residency = Residency(self.reader, PLENTY_BYTES, None)
        return told(await residency.index_of(agent), *WORDS)

    async def agree(self, *agents: str) -> None:
        """Wait until the followed indexes hold what freshly loaded ones do."""
        for agent in agents or ("main",):
            expected, index = await self.fresh(agent), await self.index(agent)
            with suppress(AssertionError):
                await until(lambda i=index, e=expected: told(i, *WORDS) == e)  # type: ignore[misc]
            assert told(index, *WORDS) == expected  # tells what differs


def address(server: SurrealServer | SurrealProcess) -> StoreAddress:
    known = Credentials()
    return StoreAddress(server.url, known.user, known.password, timeout_seconds=10)


@asynccontextmanager
async def following(residency: Residency) -> AsyncIterator[None]:
    """Follow the feed in the background, as the service does."""
    task = asyncio.create_task(residency.follower.run())
    try:
        yield
        assert not task.done(), task.exception()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def replicas(tmp_path: Path) -> AsyncIterator[Replicas]:
    lay_store(tmp_path / "store")
    with outer_embeddings() as embeddings:
        async with SurrealServer(f"surrealkv://{tmp_path / 'store'}") as server:
            writer = OpenStore(tmp_path, embeddings, address(server), form="bytes")
            reader = Database(address(server))
            try:
                await writer.open()
                await reader.open(SCHEMA)
                residency = Residency(reader, PLENTY_BYTES, None)
                async with following(residency):
                    yield Replicas(server, writer, reader, residency)
            finally:
                await reader.close()
                await writer.close()


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path, form="bytes") as store:
        yield store


class Feed:
    """A store's change feed: what it was asked for and gave, without the commits it has lost."""

    def __init__(self, db: Database) -> None:
        self.looks: list[tuple[int, list[int]]] = []
        self.lost: set[int] = set()
        self._changes = db.changes

    @property
    def newest(self) -> int:
        """Return the stamp of the newest commit that it gave."""
        return max(stamp for _, stamps in self.looks for stamp in stamps)

    async def changes(self, since: int) -> tuple[list[Commit], bool]:
        """Stand in the place of Database.changes; a look is noted as (since, stamps given)."""
        commits, has_more = await self._changes(since)
        kept = [commit for commit in commits if commit.stamp not in self.lost]
        self.looks.append((since, [commit.stamp for commit in kept]))
        return kept, has_more


def position_of(residency: Residency) -> FeedPosition:
    """Return how far a residency over a server has read the feed."""
    feed = residency.follower._feed
    assert isinstance(feed, ChangeFeed)
    return feed._position


async def fill(opened: OpenStore) -> list[str]:
    await opened.declare(CONCEPTS)
    texts = [f"The GPU and the kettle, number {n}, at Blue Harbour." for n in range(4)]
    return await opened.push(*texts, "A bunny all alone.", session="s1")


async def patch(opened: OpenStore, key: str, **fields: Any) -> None:
    memory = await fetch(opened.db, ["main"], key)
    assert memory is not None
    await change_memory(opened.pipeline, memory, fields)


async def embed_later(opened: OpenStore) -> None:
    """Store while the embedding server fails, and embed when it is back."""
    opened.embeddings.next_answers.extend([Answer({"error": "away"}, 503)] * 20)
    await opened.push("A late bunny and a kettle.")
    waiting = await opened.ask("SELECT VALUE id FROM memory WHERE !is_embedded")
    assert isinstance(waiting, list)
    assert len(waiting) == 1
    opened.embeddings.next_answers.clear()
    assert await embed_pending(opened.pipeline) == 1


EDGES_BY_HAND = """
UPSERT type::record('follows', $ids[4])
    SET earlier = array::union(earlier ?? [], [$ids[0]]), later = later ?? [];
UPSERT type::record('follows', $ids[0])
    SET later = array::union(later ?? [], [$ids[4]]), earlier = earlier ?? [];
UPSERT type::record('references', $ids[4])
    SET concepts = array::union(concepts ?? [], [['main', 'gpu']]);
INSERT RELATION INTO is_a { id: ['main', 'driver', 'hardware'],
    in: concept:['main', 'driver'], out: concept:['main', 'hardware'] };
INSERT INTO related_to { id: ['main', 'driver', 'hardware'], weight: 3, agent: 'main',
    out: 'hardware', is_declared: false };
"""
NO_EDGES = "DELETE references; DELETE follows; DELETE is_a; DELETE related_to"
MOVE = "UPDATE type::record('memory', $id) SET agent = 'other' RETURN NONE"

Deed = Callable[[OpenStore, list[str]], Awaitable[Any]]
DEEDS: dict[str, Deed] = {
    "create": lambda o, _: o.push("Another bunny met the GPU and Anna Berg.", "Anna Berg's gpu."),
    "text": lambda o, ids: patch(o, ids[0], text="Only a bunny is left of it."),
    "scope": lambda o, ids: patch(o, ids[0], scope="home"),
    "tags": lambda o, ids: patch(o, ids[0], tags=["one", "two"]),
    "kind and time": lambda o, ids: patch(
        o, ids[0], kind="decision", occurred_at=datetime(2020, 1, 1, tzinfo=UTC)
    ),
    "archive": lambda o, ids: patch(o, ids[0], archived=True),
    "delete": lambda o, ids: remove(o.pipeline, "main", ids[1]),
    "document": lambda o, _: o.read("notes/a.md", "## One\n\nThe kettle.\n\n## Two\n\nThe GPU.\n"),
    "concepts": lambda o, _: o.declare('[[concept]]\nname = "Kettle"\nis_a = ["GPU"]\n'),
    "embed later": lambda o, _: embed_later(o),
    "edges by hand": lambda o, ids: run(o.db, EDGES_BY_HAND, ids=ids),
    "no edges": lambda o, _: run(o.db, NO_EDGES),
    "vector by hand": lambda o, ids: write_vector(o.db, ids[0], numbers_of("else")),
    "no vector": lambda o, ids: run(
        o.db, "DELETE type::record('embedding', $id) RETURN NONE", id=ids[0]
    ),
    "delete by hand": lambda o, ids: run(
        o.db, "DELETE type::record('memory', $id) RETURN NONE", id=ids[2]
    ),
    "everything": lambda o, _: run(o.db, "DELETE memory; DELETE embedding; DELETE concept"),
}


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
async def test_what_another_writes_arrives(replicas: Replicas, deed: Deed) -> None:
    ids = await fill(replicas.writer)
    await replicas.agree("main", "other")
    before = told(await replicas.index(), *WORDS)
    await deed(replicas.writer, ids)
    await replicas.agree("main", "other")
    assert told(await replicas.index(), *WORDS) != before


async def test_what_another_wrote_a_moment_ago_is_listed(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "POLL_SECONDS", 60)
    ids = await fill(replicas.writer)
    engine = ResidentEngine(replicas.residency, threads=1)
    await replicas.residency.index_of("main")
    # It has looked for the last time in this test.
    await asyncio.sleep(0.5)
    for number in range(3):
        ids += await replicas.writer.push(f"Bunny {number}.")
        page = await engine.fetch_newest(Filters(), AHEAD_OF_ALL, 50)
        assert [one.id for one in page] == sorted(ids, reverse=True)
        await remove(replicas.writer.pipeline, "main", ids.pop(0))
        page = await engine.fetch_newest(Filters(session="s1"), AHEAD_OF_ALL, 2)
        assert page == await fetch_newest(replicas.reader, Filters(session="s1"), AHEAD_OF_ALL, 2)
    engine.close()


async def test_a_memory_moved_to_another_agent_takes_its_vector_along(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand; the other agent's index is loaded again to get what was told before."""
    monkeypatch.setattr(residencies, "_WATCH_SECONDS", 0.1)
    monkeypatch.setattr(feed_position, "MARGIN_MS", 0)
    [key] = await replicas.writer.push("A bunny all alone.")
    replicas.residency.expect(["other"])
    await replicas.agree("main", "other")
    watching = asyncio.create_task(replicas.residency.run())
    try:
        await run(replicas.writer.db, MOVE, id=key)
        question = np.ones(16, np.float32)

        filters = Filters(agents=("other",))
        await until(
            lambda: (
                len(replicas.residency._residents["other"].by_vector(question, filters, 5)[0]) == 1
            )
        )
        before = await replicas.index("main")
        assert not before.by_text("bunny", Filters(), 5)
        assert not before.by_vector(question, Filters(), 5)[0]
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


@pytest.mark.parametrize("count", [1, 30])
async def test_one_look_at_the_feed_serves_a_batch_with_all_its_names(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """It is after it: for older memories that mention a name nothing needs to be taken in."""
    older = await opened.push("Once fn 0 was new.")
    await opened.engine.sizes(["main"])  # loads the index
    looks = list[int]()
    look = Follower._read

    async def noting(follower: Follower) -> None:
        looks.append(1)
        await look(follower)

    monkeypatch.setattr(Follower, "_read", noting)
    pairs = [(f"Valve FN-{number} leaks.", f"Mend FN-{number}!") for number in range(count)]
    newer = await opened.push(*chain.from_iterable(pairs))
    assert len(looks) == 1
    assert await opened.memories_of("fn_0") == sorted([*older, *newer[:2]])


async def test_an_edge_with_an_id_of_its_own_arrives(replicas: Replicas) -> None:
    """A person's RELATE gives an edge an id that does not name its ends."""
    await fill(replicas.writer)
    await replicas.agree()
    text = "RELATE concept:['main', 'driver']->is_a->concept:['main', 'hardware'];"
    await run(replicas.writer.db, text)
    index = await replicas.index()
    await until(lambda: len(related(index, ["driver"], {"is_a"})["main", "driver"]) == 1)
    await run(replicas.writer.db, NO_EDGES)
    await until(lambda: index.counts()["references"] == 0)
    assert index.counts()["is_a"] == index.counts()["follows"] == 0


async def test_many_commits_at_once_arrive_in_pages(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_FEED_PAGE", 40)
    await fill(replicas.writer)
    await replicas.agree()
    async with asyncio.timeout(60):
        # The follower is held while these are written: it finds all of them waiting.
        async with replicas.residency.follower._reading:
            for number in range(30):
                await replicas.writer.push(f"Bunny {number} and Blue Harbour.", session="s2")
            rows = [memory_row(f"m{n:03}", "kettle") for n in range(600)]
            await write_memories(replicas.writer.db, rows)
            await replicas.writer.push(*(f"Kettle {n}, GPU {n}." for n in range(128)))
        await replicas.agree()
    assert (await replicas.index()).counts()["memory"] == 763


async def test_one_commit_of_many_concepts_is_one_commit(opened: OpenStore) -> None:
    residency = Residency(opened.db, PLENTY_BYTES, None)
    residency.expect(["main"])
    index = await residency.index_of("main")
    tables = "".join(f'[[concept]]\nname = "Thing {n}"\n' for n in range(700))
    async with asyncio.timeout(60):
        await opened.declare(tables)
        await residency.follower.catch_up()
    assert index.counts()["concept"] == 700


async def test_a_year_that_python_cannot_say_stops_nothing(replicas: Replicas) -> None:
    ids = await fill(replicas.writer)
    index = await replicas.index()
    await run(
        replicas.writer.db,
        "UPDATE type::record('memory', $key) SET occurred_at = d'+10001-01-01T00:00:00Z' "
        "RETURN NONE",
        key=ids[-1],
    )
    await replicas.writer.push("A bunny that came later.")
    await until(lambda: len(index.by_text("bunny", EVERYTHING, 9)) == 2)
    await replicas.agree()
    later = replace(EVERYTHING, since=datetime(9999, 12, 31, tzinfo=UTC))
    assert [hit.id for hit in index.by_text("bunny", later, 9).named(index.keys)] == [ids[-1]]


async def test_after_a_gap_everything_is_loaded_again(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(residencies, "_WATCH_SECONDS", 0.1)
    monkeypatch.setattr(feed_position, "_CHECK_SECONDS", 0.1)
    ids = await fill(replicas.writer)
    residency = Residency(replicas.reader, PLENTY_BYTES, None)
    residency.expect(["main"])
    watching = asyncio.create_task(residency.run())
    try:
        await until(lambda: residency.waiting("main") is None)
        await residency.follower.catch_up()
        index = await residency.index_of("main")
        index.remove_memory(ids[0])  # what was lost in the gap
        # The feed no longer has the newest commit that was read: that is what a gap looks like.
        position_of(residency).newest = 1
        told_why = list[str | None]()

        def is_whole() -> bool:
            told_why.append(residency.caveat("main"))
            now = residency._residents.get("main")
            return now is not None and now is not index and now.counts()["memory"] == 5

        await until(is_whole)
        assert "a gap" in caplog.text
        assert any(told_why)
        assert residency.caveat("main") is None
        # It goes on from there.
        await replicas.writer.push("One more bunny.")
        again = await residency.index_of("main")
        await until(lambda: again.counts()["memory"] == 6)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_an_idle_store_is_not_read_again(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An embedded one: only what is written has to be read, and that once."""
    monkeypatch.setattr(follow, "POLL_SECONDS", 0.01)
    looks = list[str]()
    run_query = opened.db.run

    async def noting(query: Query, **params: Any) -> Any:
        looks.append(query.name)
        return await run_query(query, **params)

    await fill(opened)
    residency = Residency(opened.db, PLENTY_BYTES, None)
    await residency.index_of("main")
    monkeypatch.setattr(opened.db, "run", noting)
    async with following(residency):
        begun = residency.follower.through
        await until(lambda: residency.follower.through > begun)
        await asyncio.sleep(0.2)
        assert looks == []
        await write_memories(opened.db, [memory_row("m1", "kettle")])
        await until(lambda: "current_rows" in looks)
        await asyncio.sleep(0.2)
    assert looks.count("current_rows") == 1


async def test_an_idle_server_is_not_read_again_after_a_while(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(feed_position, "_OVERLAP_MS", 500)
    feed = Feed(replicas.reader)
    monkeypatch.setattr(replicas.reader, "changes", feed.changes)
    await fill(replicas.writer)
    await replicas.agree()
    await until(lambda: not any(stamps for _, stamps in feed.looks[-20:]))
    assert feed.looks[-20:] == [(feed.newest + 1, [])] * 20


async def test_a_gap_is_looked_for_once_a_minute(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(feed_position, "_OVERLAP_MS", 0)
    ids = await fill(replicas.writer)
    # A reader of its own: the other one follows the feed all the time.
    reader = Database(address(replicas.server))
    await reader.open(SCHEMA)
    feed = Feed(reader)
    monkeypatch.setattr(reader, "changes", feed.changes)
    residency = Residency(reader, PLENTY_BYTES, None)
    follower = residency.follower
    await residency.catch_up("main")
    index = await residency.index_of("main")
    newest = feed.newest

    async def looks_after(seconds: float) -> list[tuple[int, list[int]]]:
        feed.looks.clear()
        position_of(residency).checked_at -= seconds
        for _ in range(3):
            await follower.catch_up()
        return feed.looks.copy()

    idle = newest + 1, list[int]()
    assert await looks_after(30) == [idle] * 3
    assert await looks_after(30) == [(newest, [newest]), idle, idle]
    assert "a gap" not in caplog.text
    feed.lost.add(newest)
    index.remove_memory(ids[0])  # what was lost in the gap
    assert await looks_after(30) == [idle] * 3
    assert residency.caveat("main") is None
    await looks_after(30)
    assert "a gap" in caplog.text
    assert residency.caveat("main")
    await residency.catch_up("main")
    assert (await residency.index_of("main")).counts()["memory"] == 5
    assert residency.caveat("main") is None
    await reader.close()


@pytest.mark.parametrize("kept", ["7d", "7d INCLUDE ORIGINAL"])
async def test_an_unknown_table_is_counted_and_nothing_stops(replicas: Replicas, kept: str) -> None:
    await fill(replicas.writer)
    await replicas.agree()
    text = (
        "CREATE stranger:1 SET name = 'x'; UPDATE stranger:1 SET name = 'y'; "
        "DELETE stranger:1; CREATE stranger:[1, 2]; REMOVE TABLE stranger"
    )
    await run(replicas.writer.db, f"DEFINE TABLE stranger CHANGEFEED {kept}")
    await run(replicas.writer.db, text)
    await replicas.writer.push("A bunny after the stranger.")
    await replicas.agree()
    state = await asyncio.to_thread(replicas.residency.state)
    assert state.unknown_tables.keys() == {"stranger"}
    assert state.unknown_tables["stranger"] >= 4


async def test_a_database_that_is_away_is_waited_for_and_the_truth_is_told(
    replicas: Replicas,
) -> None:
    await fill(replicas.writer)
    await replicas.agree()
    follower = replicas.residency.follower
    gone_at = datetime.now(UTC)
    await until(lambda: follower.through > gone_at)
    await replicas.server.stop()
    gone_at = datetime.now(UTC)
    for _ in range(3):
        with pytest.raises(ServiceError):
            await follower.catch_up()
        await follower.after_write()  # says nothing: what it follows was stored
        assert follower.through < gone_at
    found = (await replicas.index()).by_text("bunny", Filters(), 5)
    assert len(found) == 1  # what is in RAM still answers
    await replicas.server.start()
    back_at = datetime.now(UTC)
    await replicas.writer.push("A bunny after the pause.")
    await until(lambda: follower.through > back_at, 15)
    await replicas.agree()


async def test_what_was_written_before_indexed_through_is_found(replicas: Replicas) -> None:
    replicas.residency.expect(["main"])
    index, follower = await replicas.index(), replicas.residency.follower
    for number in range(15):
        key = f"m{number}"
        await write_memories(replicas.writer.db, [memory_row(key, "bunny")])
        written_at = datetime.now(UTC)
        assert follower.through <= written_at
        while follower.through <= written_at:
            await asyncio.sleep(0.005)
            written_in = set(index.by_text("bunny", Filters(), 100).numbers)
            assert follower.through <= datetime.now(UTC)
        written_in.update(index.by_text("bunny", Filters(), 100).numbers)
        assert index.rows[key] in written_in


async def test_writers_and_readers_at_once_end_up_with_one_truth(replicas: Replicas) -> None:
    await fill(replicas.writer)
    index, is_left = await replicas.index(), dict[str, bool]()

    async def write(part: int) -> None:
        for number in range(6):
            [key] = await replicas.writer.push(f"Bunny {part} {number} met the GPU.")
            if number % 2:
                await remove(replicas.writer.pipeline, "main", key)
            is_left[key] = not number % 2

    async def read() -> None:
        for _ in range(20):
            await replicas.residency.follower.catch_up()
            await asyncio.to_thread(index.by_text, "bunny", EVERYTHING, 100)
            await asyncio.to_thread(index.by_vector, np.ones(16, np.float32), EVERYTHING, 100)

    await asyncio.gather(*(write(n) for n in range(3)), read(), read())
    await replicas.agree()
    # What is compared with follows the same feed: of this the writers tell.
    assert {key: index.holds(key) for key in is_left} == is_left


async def test_an_index_joins_with_what_was_written_while_it_loaded(opened: OpenStore) -> None:
    ids = await fill(opened)
    residency = Residency(opened.db, PLENTY_BYTES, None)
    for number in range(8):
        loading = asyncio.create_task(residency.rebuild(["main"]))
        for step in range(3):
            await patch(opened, ids[step], text=f"Bunny {number} {step} at Blue Harbour.")
        [key] = await opened.push(f"Kettle {number}.")
        await loading
        await residency.follower.catch_up()
        await remove(opened.pipeline, "main", key)
        await residency.follower.catch_up()
        fresh = Residency(opened.db, PLENTY_BYTES, None)
        expected = told(await fresh.index_of("main"), *WORDS)
        assert told(await residency.index_of("main"), *WORDS) == expected


def is_found(client: httpx.Client, word: str, key: str) -> bool:
    answer = client.post("/search", json={"query": word, "weights": {"vector": 0, "graph": 0}})
    assert answer.status_code == 200, answer.text
    return key in {hit["id"] for hit in answer.json()["results"]}


def test_ones_own_write_is_found_when_it_is_answered(start: Start) -> None:
    client = start(search_engine="resident").client
    for number in range(50):
        # Of letters alone: zebra11x would be found by the parts that it shares with giraffe11x.
        name = "".join("abcdefghij"[int(digit)] for digit in str(number))
        word, other = f"zebra{name}", f"giraffe{name}"
        sent = client.post("/memories", json={"text": f"The {word} of JR.", "source_ref": word})
        key = sent.json()["id"]
        assert is_found(client, word, key)
        step = number % 3
        if step == 0:
            assert client.patch(f"/memories/{key}", json={"archived": True}).status_code == 200
            assert not is_found(client, word, key)
            client.patch(f"/memories/{key}", json={"archived": False})
            assert is_found(client, word, key)
        elif step == 1:
            assert client.delete(f"/memories/{key}").status_code == 204
            assert not is_found(client, word, key)
        else:
            client.patch(f"/memories/{key}", json={"text": f"Now {other}."})
            assert not is_found(client, word, key)
            assert is_found(client, other, key)


async def test_a_service_tells_when_its_database_went_away(
    tmp_path: Path, embedding_url: str, start: Start
) -> None:
    async with SurrealProcess(tmp_path / "store") as process:
        known = Credentials()
        client = start(
            search_engine="resident", database_url=process.url, database_user=known.user,
            database_password=known.password, embedding_url=embedding_url,
        ).client  # fmt: skip

        def through() -> datetime:
            index = client.get("/health/ready").json()["index"]
            return datetime.fromisoformat(index["indexed_through"])

        client.post("/memories", json={"text": "A blue bunny."})
        began = datetime.now(UTC)
        await until(lambda: through() > began)
        await process.send_signal(signal.SIGKILL)
        gone_at = datetime.now(UTC)
        answer = client.get("/health/ready")
        assert answer.status_code == 503
        assert through() <= gone_at + timedelta(milliseconds=1)
        await process.start()
        back_at = datetime.now(UTC)
        await until(lambda: through() > back_at, 20)
        assert client.post("/search", json={"query": "blue bunny"}).json()["results"]


async def agree(residency: Residency, reader: Database) -> None:
    """Wait until the index of main holds what one loaded now does."""
    fresh = await Residency(reader, PLENTY_BYTES, None).index_of("main")
    expected = told(fresh, *WORDS)
    await until(lambda: told(residency._residents["main"], *WORDS) == expected)


@pytest.mark.skipif(bool(why_no_clock_shim()), reason=str(why_no_clock_shim()))
async def test_a_server_whose_clock_went_back_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its feed then holds commits from the future, which are older than those that come."""
    monkeypatch.setattr(residencies, "_WATCH_SECONDS", 0.1)
    clock = build_clock_shim(tmp_path)
    clock.move(3600)
    with outer_embeddings() as embeddings:
        async with SurrealProcess(tmp_path / "store", environment=clock.environment) as process:
            writer = OpenStore(tmp_path, embeddings, address(process), form="bytes")
            reader = Database(address(process))
            residency = Residency(reader, PLENTY_BYTES, None)
            residency.expect(["main"])
            await writer.open()
            await reader.open(SCHEMA)
            watching = asyncio.create_task(residency.run())
            try:
                ids = await fill(writer)
                await until(lambda: residency.waiting("main") is None)
                await process.send_signal(signal.SIGKILL)
                clock.move(0)
                await process.start()
                for number in range(3):
                    await patch(writer, ids[0], text=f"Only a harbour is left, {number}.")
                await writer.push("A bunny that came later.")
                await agree(residency, reader)
                assert "clock was set back" in caplog.text
                # As before, after all that was loaded anew.
                await patch(writer, ids[1], text="Only a kettle is left.")
                await agree(residency, reader)
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
                await reader.close()
                await writer.close()


async def test_a_snapshot_is_brought_up_to_date_by_the_feed(
    replicas: Replicas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "FEWEST_MEMORIES", 1)
    folder = tmp_path / "index"
    kept, gone = await replicas.writer.push("the blue bunny", "a kettle")
    first = Residency(replicas.reader, PLENTY_BYTES, None, snapshots=folder)
    await first.index_of("main")
    await first.take_snapshots()
    await remove(replicas.writer.pipeline, "main", gone)
    await replicas.writer.push("a bunny in the harbour")
    second = Residency(replicas.reader, PLENTY_BYTES, None, snapshots=folder)
    assert second.snapshots is not None
    index = await second.index_of("main")
    assert second.snapshots._changes is not None, "it was restored"
    assert told(index, *WORDS) == await replicas.fresh()
    assert kept in told(index)["memories"]


@asynccontextmanager
async def served(folder: Path, store: str = "store") -> AsyncIterator[tuple[OpenStore, Residency]]:
    """Serve a store of a folder; its snapshots lie in the folder, whichever store it is."""
    with outer_embeddings() as embeddings:
        async with SurrealServer(f"surrealkv://{folder / store}") as server:
            writer = OpenStore(folder, embeddings, address(server), form="bytes")
            try:
                await writer.open()
                yield writer, Residency(writer.db, PLENTY_BYTES, None, snapshots=folder / "index")
            finally:
                await writer.close()


async def rows_by_table(db: Database) -> dict[str, list[Row]]:
    """Return all rows of a store, as an export has them."""
    tables = (await db._execute("INFO FOR DB", {}))[0]["tables"]
    text = "SELECT * FROM type::table($name)"
    return {name: (await db._execute(text, {"name": name}))[0] for name in tables}


async def import_rows(db: Database, rows: dict[str, list[Row]], *, is_told: bool) -> None:
    """Write these in the place of all rows, as `surreal import` does: no feed is told of it."""
    for table, ones in rows.items():
        relation = "RELATION " if ones and "in" in ones[0] else ""
        text = f"DELETE {table}; INSERT {relation}INTO {table} $rows RETURN NONE"
        begins = "" if is_told else "OPTION IMPORT = TRUE; "
        if ones:
            await db._execute(begins + text, {"rows": ones})


async def test_a_server_brought_back_from_a_copy_does_not_know_a_later_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its feed tells of nothing: what was written after the copy would stay in the index."""
    monkeypatch.setattr(snapshots, "FEWEST_MEMORIES", 1)
    lay_store(tmp_path / "store")

    async def write(text: str) -> None:
        async with served(tmp_path) as (writer, residency):
            await writer.push(text)
            await residency.index_of("main")
            await residency.take_snapshots()

    await write("the blue bunny")
    shutil.copytree(tmp_path / "store", tmp_path / "backup")
    await write("a kettle")
    shutil.rmtree(tmp_path / "store")
    shutil.move(tmp_path / "backup", tmp_path / "store")
    async with served(tmp_path) as (writer, residency):
        index = told(await residency.index_of("main"), *WORDS)
        assert "it is of another store, or of a later moment" in caplog.text
        fresh = await Residency(writer.db, PLENTY_BYTES, None).index_of("main")
        assert index == told(fresh, *WORDS)
        assert len(index["memories"]) == 1


async def test_a_snapshot_that_a_server_was_not_told_of_is_not_used(
    replicas: Replicas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server goes between the file and its token."""

    async def gone(*_: object) -> None:
        raise StoreUnavailable("It is gone.")

    monkeypatch.setattr(snapshots, "FEWEST_MEMORIES", 1)
    await replicas.writer.push("the blue bunny")
    first = Residency(replicas.reader, PLENTY_BYTES, None, snapshots=tmp_path / "index")
    await first.index_of("main")
    with monkeypatch.context() as patched:
        patched.setattr(ChangeFeed, "publish", gone)
        await first.take_snapshots()
    assert list((tmp_path / "index").iterdir())
    second = Residency(replicas.reader, PLENTY_BYTES, None, snapshots=tmp_path / "index")
    assert second.snapshots is not None
    assert told(await second.index_of("main"), *WORDS) == await replicas.fresh()
    assert second.snapshots._changes is None, "it was read from the store"


@pytest.mark.parametrize("is_told", [False, True])
async def test_a_store_that_was_read_from_an_export_does_not_know_the_snapshots_in_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    is_told: bool,
) -> None:
    """Rows come with it, no feed: what was written before it would be as in the snapshot."""
    monkeypatch.setattr(snapshots, "FEWEST_MEMORIES", 1)
    # A copy is made later than what it holds was written, if only by so much.
    monkeypatch.setattr(feed_position, "MARGIN_MS", 50)
    async with served(tmp_path) as (writer, residency):
        changed, gone = await writer.push("the blue bunny", "a kettle")
        await residency.index_of("main")
        await residency.take_snapshots()
        await remove(writer.pipeline, "main", gone)
        await writer.push("a bunny in the harbour")
        memory = await find(writer.db, ["main"], changed)
        await change_memory(writer.pipeline, memory, {"trust_tier": "untrusted"})
        rows = await rows_by_table(writer.db)
    async with served(tmp_path, "other") as (writer, residency):
        await import_rows(writer.db, rows, is_told=is_told)
        index = told(await residency.index_of("main"), *WORDS)
        assert "it is of another store, or of a later moment" in caplog.text
        fresh = await Residency(writer.db, PLENTY_BYTES, None).index_of("main")
        assert index == told(fresh, *WORDS)
        assert len(index["memories"]) == 2


async def test_what_a_server_wrote_to_the_folder_of_an_embedded_store_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is in the log that a snapshot of before goes on with."""
    monkeypatch.setattr(snapshots, "FEWEST_MEMORIES", 1)
    async with open_store(tmp_path, form="bytes") as opened:
        _, gone = await opened.push("the blue bunny", "a kettle")
        residency = Residency(opened.db, PLENTY_BYTES, None, snapshots=tmp_path / "index")
        await residency.index_of("main")
        await residency.take_snapshots()
    async with served(tmp_path) as (writer, _):
        await remove(writer.pipeline, "main", gone)
    async with open_store(tmp_path, form="bytes") as opened:
        residency = Residency(opened.db, PLENTY_BYTES, None, snapshots=tmp_path / "index")
        assert gone not in told(await residency.index_of("main"))["memories"]


async def test_that_there_is_a_snapshot_makes_none_due(
    replicas: Replicas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The feed tells of it, to this service and to others."""
    monkeypatch.setattr(snapshots, "FEWEST_MEMORIES", 1)
    monkeypatch.setattr(snapshots, "_QUIET_SECONDS", 0.0)
    await replicas.writer.push("the blue bunny")
    first, other = (
        Residency(replicas.reader, PLENTY_BYTES, None, snapshots=tmp_path / name)
        for name in ("first", "other")
    )
    for residency in (other, first):
        await residency.index_of("main")
        await residency.take_snapshots()
    for residency in (other, first):
        await residency.follower.catch_up()
        assert residency.snapshots is not None
        assert not residency.snapshots.is_due()
        assert residency.follower.unknown_tables == {}


@pytest.mark.parametrize("has_written", [True, False])
async def test_a_service_follows_a_switch_to_a_model_of_another_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_written: bool
) -> None:
    """Its first vector since it started may be the new model's."""
    monkeypatch.setattr(residencies, "_WATCH_SECONDS", 0.1)
    # What was written just before a start is read again: here nothing is.
    monkeypatch.setattr(feed_position, "MARGIN_MS", 100)
    lay_store(tmp_path / "store")
    async with AsyncExitStack() as stack:
        first, second = (stack.enter_context(outer_embeddings()) for _ in range(2))
        second.dimensions, second.model = 24, "another"
        store = f"surrealkv://{tmp_path / 'store'}"
        server = await stack.enter_async_context(SurrealServer(store))
        writer = OpenStore(tmp_path, first, address(server), form="bytes")
        stack.push_async_callback(writer.close)
        await writer.open()
        await writer.push("the blue bunny", "a kettle")
        await asyncio.sleep(0.5)
        reader = Database(address(server))
        stack.push_async_callback(reader.close)
        await reader.open(SCHEMA)
        residency = Residency(reader, PLENTY_BYTES, None)
        await residency.index_of("main")
        if has_written:
            await writer.push("a harbour")
            await residency.catch_up("main")
        again = OpenStore(tmp_path, second, address(server), form="bytes")
        stack.push_async_callback(again.close)
        await again.db.open(SCHEMA)
        await again.db.run(FORGET_VECTORS)
        await again.vectors.prepare()
        assert await embed_pending(again.pipeline)
        await residency.catch_up("main")
        await agree(residency, reader)
        index = await residency.index_of("main")
        assert index.vectors
        assert index.vectors.dimensions == 24
        assert residency.caveat("main") is None
