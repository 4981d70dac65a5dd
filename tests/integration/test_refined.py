"""What is refined is chosen from more than is asked for, each step in its turn."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from service.inference.reranker import Reranker
from service.memories.screening import Pushed
from service.memories.storing import store
from service.records import Filters
from service.search.fusion.rrf import Fused
from service.search.refine import refining
from service.search.refine.refining import Choices, Refiner
from service.search.refine.rerank import clipped
from service.stages import Stages
from tests.integration.test_reranker import client_of
from tests.servers.outer_reranker import outer_reranker
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio

# Beyond the limit and what is fetched for the places of duplicates.
_PLACE = 7
# Longer than a cross-encoder reads.
_QUESTION = "Where is the crane? " * 200
_LONG_AGO = START - timedelta(days=4000)
_STATUS = "the backup of the harbour cameras ended well and all of the films were copied"


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path, form="bytes") as opened:
        yield opened


async def _store(opened: OpenStore, *pushed: Pushed) -> list[str]:
    ids, _ = await store(opened.pipeline, pushed)
    return ids


def _refiner(
    opened: OpenStore,
    limit: int = 1,
    *,
    choices: Choices | None = None,
    reranker: Reranker | None = None,
    without: Sequence[str] = (),
) -> Refiner:
    filters = Filters(without=tuple(without), as_of=START)
    return Refiner(
        opened.engine, reranker, _QUESTION, filters, limit, choices or Choices(), Stages()
    )


async def _refined(refiner: Refiner, ranked: Sequence[str]) -> list[str]:
    """Return what these memories, the first a little better than the next, are refined to."""
    found = await refiner.refine([Fused(key, 1 - n / 100) for n, key in enumerate(ranked)])
    return [hit.memory.id for hit in found.hits]


async def test_what_reorders_looks_far_beyond_the_limit(opened: OpenStore) -> None:
    old = [Pushed(f"The crane of berth {n}.", occurred_at=_LONG_AGO) for n in range(_PLACE)]
    new = Pushed("Orla keeps bees.", occurred_at=START)
    keys = await _store(opened, *old, new)
    assert await _refined(_refiner(opened), keys) == keys[:1]
    assert await _refined(_refiner(opened, choices=Choices(recency=1.0)), keys) == keys[-1:]
    varied = Choices(diversity=1.0)
    assert await _refined(_refiner(opened, 2, choices=varied), keys) == [keys[0], keys[-1]]
    with outer_reranker(score=lambda _, document: float("Orla" in document)) as outer:
        async with client_of(outer.url) as reranker:
            assert await _refined(_refiner(opened, reranker=reranker), keys) == keys[-1:]


async def test_of_two_that_say_the_same_the_younger_is_told_where_recency_counts(
    opened: OpenStore,
) -> None:
    old, new = await _store(
        opened,
        Pushed(_STATUS, occurred_at=_LONG_AGO, source_ref="old"),
        Pushed(_STATUS, occurred_at=START, source_ref="new"),
    )
    assert await _refined(_refiner(opened, 2), [old, new]) == [old]
    assert await _refined(_refiner(opened, 2, choices=Choices(recency=0.2)), [old, new]) == [new]


async def test_what_a_session_was_given_last_is_what_no_copy_is_told_of(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{_STATUS} on day {day}" for day in (1, 2)]
    told = await opened.push(*texts)
    copies = [(await opened.push(text, source_ref=f"copy of {text}"))[0] for text in texts]
    assert await _refined(_refiner(opened, 2, without=told), copies) == []
    monkeypatch.setattr(refining, "MOST_TOLD", 1)
    assert await _refined(_refiner(opened, 2, without=told), copies) == copies[1:]


async def test_a_reranker_is_asked_no_more_than_it_reads_and_loses_nothing(
    opened: OpenStore,
) -> None:
    keys = await opened.push(*(f"The crane of berth {n}." for n in range(34)))
    with outer_reranker(score=lambda _, document: float("berth 29." in document)) as outer:
        async with client_of(outer.url) as reranker:
            found = await _refined(_refiner(opened, 40, reranker=reranker), keys)
    [asked] = outer.requests
    assert len(asked.body["documents"]) == 30
    assert asked.body["query"] == clipped(_QUESTION) != _QUESTION
    assert found == [keys[29], *keys[:29], *keys[30:]]


async def test_where_a_path_begins_is_fetched_though_it_is_no_answer(opened: OpenStore) -> None:
    seed, led = await opened.push("The crane of berth 1.", "Orla keeps bees.")
    refiner = _refiner(opened, choices=Choices(duplicates="show"))
    found = await refiner.refine([Fused(led, 1.0, seed=seed), Fused(seed, 0.9)])
    assert [hit.memory.id for hit in found.hits] == [led]
    assert found.memories[seed].content == "The crane of berth 1."


async def test_diversity_has_the_last_word(opened: OpenStore) -> None:
    keys = await opened.push("The crane of berth 1.", "The crane of berth 2.", "Orla keeps bees.")
    with outer_reranker(score=lambda _, document: float("crane" in document)) as outer:
        async with client_of(outer.url) as reranker:
            plain = await _refined(_refiner(opened, 3, reranker=reranker), keys)
            choices = Choices(diversity=1.0)
            varied = await _refined(_refiner(opened, 3, choices=choices, reranker=reranker), keys)
    assert (plain, varied) == (keys, [keys[0], keys[2], keys[1]])
