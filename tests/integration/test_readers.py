"""Readers: the same answers as the service's own, nothing stale, and no request that fails."""

import asyncio
import errno
import os
import random
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from service.access.caller import LOCAL
from service.consolidate.consolidating import Consolidation, consolidate
from service.consolidate.planning import Target
from service.errors import AgentUnknown, EmbedderUnavailable
from service.index.resident import snapshots
from service.index.resident.engine import ResidentEngine
from service.index.resident.residency import Residency
from service.memories.screening import Pushed
from service.memories.storing import remove, store
from service.memories.voting import vote
from service.readers import line as line_module
from service.readers import readers as module
from service.readers.demand import Demand
from service.readers.readers import Readers
from service.records import Filters
from service.search.fusion.rrf import Fused
from service.search.ranking import rank, rank_here
from service.search.searcher import Answered, Searcher, SearchQuery
from service.settings import Settings
from service.stages import Stages
from tests.integration.test_engines_agree import AGENTS, CONCEPTS, Chance, do
from tests.servers.outer_embeddings import outer_embeddings
from tests.servers.running import free_port, service_process, wait_for
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio

_PATIENCE_SECONDS = 60


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEWEST_MEMORIES", 1)
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.02)
    monkeypatch.setattr(module, "_REST_SECONDS", 0.1)
    monkeypatch.setattr(line_module, "_FIRST_REST_SECONDS", 0.02)
    monkeypatch.setattr(line_module, "_LONGEST_REST_SECONDS", 0.1)
    # Beside other tests on two cores a reader that is nicer by ten takes minutes to start.
    monkeypatch.setattr(line_module, "_NICENESS", 1)
    # However many ask at once here, it is the readers that are looked at.
    monkeypatch.setattr(module, "_MOST_WAITING", 1000)


@dataclass(frozen=True)
class World:
    """One store, the service's own searcher, and one with readers."""

    opened: OpenStore
    alone: Searcher
    readers: Readers

    @property
    def searcher(self) -> Searcher:
        return replace(self.alone, readers=self.readers)

    @property
    def residency(self) -> Residency:
        return cast("ResidentEngine", self.alone.engine).residency

    async def asked(self, query: SearchQuery) -> list[str]:
        """Return the ids that a search with readers ranks, best first."""
        return [hit.id for hit in (await rank(self.searcher, query, Stages())).hits]

    @staticmethod
    async def until(is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while not is_so():  # noqa: ASYNC110 - a process of its own sets no event
                await asyncio.sleep(0.02)

    async def all_hold(self, *agents: str) -> None:
        """Wait until every reader answers about these agents."""
        for agent in agents:
            await self.residency.index_of(agent)
        held = self.residency.follower.held
        await self.until(
            lambda: all(
                one.knows(agent, held(agent)) for one in self.readers.lines for agent in agents
            )
        )


@asynccontextmanager
async def opened_world(
    folder: Path, count: int | None = 1, *, runs: bool = True
) -> AsyncIterator[World]:
    async with open_store(folder, form="bytes") as opened:
        settings = Settings(
            data_dir=folder, embedding_url=opened.embeddings.url, readers=count, _env_file=None
        )
        engine = cast("ResidentEngine", opened.engine)
        alone = Searcher(opened.db, opened.vectors, settings, engine)
        world = World(opened, alone, Readers(engine.residency, settings))
        task = asyncio.create_task(world.readers.run()) if runs else None
        try:
            yield world
        finally:
            if task:
                task.cancel()
            await asyncio.gather(*[task] if task else [], return_exceptions=True)
            await world.readers.close()
            engine.close()


def _own_niceness() -> int:
    return min(os.getpriority(os.PRIO_PROCESS, 0), 18)


def flat(hits: list[Fused]) -> list[tuple[Any, ...]]:
    """Return all that is said of hits, with what each signal says of them."""
    return [
        (hit.id, hit.score, hit.seed, {
            name: (one.rank, one.score, one.share, one.path) for name, one in hit.signals.items()
        })
        for hit in hits
    ]  # fmt: skip


def same(theirs: Answered, mine: Answered) -> None:
    """Compare two answers: numbers to a millionth, all else as it is."""
    assert [hit.id for hit in theirs[0]] == [hit.id for hit in mine[0]]
    for one, other in zip(flat(theirs[0]), flat(mine[0]), strict=True):
        assert one[1] == pytest.approx(other[1], abs=1e-6)
        assert (one[2], one[3].keys()) == (other[2], other[3].keys())
        for name, said in one[3].items():
            assert said[3] == other[3][name][3]
            assert said[:3] == pytest.approx(other[3][name][:3], abs=1e-6)
    assert theirs[1] == mine[1]
    assert str(theirs[2]) == str(mine[2])


def queries(chance: Chance) -> Iterator[SearchQuery]:
    """Yield questions with filters, of both fusions and several weights."""
    for number in range(12):
        asked = chance.question()
        words = f"{asked.words} {chance.words(0, 5)}{' last week' if number % 5 == 0 else ''}"
        query = SearchQuery(words, asked.filters, limit=chance.choice([3, 10, 100]))
        if number % 3 == 0:
            query = replace(query, fusion="rrf")
        if number % 4 == 1:
            query = replace(query, weights={"vector": 0.0, "text": 1.0, "graph": 0.5})
        yield query


@pytest.mark.parametrize("seed", range(4))
async def test_a_reader_ranks_as_the_service_does(tmp_path: Path, seed: int) -> None:
    chance = Chance(seed)
    async with opened_world(tmp_path) as world:
        await world.opened.declare(CONCEPTS)
        pushed = [replace(chance.memory(AGENTS), source_ref=f"r{n}") for n in range(60)]
        ids, _ = await store(world.opened.pipeline, pushed)
        await world.all_hold(*AGENTS)
        deeds = chance.deeds()
        for number, (deed, place, other) in enumerate(deeds):
            owner = pushed[place % len(pushed)]
            await do(world.opened, deed, ids[place], replace(other, agent=owner.agent), number)
        await check_same(world, [*queries(chance)])


async def check_same(
    world: World, asked: Sequence[SearchQuery], agents: Sequence[str] = AGENTS
) -> None:
    await world.all_hold(*agents)
    for query in asked:
        ranked = dict(world.readers.ranked)
        stages, own = Stages(), Stages()
        theirs = await rank(world.searcher, query, stages)
        mine = await rank_here(world.alone, query, own)
        same((theirs.hits, theirs.certainty, theirs.missing), mine)
        assert stages.counts == own.counts
        assert world.readers.ranked == {**ranked, "reader": ranked["reader"] + 1}


async def test_summaries_take_the_place_of_their_sources_there_too(tmp_path: Path) -> None:
    async with opened_world(tmp_path) as world:
        texts = [f"Osprey-{n % 3} saw {n} birds over the harbour." for n in range(12)]
        pushed = [
            Pushed(text, kind="daily_log", occurred_at=START + timedelta(hours=n), source_ref=text)
            for n, text in enumerate(texts)
        ]
        await store(world.opened.pipeline, pushed)
        await world.all_hold("main")
        target = Target("main", None, START + timedelta(days=900))
        await consolidate(world.opened.pipeline, Consolidation(target, dry_run=False))
        asked = SearchQuery("How many birds saw Osprey-1?", limit=10)
        found = await rank_here(world.alone, asked, Stages())
        assert found[0]
        archived = Filters(include_archived=True)
        await check_same(world, [asked, replace(asked, filters=archived)], ["main"])


async def test_votes_count_there_too(tmp_path: Path) -> None:
    asked = SearchQuery("harbour in the morning", limit=10)
    async with opened_world(tmp_path) as world:
        keys = await world.opened.push("The harbour at one.", "The harbour at two.", "At three.")
        before = await rank_here(world.alone, asked, Stages())
        await vote(world.opened.db, LOCAL, "main", keys[1], helpful=True)
        await world.all_hold("main")
        await check_same(world, [asked], ["main"])
        # It holds copies by now: what is said since is told to it.
        for key, helpful in ((keys[1], None), (keys[0], False)):
            await vote(world.opened.db, LOCAL, "main", key, helpful=helpful)
        await check_same(world, [asked], ["main"])
        now = await rank_here(world.alone, asked, Stages())
        assert {hit.id: hit.score for hit in now[0]} == {
            hit.id: pytest.approx(hit.score * (0.95 if hit.id == keys[0] else 1))
            for hit in before[0]
        }


async def test_without_the_embedder_words_answer_there_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(text: str, _seconds: float | None) -> Any:
        raise EmbedderUnavailable(text)

    async with opened_world(tmp_path) as world:
        await world.opened.push("The kettle is in the harbour.", "The driver sleeps.")
        await world.all_hold("main")
        monkeypatch.setattr(world.opened.vectors, "embed_query", unavailable)
        await check_same(world, [SearchQuery("Where is the kettle?")], ["main"])


async def test_what_was_written_is_ranked_at_once_however_many_write(tmp_path: Path) -> None:
    async with opened_world(tmp_path, 2) as world:
        await world.opened.push(*[f"Note {n} of the harbour." for n in range(50)])
        await world.all_hold("main")
        stale: list[str] = []

        async def write_and_ask(number: int) -> None:
            for turn in range(12):
                word = f"zephyr{number}x{turn}"
                query = SearchQuery(f"Where is {word}?", limit=100)
                ids, _ = await store(world.opened.pipeline, [Pushed(f"A {word} in the yard.")])
                if ids[0] not in await world.asked(query):
                    stale.append(f"{word} was not found")
                if turn % 3 == 0:
                    await remove(world.opened.pipeline, "main", ids[0])
                    if ids[0] in await world.asked(query):
                        stale.append(f"{word} was found when it was gone")

        await asyncio.gather(*[write_and_ask(number) for number in range(12)])
        assert stale == []
        assert world.readers.ranked == {"reader": 12 * 16, "service": 0}


async def test_a_reader_that_is_killed_at_any_time_fails_no_question(tmp_path: Path) -> None:
    chance = random.Random(7)
    async with opened_world(tmp_path, 2) as world:
        await world.opened.push(*[f"Note {n} of the harbour." for n in range(50)])
        await world.all_hold("main")
        expected = await rank_here(world.alone, SearchQuery("harbour note 7"), Stages())
        is_over = asyncio.Event()

        async def ask() -> None:
            while not is_over.is_set():
                hits = (await rank(world.searcher, SearchQuery("harbour note 7"), Stages())).hits
                assert [hit.id for hit in hits] == [hit.id for hit in expected[0]]
                await asyncio.sleep(0)

        clients = [asyncio.create_task(ask()) for _ in range(4)]
        for _ in range(12):
            await asyncio.sleep(chance.uniform(0.0, 0.4))
            if pid := chance.choice(world.readers.lines).pid:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        is_over.set()
        await asyncio.gather(*clients)
        await world.all_hold("main")
        before = world.readers.ranked["reader"]
        await world.asked(SearchQuery("harbour"))
        assert world.readers.ranked["reader"] == before + 1


async def test_a_reader_that_hangs_is_passed_over_and_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened_world(tmp_path) as world:
        await world.opened.push("The kettle is in the harbour.")
        await world.all_hold("main")
        [one] = world.readers.lines
        hung = one.pid
        os.kill(hung or 0, signal.SIGSTOP)
        # Not before: on a busy machine one that starts would be passed over too, again and again.
        with monkeypatch.context() as short:
            short.setattr(line_module, "_PATIENCE_SECONDS", 0.3)
            assert len(await world.asked(SearchQuery("kettle"))) == 1
        assert world.readers.ranked == {"reader": 0, "service": 1}
        await world.until(lambda: one.pid not in {None, hung})
        await world.all_hold("main")
        assert len(await world.asked(SearchQuery("kettle"))) == 1
        assert world.readers.ranked == {"reader": 1, "service": 1}


async def test_one_that_does_not_keep_up_with_writers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened_world(tmp_path) as world:
        await world.opened.push("The kettle is in the harbour.")
        await world.all_hold("main")
        monkeypatch.setattr(line_module, "_MOST_BYTES", 100_000)
        [one] = world.readers.lines
        stopped = one.pid
        os.kill(stopped or 0, signal.SIGSTOP)
        for number in range(200):
            await world.opened.push(f"{number} " + "harbour kettle driver " * 50)
            if one.pid != stopped:
                break
        else:
            pytest.fail("it was never given up")
        await world.all_hold("main")
        [best, *_] = await world.asked(SearchQuery(f"{number} harbour", limit=5))
        assert best in await world.opened.ids()


async def test_nothing_is_asked_that_a_reader_cannot_answer(tmp_path: Path) -> None:
    async with opened_world(tmp_path) as world:
        await world.opened.push("The kettle is in the harbour.", agent="main")
        await world.opened.push("The kettle is in the yard.", agent="second")
        await world.all_hold("main")
        assert await world.asked(SearchQuery('"in the harbour" kettle'))
        with pytest.raises(AgentUnknown):
            await world.asked(SearchQuery("kettle", Filters(agents=("nobody",))))
        await world.asked(SearchQuery("kettle", Filters(agents=("main", "nobody"))))
        assert world.readers.ranked == {"reader": 0, "service": 2}


async def test_without_a_place_for_files_the_service_ranks(tmp_path: Path) -> None:
    (tmp_path / "readers").write_text("no folder", encoding="utf-8")
    async with opened_world(tmp_path) as world:
        await world.opened.push("The kettle is in the harbour.")
        await world.residency.index_of("main")
        await world.until(lambda: world.readers.alive == 1)
        await asyncio.sleep(0.3)
        assert len(await world.asked(SearchQuery("kettle"))) == 1
        assert world.readers.ranked == {"reader": 0, "service": 1}


async def test_an_index_that_is_loaded_anew_is_copied_anew(tmp_path: Path) -> None:
    async with opened_world(tmp_path) as world:
        await world.opened.push("The kettle is in the harbour.")
        await world.all_hold("main")
        await world.residency.rebuild(["main"])
        assert len(await world.asked(SearchQuery("kettle"))) == 1
        assert world.readers.ranked == {"reader": 0, "service": 1}
        await world.all_hold("main")
        assert len(await world.asked(SearchQuery("kettle"))) == 1
        assert world.readers.ranked == {"reader": 1, "service": 1}


async def test_a_snapshot_that_is_current_is_mapped_and_no_file_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "FEWEST_MEMORIES", 1)
    async with open_store(tmp_path, form="bytes") as opened:
        await opened.push("The kettle is in the harbour.")
        residency = Residency(opened.db, 10**9, None, snapshots=tmp_path / "snapshots")
        opened.db.after_write = residency.follower.after_write
        settings = Settings(
            data_dir=tmp_path, embedding_url=opened.embeddings.url, readers=1, _env_file=None
        )
        readers = Readers(residency, settings)
        alone = Searcher(opened.db, opened.vectors, settings, ResidentEngine(residency, 1))
        world = World(opened, replace(alone, readers=readers), readers)
        await residency.index_of("main")
        await residency.take_snapshots()
        monkeypatch.setattr(module, "save_index", None)
        running = asyncio.create_task(readers.run())
        await world.all_hold("main")
        shutil.rmtree(tmp_path / "snapshots")
        await opened.push("The kettle is in the yard.")
        assert len(await world.asked(SearchQuery("kettle"))) == 2
        assert readers.ranked == {"reader": 1, "service": 0}
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await readers.close()
        assert not (tmp_path / "readers").exists()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
async def test_no_process_is_left_when_the_service_ends(tmp_path: Path, how: int) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (
        outer_embeddings() as embeddings,
        service_process(
            MEMORY_PORT=str(port), MEMORY_DATA_DIR=str(tmp_path / "data"), MEMORY_READERS="2",
            MEMORY_EMBEDDING_URL=embeddings.url,
        ) as process,
    ):  # fmt: skip
        await asyncio.to_thread(wait_for, f"{url}/health/ready")
        await World.until(lambda: len(_children(process.pid)) == 2)
        pids = _children(process.pid)
        told = await asyncio.to_thread(httpx.get, f"{url}/metrics")
        assert "graph_memory_readers_running 2.0" in told.text
        process.send_signal(how)
        await World.until(lambda: process.poll() is not None and not any(map(_is_running, pids)))


def _children(pid: int) -> list[int]:
    folders = Path(f"/proc/{pid}/task").iterdir()
    return [int(n) for one in folders for n in (one / "children").read_text().split()]


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2][1] != "Z"
    except FileNotFoundError:
        return False


KETTLE = SearchQuery("The kettle is blue.", Filters(agents=("main",)))


@asynccontextmanager
async def world_on_demand(folder: Path) -> AsyncIterator[World]:
    """Open a world whose settings name no number of readers, with one memory."""
    async with opened_world(folder, None) as world:
        await world.opened.push(KETTLE.text, agent="main")
        yield world


async def crowd(world: World) -> list[list[str]]:
    """Ask as forty do at once; return their answers."""
    return await asyncio.gather(*[world.asked(KETTLE) for _ in range(40)])


async def check_none_starts(world: World) -> None:
    """Look for a while that no reader is started, and none is missed."""
    await asyncio.sleep(0.2)
    assert world.readers.alive == 0
    assert world.readers.warning is None


async def test_without_a_number_they_run_while_several_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BY_DEFAULT", 2)
    async with world_on_demand(tmp_path) as world:
        [kettle] = await world.asked(KETTLE)
        for _ in range(40):
            assert await world.asked(KETTLE) == [kettle]  # one after the other is no crowd
        await check_none_starts(world)
        assert await crowd(world) == [[kettle]] * 40
        await world.all_hold("main")
        assert world.readers.alive == 2
        for line in world.readers.lines:
            assert os.getpriority(os.PRIO_PROCESS, line.pid or 0) > _own_niceness()
        await world.asked(KETTLE)
        assert world.readers.ranked["reader"] >= 1
        monkeypatch.setattr(Demand, "is_there", lambda *_: False)  # as ten minutes later
        await world.until(lambda: world.readers.alive == 0)
        assert await world.asked(KETTLE) == [kettle]
        await check_none_starts(world)


async def test_a_crowd_that_asks_about_little_needs_no_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FEWEST_MEMORIES", 2)
    async with world_on_demand(tmp_path) as world:
        await crowd(world)
        await check_none_starts(world)
        await world.opened.push("The kettle is red.", agent="main")
        await world.all_hold("main")


async def test_a_crowd_is_answered_where_no_process_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: Any, **__: Any) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refused)
    async with world_on_demand(tmp_path) as world:
        assert all(await crowd(world))
        await world.until(lambda: world.readers.warning is not None)
        assert "readers do not run; the service ranks meanwhile" in str(world.readers.warning)
        assert all(await crowd(world))
