"""Laws of the default ranking, over random stores and on both engines (decision 0021).

A law that holds strictly is asserted as it is written. Meaning is left out (`vector: 0`) where a
law speaks of words: how near two texts are is the embedding model's to say.
"""

import asyncio
import random
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from service.index.database.engine import DatabaseEngine
from service.index.resident.engine import ResidentEngine
from service.memories.screening import Pushed
from service.memories.storing import store
from service.search.fusion.rrf import Fused
from service.search.ranking import rank
from service.search.searcher import Searcher, SearchQuery
from service.settings import Settings
from service.stages import Stages
from tests.effort import amount
from tests.stores.open_store import OpenStore, open_store
from tests.stores.resident_index import resident_engine

START: Final = datetime(2026, 2, 13, 9, tzinfo=UTC)
# The first stands in most memories, the last in few: as words do (Zipf).
COMMON: Final = ("server", "backup", "note", "plan", "water", "garden", "letter", "train")
RARE: Final = (
    "kestrel", "obelisk", "quartz", "sextant", "tundra", "velvet", "walrus", "yarrow", "기억",
    "비밀번호", "東京", "zeppelin",
)  # fmt: skip
WORDS_ALONE: Final = {"vector": 0.0, "text": 1.0, "graph": 0.5}
ALL: Final = {"vector": 1.0, "text": 1.0, "graph": 0.5}
_LENGTH: Final = 14

Law = Callable[["Asking", random.Random], Awaitable[None]]


@dataclass(frozen=True)
class Asking:
    """One store, asked through both of its engines."""

    opened: OpenStore
    resident: ResidentEngine
    searchers: Sequence[Searcher]

    async def ranked(self, text: str, weights: dict[str, float] = WORDS_ALONE) -> list[list[Fused]]:
        """Return all hits of a question, the best first, by engine."""
        query = SearchQuery(text, weights=weights, limit=100)
        return [(await rank(one, query, Stages())).hits for one in self.searchers]

    async def orders(self, text: str, weights: dict[str, float] = WORDS_ALONE) -> list[list[str]]:
        """Return the ids of all hits, the best first, by engine."""
        return [[hit.id for hit in hits] for hits in await self.ranked(text, weights)]

    async def push(self, *memories: Pushed) -> list[str]:
        """Store memories; returns their ids."""
        ids, _ = await store(self.opened.pipeline, memories)
        await self.resident.residency.follower.catch_up()
        return ids


@settings(max_examples=amount("lawful stores"), phases=[Phase.explicit, Phase.generate])
@given(st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("law", [
    "every_word_before_a_title", "a_word_more_lowers_nothing_that_holds_it",
    "rare_words_count_no_less", "what_is_quoted_comes_first", "a_name_counts_by_what_it_tells",
    "of_equal_texts_the_newest_comes_first",
])  # fmt: skip
def test_law(law: str, seed: int) -> None:
    asyncio.run(_check_law(LAWS[law], random.Random(seed)))


async def _check_law(law: Law, chance: random.Random) -> None:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        opened = await stack.enter_async_context(open_store(folder, form="array"))
        resident = await stack.enter_async_context(resident_engine(opened.db))
        own = Settings(data_dir=folder, embedding_url=opened.embeddings.url, _env_file=None)
        searchers = [
            Searcher(opened.db, opened.vectors, own, engine)
            for engine in (DatabaseEngine(opened.db), resident)
        ]
        await law(Asking(opened, resident, searchers), chance)


def _text(chance: random.Random, words: Sequence[str] = (), length: int = _LENGTH) -> str:
    """Return words in any order, filled up with some that stand nowhere else."""
    filler = [f"filler{chance.randrange(10**9)}" for _ in range(length - len(words))]
    every = [*words, *filler]
    chance.shuffle(every)
    return " ".join(every)


def _crowd(chance: random.Random) -> list[Pushed]:
    """Return notes of common and rare words, some with titles of these, some in a session."""
    crowd = []
    for number in range(chance.randint(3, 30)):
        common = [word for place, word in enumerate(COMMON) if chance.random() < 0.7 / (place + 1)]
        rare = [word for word in RARE if chance.random() < 0.08]
        title = " ".join(chance.sample([*COMMON, *RARE], 2)) if chance.random() < 0.3 else None
        crowd.append(
            Pushed(
                _text(chance, [*common, *rare], chance.randint(16, 30)),
                title=title,
                session="talk" if title is None and chance.random() < 0.2 else None,
                occurred_at=START + timedelta(minutes=number),
            )
        )
    return crowd


async def every_word_before_a_title(asking: Asking, chance: random.Random) -> None:
    """Every word held is not behind another's title, all else being equal."""
    await asking.push(*_crowd(chance))
    for _ in range(6):
        words = chance.sample([*COMMON, *RARE], chance.randint(2, 6))
        missing = chance.randint(1, len(words) - 1)
        titled = words[missing:]
        chance.shuffle(words)
        title, holds = " ".join(titled), chance.randint(0, len(titled))
        whole, lure = await asking.push(
            Pushed(_text(chance, words), occurred_at=START),
            Pushed(
                _text(chance, (), _LENGTH - len(titled)),
                title=title if holds else titled[0],
                occurred_at=START + timedelta(days=1),
            ),
        )
        for order in await asking.orders(" ".join(words)):
            assert order.index(whole) < order.index(lure), (words, title)


async def a_word_more_lowers_nothing_that_holds_it(asking: Asking, chance: random.Random) -> None:
    """Add a word that a memory holds: it falls behind none that has the word not.

    A turn is read with its neighbours, which may have the word: it is left out.
    """
    crowd = _crowd(chance)
    ids = await asking.push(*crowd)
    held = {
        key: set(f"{memory.title or ''} {memory.text}".split())
        for key, memory in zip(ids, crowd, strict=True)
        if not memory.session
    }
    for _ in range(8):
        words = chance.sample([*COMMON, *RARE], chance.randint(1, 4))
        more = chance.choice([word for word in (*COMMON, *RARE) if word not in words])
        before = await asking.orders(" ".join(words), WORDS_ALONE | {"graph": 0.0})
        after = await asking.orders(" ".join([*words, more]), WORDS_ALONE | {"graph": 0.0})
        for old, new in zip(before, after, strict=True):
            notes = [key for key in old if key in held]
            for place, key in enumerate(notes):
                if more in held[key]:
                    others = [other for other in notes[place + 1 :] if more not in held[other]]
                    passed = [other for other in others if new.index(other) < new.index(key)]
                    assert not passed, (words, more, key, passed)


async def rare_words_count_no_less(asking: Asking, chance: random.Random) -> None:
    """Of two memories that hold one word each, the one with the rarer word is not behind."""
    await asking.push(*_crowd(chance))
    for _ in range(6):
        frequent, rare = chance.choice(COMMON), f"rare{chance.randrange(10**9)}"
        with_frequent, with_rare, _ = await asking.push(
            Pushed(_text(chance, [frequent]), occurred_at=START + timedelta(days=1)),
            Pushed(_text(chance, [rare]), occurred_at=START),
            Pushed(_text(chance, [frequent]), occurred_at=START),
        )
        other = [chance.choice(RARE)] if chance.random() < 0.5 else []
        question = [frequent, rare, *other]
        chance.shuffle(question)
        for order in await asking.orders(" ".join(question)):
            assert order.index(with_rare) < order.index(with_frequent), question


async def what_is_quoted_comes_first(asking: Asking, chance: random.Random) -> None:
    """Put what holds the quoted words first, whatever else the question asks."""
    await asking.push(*_crowd(chance))
    holding = await asking.push(
        *(
            Pushed(f"{_text(chance)} tall green kestrel {_text(chance)}", occurred_at=START)
            for _ in range(chance.randint(1, 3))
        )
    )
    others = chance.sample([*COMMON, *RARE], 4)
    await asking.push(Pushed(" ".join(others), title=" ".join(others[:2]), occurred_at=START))
    question = f'{" ".join(others)} "tall green kestrel" {" ".join(others)}'
    for weights in (WORDS_ALONE, ALL):
        for order in await asking.orders(question, weights):
            assert set(order[: len(holding)]) == set(holding)


async def a_name_counts_by_what_it_tells(asking: Asking, chance: random.Random) -> None:
    """Of two titles in the question the one of rarer words counts more."""
    crowd = [*_crowd(chance), *(Pushed(_text(chance, COMMON[:2])) for _ in range(5))]
    await asking.push(*crowd)
    frequent, rare = " ".join(COMMON[:2]), f"opal{chance.randrange(10**6)} marten"
    by_frequent, by_rare = await asking.push(
        Pushed(_text(chance), title=frequent, occurred_at=START + timedelta(days=1)),
        Pushed(_text(chance), title=rare, occurred_at=START),
    )
    for hits in await asking.ranked(f"is {frequent} as good as {rare} at home tonight"):
        order, shares = (
            [hit.id for hit in hits],
            {hit.id: hit.signals["named"] for hit in hits if "named" in hit.signals},
        )
        assert order.index(by_rare) < order.index(by_frequent)
        told = [shares[key].share or 0.0 for key in (by_rare, by_frequent)]
        assert told[0] > told[1] >= 0


async def of_equal_texts_the_newest_comes_first(asking: Asking, chance: random.Random) -> None:
    """Equal texts without neighbours stand in the order of time, those of one time by id."""
    await asking.push(*_crowd(chance))
    text = _text(chance, chance.sample(RARE, 2))
    days = [chance.randrange(4) for _ in range(chance.choice([3, 8, 130]))]
    same = [
        Pushed(text, occurred_at=START + timedelta(days=day), source_ref=f"r{n}")
        for n, day in enumerate(days)
    ]
    ids = await asking.push(*same)
    moments = dict(zip(ids, days, strict=True))
    expected = sorted(moments, key=lambda key: (-moments[key], key))
    for weights in (WORDS_ALONE, ALL):
        for order in await asking.orders(text, weights):
            told = [key for key in order if key in moments]
            assert told == sorted(told, key=expected.index)
            # Of more than a hundred equal ones each signal brings in a hundred.
            assert told[:50] == expected[:50]


LAWS: Final[dict[str, Law]] = {
    law.__name__: law
    for law in (
        every_word_before_a_title, a_word_more_lowers_nothing_that_holds_it,
        rare_words_count_no_less, what_is_quoted_comes_first, a_name_counts_by_what_it_tells,
        of_equal_texts_the_newest_comes_first,
    )
}  # fmt: skip
