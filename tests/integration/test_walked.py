"""Where a walk through the graph begins, how far it goes, and what it is worth at its end."""

import math
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from service.errors import AgentUnknown
from service.memories.screening import Pushed
from service.memories.storing import store
from service.recall.graph_recall import RecallQuery, RecallResult, graph_recall
from service.recall.walk import DECAY
from service.records import Filters
from service.search.hybrid import hybrid_search
from service.search.searcher import Searcher, SearchQuery
from service.settings import Settings
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio

BY_WORDS = {"vector": 0.0, "text": 1.0, "graph": 0.5}
# What a concept of two memories tells, one hop away.
PAIR = DECAY / math.log(3)


class Walking:
    """A store, and walks through it."""

    def __init__(self, opened: OpenStore) -> None:
        self.opened = opened
        settings = Settings(_env_file=None)
        self.searcher = Searcher(opened.db, opened.vectors, settings, opened.engine)

    async def push(self, *pushed: Pushed) -> list[str]:
        """Store memories, each a minute after the one before."""
        each = [
            replace(one, occurred_at=START + timedelta(minutes=n)) for n, one in enumerate(pushed)
        ]
        ids, _ = await store(self.opened.pipeline, each)
        return ids

    async def walk(self, text: str = "", limit: int = 10, **wish: Any) -> RecallResult:
        """Walk from the hits of a question, or from `seed_ids`."""
        asked = SearchQuery(text, limit=limit, weights=BY_WORDS)
        return await graph_recall(self.searcher, RecallQuery(asked, **wish))


@pytest.fixture
async def walking(tmp_path: Path) -> AsyncIterator[Walking]:
    async with open_store(tmp_path, form="bytes") as opened:
        yield Walking(opened)


async def test_what_is_reached_counts_by_its_way_and_half_by_the_question(walking: Walking) -> None:
    await walking.push(
        Pushed("Apples, plums and pears.", concepts=("copper",)),
        Pushed("No apples here.", concepts=("copper",)),
    )
    found = await walking.walk("apples plums pears", limit=2)
    best, other = found.hits
    assert (best.reached.score, best.reached.distance) == (1.0, 0)
    by_question = other.fused.score / best.fused.score
    assert 0 < by_question < 1
    assert other.reached.score == pytest.approx(1 - (1 - PAIR) * (1 - by_question / 2))
    # Where both are beginnings each counts by the question alone.
    scores = [hit.reached.score for hit in (await walking.walk("apples plums pears", 4)).hits]
    assert scores == [1.0, pytest.approx(by_question)]
    assert {name: found.receipt.counts[name] for name in ("seeds", "reached")} == {
        "seeds": 1, "reached": 1,
    }  # fmt: skip


async def test_a_walk_begins_at_half_as_many_as_are_asked_for_and_five_at_most(
    walking: Walking,
) -> None:
    keys = await walking.push(*(Pushed(f"Harbour log of pier {n}.") for n in range(12)))
    for limit, seeds in ((1, 1), (2, 1), (3, 2), (9, 5), (100, 5)):
        assert len((await walking.walk("harbour log", limit)).seeds) == seeds
    # Of those that were named by whoever asks it leaves out none, and takes none twice.
    found = await walking.walk(seed_ids=(*keys[:7], *keys[:2]))
    assert found.seeds == tuple(keys[:7])


async def test_of_two_neighbours_in_time_one_is_a_beginning(walking: Walking) -> None:
    first, second, other = await walking.push(
        Pushed("The harbour crane fell.", session="s"),
        Pushed("The harbour crane fell too.", session="s"),
        Pushed("Of the harbour there is also to be told that this crane is blue and tall."),
    )
    still = await walking.walk("harbour crane fell", 3, temporal=False)
    assert set(still.seeds) == {first, second}
    moving = await walking.walk("harbour crane fell", 3)
    assert moving.seeds == (still.seeds[0], other)


async def test_steps_in_time_fade_and_the_stronger_way_is_told(walking: Walking) -> None:
    turns = [Pushed(f"Turn of {word}.", session="s") for word in ("ash", "elm", "fir", "oak")]
    # Along this concept of many the next turn is worth less than by its time.
    turns[1:3] = [replace(one, concepts=("timber",)) for one in turns[1:3]]
    many = [Pushed(f"Plank {n}.", concepts=("timber",)) for n in range(8)]
    more = [Pushed(f"Nail {n}.") for n in range(60)]
    keys = await walking.push(*turns, *many, *more)
    found = await walking.walk(seed_ids=(keys[1],), hops=2, limit=50)
    reached = {hit.memory.id: hit.reached for hit in found.hits}
    assert reached[keys[0]][:2] == (DECAY, 1)
    assert reached[keys[2]][:2] == (DECAY, 1)
    assert [step.direction for step in reached[keys[2]].path] == [None, "after", None]
    assert reached[keys[3]].score == pytest.approx(DECAY**2)
    assert reached[keys[3]].distance == 2
    assert reached[keys[4]].score < DECAY / 2
    in_time = await walking.walk(seed_ids=(keys[1],), edges=("follows",), limit=50)
    assert {hit.memory.id for hit in in_time.hits} == set(keys[:4])


async def test_chains_are_told_whole_however_few_results_are_wanted(walking: Walking) -> None:
    turns = [Pushed(f"Turn of {word}.", session="s") for word in ("ash", "elm", "fir", "oak")]
    keys = await walking.push(*turns)
    found = await walking.walk(seed_ids=(keys[1],), hops=2, limit=1)
    assert [hit.memory.id for hit in found.hits] == [keys[1]]
    [chain] = found.chains
    assert (chain.before, chain.after) == ((keys[0],), (keys[2], keys[3]))
    assert found.memories[keys[3]].content == "Turn of oak."


async def test_a_path_of_the_graph_is_told_by_its_title(walking: Walking) -> None:
    await walking.push(
        Pushed("Apples, plums and pears.", concepts=("copper",)),
        Pushed("Bees hum.", concepts=("copper",)),
    )
    _, led = (await walking.walk("apples plums pears", limit=2)).hits
    assert led.fused.signals["graph"].path == ("Apples, plums and pears.", "copper")


async def test_the_twenty_strongest_concepts_are_told_the_strongest_first(
    walking: Walking,
) -> None:
    names = [f"thing{n:02}" for n in range(25)]
    rare, *_ = await walking.push(
        Pushed("All of them.", concepts=tuple(names)),
        Pushed("And again.", concepts=tuple(names)),
        *(Pushed(f"Number {n} once more.", concepts=(name,)) for n, name in enumerate(names[:20])),
        *(Pushed(f"Nail {n}.") for n in range(40)),
    )
    told = (await walking.walk(seed_ids=(rare,), hops=1)).concepts
    assert [concept.id[1] for concept, _ in told] == [*names[20:], *names[:15]]
    assert [weight for _, weight in told] == sorted((one for _, one in told), reverse=True)


async def test_no_walk_goes_on_from_a_concept_of_nearly_everything(walking: Walking) -> None:
    await walking.opened.declare('[[concept]]\nname = "walrus"\nis_a = ["seal"]\n')
    keys = await walking.push(
        *(Pushed(f"Walrus {n}.", concepts=("walrus",)) for n in range(2)),
        *(Pushed(f"Number {n}.", concepts=("seal",)) for n in range(40)),
    )
    found = await walking.walk(seed_ids=(keys[0],), hops=3)
    assert {hit.memory.id for hit in found.hits} == set(keys[:2])


async def test_who_never_stored_anything_is_unknown_but_to_those_that_let_it_read(
    walking: Walking,
) -> None:
    await walking.push(Pushed("Harbour log."))
    alone = SearchQuery("harbour", Filters(("nobody",)))
    with pytest.raises(AgentUnknown):
        await graph_recall(walking.searcher, RecallQuery(alone))
    with pytest.raises(AgentUnknown):
        await hybrid_search(walking.searcher, alone)
    granted = SearchQuery("harbour", Filters(("nobody", "main"), scope="nowhere"))
    assert (await graph_recall(walking.searcher, RecallQuery(granted))).hits == ()
    assert (await hybrid_search(walking.searcher, granted)).hits == ()
