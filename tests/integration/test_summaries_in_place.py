"""A summary stands where what it was made of was found, also where a path begins."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from service.consolidate.consolidating import Consolidation, consolidate
from service.consolidate.planning import Target
from service.index.numbered import Hits
from service.memories.screening import Pushed
from service.memories.storing import store
from service.records import Filters
from service.search.fusion.rrf import Fused, SignalHit
from service.search.searcher import SearchQuery
from service.search.summaries import summaries_for_sources, with_living
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Archived:
    """A store with two logs of an osprey, archived into a summary."""

    opened: OpenStore
    sources: list[str]
    summary: str


@pytest.fixture
async def archived(tmp_path: Path) -> AsyncIterator[Archived]:
    logs = [
        Pushed(f"The [[Osprey]] saw {n} ships.", kind="daily_log", occurred_at=START)
        for n in (3, 5)
    ]
    target = Target("main", None, START + timedelta(days=900))
    async with open_store(tmp_path, form="bytes") as opened:
        sources, _ = await store(opened.pipeline, logs)
        done = await consolidate(opened.pipeline, Consolidation(target, dry_run=False))
        [summary] = [group.id for group in done.groups]
        yield Archived(opened, sources, summary)


async def test_a_path_from_a_source_begins_at_its_summary(archived: Archived) -> None:
    engine, sources, summary = archived.opened.engine, archived.sources, archived.summary
    led = Fused("other", 1.0, {"graph": SignalHit(1, 0.5, (sources[0], "Osprey"))}, sources[0])
    [hit] = await summaries_for_sources(engine, ["main"], [led])
    assert (hit.id, hit.seed) == ("other", summary)
    assert hit.signals["graph"].path == (summary, "Osprey")
    # Of several sources the best ranked counts.
    both = [Fused(sources[1], 0.9), led, Fused(sources[0], 0.4)]
    hits = await summaries_for_sources(engine, ["main"], both)
    assert [(hit.id, hit.score) for hit in hits] == [(summary, 0.9), ("other", 1.0)]


async def test_what_is_not_archived_stands_once_and_behind_what_was_found(
    archived: Archived,
) -> None:
    near, far = await archived.opened.push("An osprey, an osprey!", "Ospreys are no herons.")
    query = SearchQuery("osprey", Filters(with_sources=True), limit=3)
    engine = await archived.opened.engine.numbered(["main"])
    numbers = engine.numbers_of([archived.sources[0], near, archived.sources[1]])
    few = {"text": Hits(numbers[:2], [1.0, 1.0])}
    assert await with_living(engine, query, few, None, 20) is few, "fewer than are wanted"
    found = {"text": Hits(numbers, [1.0, 1.0, 0.5])}
    text = (await with_living(engine, query, found, None, 20))["text"].named(engine.ids)
    assert text[:3] == found["text"].named(engine.ids)
    assert sorted(hit.id for hit in text[3:]) == sorted([archived.summary, far])
