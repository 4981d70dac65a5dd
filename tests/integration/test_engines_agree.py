"""Both engines over the same random stores: what SurrealDB answers, the resident index answers."""

import asyncio
import math
import random
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from service.access.caller import Caller
from service.access.origins import ORIGINS
from service.concepts.merging import merge_concepts, part_concepts, variants_of
from service.consolidate.consolidating import Consolidation, consolidate
from service.consolidate.planning import Target
from service.consolidate.undoing import undo_summary
from service.errors import InvalidRequest
from service.index.database.engine import DatabaseEngine
from service.index.engine import Engine
from service.index.evidence import Evidence
from service.index.evidence import Question as Read
from service.index.numbered import NumberedEngine
from service.index.resident.engine import ResidentEngine
from service.kinds import KINDS
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import remove, store
from service.memories.voting import vote
from service.moments import micros_of
from service.records import (
    AHEAD_OF_ALL,
    CONSOLIDATION,
    TRUST_TIERS,
    TYPES,
    Concept,
    Filters,
    Memory,
    Place,
    Scored,
)
from service.search.fusion.scoring import SignalValues
from service.search.signals.features import REACH
from service.store.database import record
from service.store.fetching import fetch
from service.text.words import query_words
from service.trust.quarantine import Selection, select, set_tiers
from service.writing.removing import remove_documents
from tests.effort import amount
from tests.servers.outer_embeddings import vector_of
from tests.stores.open_store import OpenStore, open_store
from tests.stores.resident_index import resident_engine, run, told

pytestmark = pytest.mark.soak

# Long ago: what is no longer valid then is not valid on any clock.
START = datetime(2020, 2, 13, tzinfo=UTC)
VOCABULARY = [
    "run", "running", "runs", "memory", "memories", "kettle", "bunny", "src/app.py", "app.py",
    "E1234", "v2.3.1", "HTTPServer", "기억", "기억을", "메모리", "東京", "the", "who", "GPU",
    "GPUs", "driver", "RTX 5070", "Blue Harbour", "Anna Berg", "SurrealDB", "café", "don't",
]  # fmt: skip
AGENTS = ("main", "second")
EVERYTHING = Filters(agents=AGENTS, include_archived=True, trust=TRUST_TIERS)
CONCEPTS = """
[[concept]]
name = "GPU"
aliases = ["graphics card"]
is_a = ["hardware"]
related_to = ["driver", "kettle"]
[[concept]]
name = "RTX 5070"
is_a = ["GPU"]
"""
# Float16 and SurrealDB's own arithmetic, and the share by which it rounds a text's length.
SAME_COSINE, SAME_SCORE = 1e-3, 1e-3

Deed = tuple[str, int, Pushed]


@dataclass(frozen=True)
class Question:
    """What is asked of both engines at once."""

    words: str
    filters: Filters
    cap: int
    edges: frozenset[str]


class Chance(random.Random):
    """Draws stores, questions and changes from a seed."""

    def rarely(self, value: Any) -> Any:
        """Return mostly None: many filters at once would leave nothing to compare."""
        return value if self.random() < 0.12 else None

    def some(self, values: Sequence[str], most: int) -> tuple[str, ...]:
        return tuple(self.sample(list(values), self.randint(0, most)))

    def words(self, least: int, most: int) -> str:
        return " ".join(self.choices(VOCABULARY, k=self.randint(least, most)))

    def moment(self) -> datetime:
        return START + timedelta(days=self.randrange(6))

    def memory(self, agents: Sequence[str]) -> Pushed:
        return Pushed(
            self.words(1, 9),
            agent=self.choice(agents),
            title=self.choice([None, None, None, "Surreal DB", "SurrealDB"]),
            kind=self.choice([*KINDS[:4], "handoff"]),
            type=self.choice([None, *TYPES]),
            scope=self.choice([None, "gpu", "home"]),
            tags=self.some(["a", "b", "GPU", "automatic", "outdated"], 2),
            concepts=self.some(["GPU", "driver", "Anna Berg", "surreal db"], 1),
            occurred_at=self.moment(),
            session=self.choice([None, "s1", "s2"]),
            trust_tier=self.choice(["trusted", *TRUST_TIERS]),
            origin=self.choice(ORIGINS),
            client=self.choice([None, "codex"]),
            valid_from=self.rarely(self.moment()),
            # Far from this moment: both engines look at their clocks, not at once.
            valid_until=self.rarely(self.choice([self.moment(), START.replace(year=2126)])),
        )

    def memories(self) -> list[Pushed]:
        agents = self.choice([AGENTS[:1], ("main", "main", "second")])
        every = [self.memory(agents) for _ in range(self.choice([1, 12, 25, 40]))]
        return [replace(one, source_ref=f"ref-{n}") for n, one in enumerate(every)]

    def question(self) -> Question:
        asked = Filters(
            agents=self.choice([AGENTS, AGENTS, ("main",), ("second",)]),
            scope=self.rarely("gpu"),
            kinds=self.rarely(self.some([*KINDS[:4], *KINDS[:4]], 4)),
            types=self.rarely(self.some(TYPES, 2)),
            tags=self.rarely(self.some(["a", "b"], 2)),
            since=self.rarely(self.moment()),
            until=self.rarely(self.moment()),
            as_of=self.rarely(self.moment()),
            session=self.rarely("s1"),
            include_archived=self.random() < 0.5,
            origins=self.rarely(self.some(ORIGINS, 2)),
            trust=self.choice([TRUST_TIERS, TRUST_TIERS[:2], ("quarantined",), ()]),
            project=self.rarely(self.choice(["gpu", ""])),
            with_ended=self.random() < 0.2,
            without_automatic=self.random() < 0.5,
        )
        edges = self.some(["related_to", "is_a"], 2)
        return Question(self.words(1, 2), asked, self.choice([200, 5, 2, 0]), frozenset(edges))

    def deeds(self) -> list[Deed]:
        kinds = [*_OF_A_MEMORY, *_OF_AN_AGENT, "merge", "read", "join"]
        return [
            (self.choice(kinds), self.randrange(40), self.memory(AGENTS))
            for _ in range(self.randint(8, 20))
        ]


@dataclass(frozen=True)
class Both:
    """One store and its two engines."""

    opened: OpenStore
    database: DatabaseEngine
    resident: ResidentEngine

    @property
    def engines(self) -> tuple[Engine, Engine]:
        return self.database, self.resident

    async def ids(self) -> list[str]:
        every = await run(self.opened.db, "SELECT VALUE id FROM memory ORDER BY id")
        return [*every, "no such memory"]

    async def concepts(self) -> list[Concept]:
        rows = await run(self.opened.db, "SELECT id, name, memories FROM concept ORDER BY id")
        return [Concept((row["id"][0], row["id"][1]), row["name"], row["memories"]) for row in rows]


@settings(
    max_examples=amount("random stores"),
    # A seed has no smaller one that is simpler, and each example opens a store.
    phases=[Phase.explicit, Phase.generate],
)
@given(st.integers(0, 2**32 - 1))
def test_random_stores_and_questions(seed: int) -> None:
    chance = Chance(seed)
    asked = [chance.question() for _ in range(10)]
    asyncio.run(check_same(chance.memories(), asked, chance.deeds()))


async def check_same(
    pushed: Sequence[Pushed], asked: Sequence[Question], done: Sequence[Deed]
) -> None:
    """Fill a store, compare the engines, change it, compare again, and with a fresh index."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        opened = await stack.enter_async_context(open_store(Path(folder), form="array"))
        resident = await stack.enter_async_context(resident_engine(opened.db))
        both = Both(opened, DatabaseEngine(opened.db), resident)
        await opened.declare(CONCEPTS)
        await store(opened.pipeline, pushed)
        await agree(both, asked, is_churned=False)
        for number, (deed, place, other) in enumerate(done):
            owner, ids = pushed[place % len(pushed)], await both.ids()
            await do(opened, deed, ids[place % len(ids)], replace(other, agent=owner.agent), number)
        await resident.residency.follower.catch_up()
        await agree(both, asked, is_churned=True)
        fresh = await stack.enter_async_context(resident_engine(opened.db))
        words = [query_words(word).split()[0] for word in VOCABULARY]
        for agent in AGENTS:
            followed = told(await resident.residency.index_of(agent), *words)
            assert followed == told(await fresh.residency.index_of(agent), *words)
            assert await resident.residency.take_census(agent) == {}
        assert await opened.complaints() == []


async def do(opened: OpenStore, deed: str, key: str, other: Pushed, number: int) -> None:
    """Change the store in one way; what is gone already is left alone."""
    if deed in _OF_AN_AGENT:
        await _OF_AN_AGENT[deed](opened, other, number)
    found = await fetch(opened.db, AGENTS, key) if deed in _OF_A_MEMORY else None
    for memory in filter(None, [found]):
        if deed == "delete":
            await remove(opened.pipeline, memory.agent, key)
        elif deed == "vote":
            voter, helpful = Caller(other.scope), other.type != "episodic"
            await vote(opened.db, voter, memory.agent, key, helpful=helpful)
        elif memory.source_kind != CONSOLIDATION or deed == "archive":
            # Each field as `other` has it: some would end before they begin.
            with suppress(InvalidRequest):
                await change_memory(opened.pipeline, memory, _OF_A_MEMORY[deed](memory, other))


async def _add(opened: OpenStore, other: Pushed, number: int) -> None:
    await store(opened.pipeline, [replace(other, source_ref=f"added-{number}")])


async def _merge(opened: OpenStore, other: Pushed, number: int) -> None:
    groups = await variants_of(opened.db, other.agent)
    await merge_concepts(opened.pipeline, other.agent, groups, f"run-{number}")


async def _part(opened: OpenStore, other: Pushed, _number: int) -> None:
    await part_concepts(opened.pipeline, other.agent, concept="surreal_db")


async def _read(opened: OpenStore, other: Pushed, number: int) -> None:
    """Read one of two documents as it is now, with a section more or less."""
    sections = [f"## {word}\n\n{other.text} {word}\n" for word in VOCABULARY[: number % 4]]
    await opened.read(f"notes/{number % 2}.md", "\n".join(sections), other.agent, at=START)


async def _drop(opened: OpenStore, other: Pushed, _number: int) -> None:
    await remove_documents(opened.pipeline, other.agent, ["notes/0.md", "notes/1.md"])


async def _join(opened: OpenStore, other: Pushed, _number: int) -> None:
    target = Target(other.agent, None, START + timedelta(days=400))
    await consolidate(opened.pipeline, Consolidation(target, dry_run=False))


async def _undo(opened: OpenStore, other: Pushed, number: int) -> None:
    text = "SELECT VALUE id FROM memory WHERE agent = $who AND source_kind = 'consolidation'"
    for key in await run(opened.db, text, who=other.agent):
        await undo_summary(opened.pipeline, other.agent, key, pin=bool(number % 2))


async def _distrust(opened: OpenStore, other: Pushed, _number: int) -> None:
    selection = Selection((other.agent,), session="s1")
    selected, _ = await select(opened.db, selection, is_quarantined=False)
    await set_tiers(opened.pipeline, selected, "quarantined")


async def _release(opened: OpenStore, other: Pushed, _number: int) -> None:
    selected, _ = await select(
        opened.db, Selection((other.agent,), session="s1"), is_quarantined=True
    )
    await set_tiers(opened.pipeline, selected, None)


_OF_AN_AGENT: Final[Mapping[str, Callable[[OpenStore, Pushed, int], Awaitable[None]]]] = {
    "add": _add, "merge": _merge, "part": _part, "read": _read, "drop": _drop, "join": _join,
    "undo": _undo, "distrust": _distrust, "release": _release,
}  # fmt: skip
_OF_A_MEMORY: Final[Mapping[str, Callable[[Memory, Pushed], dict[str, Any]]]] = {
    "delete": lambda _memory, _other: {},
    "vote": lambda _memory, _other: {},
    "archive": lambda memory, _other: {"archived": memory.archived_at is None},
    "text": lambda memory, other: {} if memory.source.uri else {"text": other.text},
    "fields": lambda _memory, other: {
        "scope": other.scope, "tags": list(other.tags), "kind": other.kind,
        "occurred_at": other.occurred_at,
    },
    "standing": lambda _memory, other: {
        "valid_from": other.valid_from, "valid_until": other.valid_until,
        "trust_tier": other.trust_tier, "pinned": other.scope == "gpu",
    },
    "names": lambda _memory, other: {
        "title": other.title or "", "concepts": list(other.concepts),
        "type": other.type or "semantic",
    },
}  # fmt: skip


async def agree(both: Both, asked: Sequence[Question], *, is_churned: bool) -> None:
    ids, concepts = await both.ids(), await both.concepts()
    sizes = [await engine.sizes([*AGENTS, "nobody"]) for engine in both.engines]
    assert sizes[0] == sizes[1]
    for question in asked:
        await same_filtering(both, question, ids)
        await same_words(both, question)
        await same_holders(both, question)
        await same_meaning(both, question, is_churned=is_churned)
        await same_graph(both, question, ids, concepts)
        await same_evidence(both, question, ids)
        await same_links(both, question, ids)
        await same_newest(both, question, ids)
        await same_numbers(both, question, ids)


async def same_filtering(both: Both, question: Question, ids: Sequence[str]) -> None:
    ranking = [Scored(key, -place) for place, key in enumerate(ids)]
    for limit in (1000, 3):
        kept = [await e.keep_visible(ranking, question.filters, limit) for e in both.engines]
        assert kept[0] == kept[1]
    theirs, mine = [await e.fetch([*ids, "gone"], question.filters) for e in both.engines]
    assert mine == theirs


async def same_words(both: Both, question: Question) -> None:
    words, asked = question.words, question.filters
    theirs, mine = [await engine.by_text(words, asked, 1000) for engine in both.engines]
    assert {hit.id for hit in mine} == {hit.id for hit in theirs}
    rows = await run(both.opened.db, "SELECT id, occurred_micros FROM memory")
    moments = {row["id"]: row["occurred_micros"] for row in rows}
    order = [(-hit.score, -moments[hit.id], hit.id) for hit in mine]
    assert order == sorted(order)
    assert await both.resident.by_text(words, asked, 3) == mine[:3]
    doubt = await doubtful_score(both, words)
    if doubt is None:
        return
    place = {hit.id: number for number, hit in enumerate(mine)}
    for better in theirs:
        for worse in theirs:
            if better.score - worse.score > doubt + SAME_SCORE * better.score:
                assert place[better.id] < place[worse.id], (words, theirs, mine)


async def same_holders(both: Both, question: Question) -> None:
    every = query_words(question.words).split()
    phrases = [" ".join(every[:2]), " ".join(every[2:3])][: 1 + (len(every) > 2)]
    for agent in AGENTS:
        held = [await engine.holding(agent, phrases, 1000) for engine in both.engines]
        assert held[0] == held[1]
        ids = sorted(set().union(*held[0].values()))
        for start, limit in [("", 1000), ("", 2), *((key, 3) for key in ids[1:3])]:
            pages = [await e.holding_after(agent, phrases, start, limit) for e in both.engines]
            assert pages[0] == pages[1] == [key for key in ids if key > start][:limit]
        # Of what is not taken in yet there may be more.
        await both.resident.residency.follower.catch_up()
        ranked = [await both.resident.holding(agent, phrases[:1], n) for n in (1, 1000)]
        one, most = (set().union(*held.values()) for held in ranked)
        assert len(one) == min(1, len(most))
        assert one <= most


async def doubtful_score(both: Both, words: str) -> float | None:
    """Return by how much two of SurrealDB's scores must differ to order them for us as well.

    Its idf is ln x where ours is ln (1 + x): 0 for a word of half of the texts and more, so there
    its scores say nothing (None). Nor do they where two agents share a store: its idf counts the
    words of both, ours those of each. One word alone is ordered alike by any idf. Of several, a
    word's share in a score is at most its idf times 2.2, so that the formulas can turn two texts
    around only when their scores lie closer than the sum of their differences.
    """
    sizes = await both.resident.sizes(AGENTS)
    if min(sizes.values()):
        return None
    size, doubt, terms = sum(sizes.values()), 0.0, query_words(words).split()
    for word in terms:
        index = await both.resident.residency.index_of(max(sizes, key=lambda a: sizes[a]))
        holders = len(index.by_text(word, EVERYTHING, 1000))
        odds = (size - holders + 0.5) / (holders + 0.5)
        if holders * 2 >= size:
            return None
        doubt += 2.2 * (math.log1p(odds) - math.log(odds)) if holders else 0.0
    return doubt if len(terms) > 1 else 0.0


async def same_meaning(both: Both, question: Question, *, is_churned: bool) -> None:
    vector = np.array(vector_of(question.words), np.float32)
    for limit in (1000, 4):
        (theirs, _), (mine, _) = [
            await engine.by_vector(vector, question.filters, limit) for engine in both.engines
        ]
        if is_churned and len(theirs) < len(mine):
            continue  # HNSW may lose neighbours where rows were deleted; an exact scan does not
        ours = {hit.id: hit.score for hit in mine}
        assert [h.score for h in mine] == pytest.approx([h.score for h in theirs], abs=SAME_COSINE)
        if limit == 1000:
            assert ours == pytest.approx({h.id: h.score for h in theirs}, abs=SAME_COSINE)
        clear = {h.id for h in theirs if h.score > theirs[-1].score + 2 * SAME_COSINE}
        assert clear <= ours.keys()


async def same_graph(
    both: Both, question: Question, ids: Sequence[str], concepts: Sequence[Concept]
) -> None:
    agents = question.filters.agents
    caps = dict.fromkeys(agents, question.cap)
    slugs = [*(concept.id for concept in concepts), ("main", "no such concept")]
    of_memories = [
        by_id(await engine.concepts_of_memories(agents, ids, caps)) for engine in both.engines
    ]
    assert of_memories[0] == of_memories[1]
    of_concepts = [await engine.memories_of_concepts(agents, slugs) for engine in both.engines]
    assert of_concepts[0] == of_concepts[1]
    for agent in agents:
        own = [slug for owner, slug in slugs if owner == agent]
        mentioning = [await engine.referencing(agent, own) for engine in both.engines]
        assert mentioning[0] == mentioning[1]
        pairs = [await engine.related_edges(agent, own) for engine in both.engines]
        assert sorted(pairs[0]) == sorted(pairs[1])
    beside = [
        await engine.related_concepts(agents, concepts, question.edges) for engine in both.engines
    ]
    # To find a concept without neighbours is as good as not to find it.
    assert filled(beside[0]) == filled(beside[1])
    chains = [await engine.before_and_after(agents, ids) for engine in both.engines]
    assert chains[0] == chains[1]
    read = Read.read(f"{question.words}, Anna Berg, drivers", None)
    named = [await engine.concepts_named(agents, read) for engine in both.engines]
    assert named[0] == named[1]


async def same_evidence(both: Both, question: Question, ids: Sequence[str]) -> None:
    """Compare what is told of every second memory; of the others as far as they are neighbours."""
    vector = np.array(vector_of(question.words), np.float32)
    read = Read.read(f"{question.words}, Anna Berg, SurrealDB", vector)
    theirs, mine = [
        await engine.collect_evidence(read, question.filters, ids[::2], REACH)
        for engine in both.engines
    ]
    assert theirs.corpus.documents == mine.corpus.documents
    sizes = await both.resident.sizes(AGENTS)
    owners = [agent for agent in AGENTS if sizes[agent]]
    if owners == [agent for agent in owners if agent in question.filters.agents][:1]:
        their_frequencies = theirs.corpus.document_frequencies.tolist()
        assert their_frequencies == mine.corpus.document_frequencies.tolist()
    # Rows stand in any order, and of several agents in another.
    their_rows, my_rows = [np.argsort(one.keys[: one.candidates]) for one in (theirs, mine)]
    assert [theirs.keys[row] for row in their_rows] == [mine.keys[row] for row in my_rows]
    assert beside(theirs) == beside(mine)
    # Every value that there is, whichever signal reads it.
    assert theirs.values.keys() == mine.values.keys()
    for name, values in theirs.values.items():
        tolerance = SAME_COSINE if name == "cosines" else 0
        expected = pytest.approx(values[their_rows], rel=0, abs=tolerance, nan_ok=True)
        assert mine.values[name][my_rows] == expected, name
    # In context too: what neighbours hold and mean counts.
    their_signals, my_signals = SignalValues.of(theirs), SignalValues.of(mine)
    for name in ("vector_context", "named"):
        expected = pytest.approx(their_signals.by_signal[name][their_rows], abs=SAME_COSINE)
        assert my_signals.by_signal[name][my_rows] == expected


def beside(found: Evidence) -> dict[str, tuple[list[str], list[str]]]:
    """Return the neighbours of each memory asked about, by their ids."""

    def names(steps: Sequence[int]) -> list[str]:
        return [found.keys[row] for row in steps if row >= 0]

    ways = zip(
        found.keys[: found.candidates], found.before.tolist(), found.after.tolist(), strict=False
    )
    return {key: (names(before), names(after)) for key, before, after in ways}


async def same_links(both: Both, question: Question, ids: Sequence[str]) -> None:
    agents = question.filters.agents
    caps = dict.fromkeys(agents, question.cap)
    theirs, mine = [
        {
            key: {concept: set(ends) for concept, ends in links}
            for key, links in (await engine.linked(agents, ids, caps)).by_start().items()
        }
        for engine in both.engines
    ]
    assert theirs == mine


async def same_newest(both: Both, question: Question, ids: Sequence[str]) -> None:
    for among in (None, ids[:3], []):
        found = [await engine.newest(question.filters, among) for engine in both.engines]
        assert found[0] == found[1]
    for limit in (1, 3, 1000):
        last = [await engine.latest(question.filters, limit) for engine in both.engines]
        assert last[0] == last[1]
        before, pages = AHEAD_OF_ALL, list[list[Memory]]()
        while not pages or pages[-1]:
            pages = [await e.fetch_newest(question.filters, before, limit) for e in both.engines]
            assert pages[0] == pages[1]
            for last_shown in pages[0][-1:]:
                before = Place(micros_of(last_shown.occurred_at), last_shown.id)


async def same_numbers(both: Both, question: Question, ids: Sequence[str]) -> None:
    """Ask each engine by numbers too: named, its answers are those that it gives by ids."""
    asked, agents = question.filters, question.filters.agents
    vector, caps = np.array(vector_of(question.words), np.float32), dict.fromkeys(agents, 9)
    read = Read.read(f"{question.words}, Anna Berg", vector)
    for engine in both.engines:
        numbered = await engine.numbered(agents)
        numbers = numbered.numbers_of(ids)

        def names(told: Iterable[int], named: NumberedEngine = numbered) -> list[str]:
            return [named.ids[number] for number in told]

        by_words = await numbered.by_text(question.words, asked, 9)
        assert by_words.named(numbered.ids) == await engine.by_text(question.words, asked, 9)
        for phrase in (query_words(question.words), *query_words(question.words).split()):
            held = await numbered.by_phrase(phrase, asked, 9)
            assert held.named(numbered.ids) == await engine.by_phrase(phrase, asked, 9)
        near, filtered = await numbered.by_vector(vector, asked, 9)
        assert (near.named(numbered.ids), filtered) == await engine.by_vector(vector, asked, 9)
        kept = await engine.keep_visible([Scored(key, 0.0) for key in ids], asked, len(ids))
        assert names(await numbered.passing(numbers, asked)) == [hit.id for hit in kept]
        chains = await engine.before_and_after(agents, ids)
        beside = {key for sides in chains.values() for side in sides for key in side}
        assert set(names(await numbered.beside(numbers))) == beside
        summaries = await engine.summaries_of(agents, ids)
        told = await numbered.summaries_of(numbers)
        assert sorted(names(told)) == sorted(summaries)
        for number, summary in told.items():
            if summary >= 0:  # it stands in the store
                assert numbered.ids[summary] == summaries[numbered.ids[number]]
        seen, evidence = await numbered.collect_evidence(read, asked, numbers, REACH)
        assert names(seen) == list(evidence.keys[: evidence.candidates])
        by_ids = await engine.collect_evidence(read, asked, ids, REACH)
        assert set(names(seen)) == set(by_ids.keys[: by_ids.candidates])
        of_keys, links = await numbered.linked(numbers, caps)
        assert names(of_keys) == list(links.keys)
        assert links.by_start() == (await engine.linked(agents, ids, caps)).by_start()


def by_id(found: Mapping[str, Sequence[Concept]]) -> dict[str, list[Concept]]:
    return {key: sorted(concepts, key=lambda c: c.id) for key, concepts in found.items()}


def filled(found: Mapping[Any, Sequence[Any]]) -> dict[Any, Sequence[Any]]:
    return {key: near for key, near in found.items() if near}


async def hub(opened: OpenStore, count: int) -> None:
    """Give one concept many neighbours on each side of it, some of one weight."""
    names = [f"c{number:02}" for number in range(count)]
    rows = [
        {
            "id": record("concept", ["main", name]), "agent": "main", "name": name.upper(),
            "aliases": [], "kind": "declared", "memories": 50, "is_declared": True,
            "is_cased": False,
        }
        for name in (*names, "c20m")
    ]  # fmt: skip
    await run(opened.db, "INSERT INTO concept $rows RETURN NONE", rows=rows)
    pairs = [sorted((name, "c20m")) for name in names]
    edges = [
        {
            "id": record("related_to", ["main", *pair]),
            "agent": "main", "out": pair[1],
            "weight": 1 + number % 7, "is_declared": number % 11 == 0,
        }
        for number, pair in enumerate(pairs)
    ]  # fmt: skip
    await run(opened.db, "INSERT INTO related_to $rows RETURN NONE", rows=edges)


@pytest.mark.anyio
async def test_of_many_neighbours_both_keep_the_same(tmp_path: Path) -> None:
    async with open_store(tmp_path, form="array") as opened, resident_engine(opened.db) as resident:
        await hub(opened, 60)
        both = Both(opened, DatabaseEngine(opened.db), resident)
        concepts = [c for c in await both.concepts() if c.id[1] == "c20m"]
        theirs, mine = [
            await engine.related_concepts(["main"], concepts, ["related_to"])
            for engine in both.engines
        ]
        assert mine == theirs
        assert len(mine["main", "c20m"]) == 40


def test_of_equal_scores_of_two_agents_the_newest_comes_first() -> None:
    """Each agent's index orders its own; the merge of both must as well, whoever's are older."""
    pushed = [
        Pushed("blue bunny", agent=AGENTS[n % 2], occurred_at=START + timedelta(days=n // 2))
        for n in range(6)
    ]

    async def ask() -> None:
        async with AsyncExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            opened = await stack.enter_async_context(open_store(Path(folder), form="array"))
            resident = await stack.enter_async_context(resident_engine(opened.db))
            ids, _ = await store(opened.pipeline, pushed)
            expected = sorted(ids, key=lambda key: (-(ids.index(key) // 2), key))
            vector = np.array(vector_of("blue bunny"), np.float32)
            for limit in (6, 3):
                found = await resident.by_text("bunny", EVERYTHING, limit)
                assert [hit.id for hit in found] == expected[:limit]
                near, _ = await resident.by_vector(vector, EVERYTHING, limit)
                assert [hit.id for hit in near] == expected[:limit]

    asyncio.run(ask())
