"""The store has the last word on what is shown, however far behind the engine's index is."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.errors import EmbedderUnavailable
from service.index.database.engine import DatabaseEngine
from service.index.engine import Engine
from service.index.evidence import Evidence, Question
from service.inference.fitting import Fitting
from service.inference.vectors import Vectors
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.recall.graph_recall import RecallQuery, RecallResult, graph_recall
from service.records import Filters, Scored, Vector
from service.search.hybrid import SearchResult, hybrid_search
from service.search.searcher import Searcher, SearchQuery
from service.settings import Settings
from tests.stores.open_store import START, OpenStore, open_store
from tests.stores.template import SCHEMA

pytestmark = pytest.mark.anyio

MOMENT = datetime(2026, 2, 1, tzinfo=UTC)
BY_WORDS = {"vector": 0.0, "text": 1.0, "graph": 0.5}


@dataclass(frozen=True)
class LateEngine(DatabaseEngine):
    """An index that has heard of no archiving, of no move to another scope, of no removal."""

    removed: tuple[str, ...] = ()
    caveats: list[str | None] = field(default_factory=lambda: [None])

    async def by_text(self, text: str, filters: Filters, limit: int) -> list[Scored]:
        found = await super().by_text(text, _late(filters), limit)
        return [*(Scored(key, 100.0) for key in self.removed), *found][:limit]

    async def by_vector(
        self, vector: Vector, filters: Filters, limit: int
    ) -> tuple[list[Scored], int]:
        return await super().by_vector(vector, _late(filters), limit)

    async def keep_visible(
        self, ranking: Sequence[Scored], filters: Filters, limit: int
    ) -> list[Scored]:
        return await super().keep_visible(ranking, _late(filters), limit)

    async def collect_evidence(
        self, question: Question, filters: Filters, keys: Iterable[str], reach: int
    ) -> Evidence:
        return await super().collect_evidence(question, _late(filters), keys, reach)

    def indexed_through(self, _agents: Sequence[str]) -> datetime:
        return MOMENT

    def caveat(self, _agents: Sequence[str]) -> str | None:
        return self.caveats.pop(0) if len(self.caveats) > 1 else self.caveats[0]


def _late(filters: Filters) -> Filters:
    return replace(filters, include_archived=True, scope=None)


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path) as opened:
        yield opened


async def _store(opened: OpenStore, *pushed: Pushed) -> list[str]:
    ids, _ = await store(opened.pipeline, pushed)
    return ids


async def _archive(opened: OpenStore, *keys: str) -> None:
    for key in keys:
        await change_memory(
            opened.pipeline, await find(opened.db, ["main"], key), {"archived": True}
        )


def _searcher(opened: OpenStore, engine: Engine | None = None) -> Searcher:
    settings = Settings(_env_file=None)
    return Searcher(opened.db, opened.vectors, settings, engine or LateEngine(opened.db))


async def _search(
    opened: OpenStore, text: str, engine: Engine | None = None, **wish: object
) -> SearchResult:
    asked = SearchQuery(text, **({"weights": BY_WORDS} | wish))  # type: ignore[arg-type]
    return await hybrid_search(_searcher(opened, engine), asked)


async def _recall(
    opened: OpenStore, text: str, seeds: Sequence[str] = (), limit: int = 10
) -> RecallResult:
    asked = RecallQuery(SearchQuery(text, limit=limit, weights=BY_WORDS), tuple(seeds), hops=4)
    return await graph_recall(_searcher(opened), asked)


def _ids(found: SearchResult | RecallResult) -> list[str]:
    return [hit.memory.id for hit in found.hits]


async def test_an_archived_or_removed_memory_makes_room_for_the_next(opened: OpenStore) -> None:
    await opened.push(*(f"Harbour log number {n}." for n in range(6)))
    order = _ids(await _search(opened, "harbour", limit=6))
    assert len(order) == 6
    await _archive(opened, order[0], order[2])
    await remove(opened.pipeline, "main", order[3])
    late = LateEngine(opened.db, removed=(order[3],))
    found = await _search(opened, "harbour", late, limit=2)
    assert _ids(found) == [order[1], order[4]]
    assert found.hits[0].fused.signals["text"].rank > 1
    assert _ids(await _search(opened, "harbour", late, limit=6)) == [order[1], *order[4:]]


async def test_the_only_visible_one_of_a_long_ranking_is_found(opened: OpenStore) -> None:
    await opened.push(*(f"Harbour log number {n}." for n in range(18)))
    order = _ids(await _search(opened, "harbour", limit=18))
    await _archive(opened, *order[:-1])
    assert _ids(await _search(opened, "harbour", limit=1)) == [order[-1]]
    await _archive(opened, order[-1])
    nothing = await _search(opened, "harbour", limit=1)
    assert (_ids(nothing), nothing.abstained, nothing.confidence) == ([], True, 0.0)


async def test_a_memory_of_another_scope_is_never_shown(opened: OpenStore) -> None:
    shown, _ = await _store(
        opened, Pushed("Harbour, open.", scope="open"), Pushed("Harbour, closed.", scope="closed")
    )
    asked = Filters(scope="open")
    for weights in (BY_WORDS, {"vector": 1.0}):
        assert _ids(await _search(opened, "harbour", filters=asked, weights=weights)) == [shown]


async def test_a_path_begins_at_the_title_of_a_visible_seed_only(opened: OpenStore) -> None:
    seed, other = await _store(
        opened,
        Pushed("All about apples.", title="Apples", concepts=("Velvet",)),
        Pushed("Nothing but bridges.", concepts=("Velvet",)),
    )
    hits = (await _search(opened, "apples")).hits
    assert [hit.memory.id for hit in hits] == [seed, other]
    assert hits[1].fused.signals["graph"].path == ("Apples", "Velvet")
    await _archive(opened, seed)
    [hit] = (await _search(opened, "apples")).hits
    assert (hit.memory.id, hit.fused.signals["graph"].path) == (other, None)


async def test_a_recall_starts_from_the_next_seed(opened: OpenStore) -> None:
    await opened.push(*(f"Harbour log number {n}." for n in range(3)))
    order = _ids(await _search(opened, "harbour", limit=3))
    await _archive(opened, order[0])
    found = await _recall(opened, "harbour", limit=1)
    assert found.seeds == (order[1],)
    assert _ids(found) == [order[1]]
    given = await _recall(opened, "", seeds=order)
    assert given.seeds == tuple(order[1:])
    assert set(_ids(given)) == set(order[1:])


async def test_a_recall_never_names_what_the_store_hides(opened: OpenStore) -> None:
    days = [
        Pushed(
            f"Day {n}.", session="walk", occurred_at=START + timedelta(days=n),
            concepts=("Velvet",) if n == 2 else (f"Linen {n > 2}",),
        )
        for n in range(5)
    ]  # fmt: skip
    ids = await _store(opened, *days)
    whole = await _recall(opened, "", seeds=ids[:1])
    assert set(_ids(whole)) == set(ids)
    assert whole.chains[0].after == tuple(ids[1:])
    await _archive(opened, ids[2])
    found = await _recall(opened, "", seeds=ids[:1])
    assert set(_ids(found)) == set(ids[:2])
    assert found.chains[0].after == (ids[1],)
    assert ids[2] not in found.memories
    for hit in found.hits:
        assert {step.memory for step in hit.reached.path if step.memory} <= found.memories.keys()


async def test_the_receipt_tells_the_engines_own_standing(opened: OpenStore) -> None:
    await opened.push("Harbour log.")
    receipt = (await _search(opened, "harbour")).receipt
    assert (receipt.engine, receipt.indexed_through) == ("database", MOMENT)
    assert receipt.fallback_reason is None
    assert (await _recall(opened, "harbour")).receipt.indexed_through == MOMENT
    begun = datetime.now(UTC)
    now = (await _search(opened, "harbour", DatabaseEngine(opened.db))).receipt.indexed_through
    assert begun <= now <= datetime.now(UTC)


@pytest.mark.parametrize("said", [["loading", None], [None, "loading"]])
async def test_a_caveat_before_or_after_is_told(opened: OpenStore, said: list[str | None]) -> None:
    await opened.push("Harbour log.")
    late = LateEngine(opened.db, caveats=said)
    receipt = (await _search(opened, "harbour", late)).receipt
    assert (receipt.fallback_reason, receipt.missing_signals) == ("loading", [])


async def test_a_missing_vector_is_told_before_a_caveat(opened: OpenStore) -> None:
    await opened.push("Harbour log.")
    opened.vectors.problem = EmbedderUnavailable("Nobody there.")
    opened.embeddings.lists_models = False
    late = LateEngine(opened.db, caveats=["loading"])
    receipt = (await _search(opened, "harbour", late, weights={"text": 1.0, "vector": 1.0})).receipt
    assert receipt.missing_signals == ["vector"]
    assert receipt.fallback_reason
    assert receipt.fallback_reason != "loading"


async def test_a_store_of_another_model_is_searched_by_words(opened: OpenStore) -> None:
    [key] = await opened.push("Harbour log.")
    opened.embeddings.model = "other-model"
    vectors = Vectors(opened.embedder, Fitting(opened.db, SCHEMA, "array"))
    searcher = Searcher(opened.db, vectors, Settings(_env_file=None), DatabaseEngine(opened.db))
    found = await hybrid_search(searcher, SearchQuery("harbour"))
    await vectors.close()
    assert _ids(found) == [key]
    assert found.receipt.missing_signals == ["vector"]
    assert "reembed" in (found.receipt.fallback_reason or "")


@dataclass(frozen=True)
class LoadingEngine(DatabaseEngine):
    """An engine that is still loading the index of agent slow."""

    loaded: asyncio.Event = field(default_factory=asyncio.Event)

    async def sizes(self, agents: Sequence[str]) -> dict[str, int]:
        if "slow" in agents:
            await self.loaded.wait()
        return await super().sizes(agents)


async def test_whoever_waits_for_a_load_takes_no_turn(opened: OpenStore) -> None:
    await opened.push("Harbour log.")
    await opened.push("Harbour log.", agent="slow")
    engine = LoadingEngine(opened.db)
    turns = asyncio.Semaphore(2)
    searcher = Searcher(opened.db, opened.vectors, Settings(_env_file=None), engine, None, turns)

    async def ask(agent: str) -> SearchResult:
        asked = SearchQuery("harbour", Filters(agents=(agent,)), weights=BY_WORDS)
        return await hybrid_search(searcher, asked)

    waiting = [asyncio.create_task(ask("slow")) for _ in range(3)]
    # Until each waits for the load.
    await asyncio.wait(waiting, timeout=0.5)
    async with asyncio.timeout(10):
        assert len((await ask("main")).hits) == 1
    assert not any(task.done() for task in waiting)
    engine.loaded.set()
    assert [len(found.hits) for found in await asyncio.gather(*waiting)] == [1, 1, 1]
