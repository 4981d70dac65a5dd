"""One agent's index as changes make it: in any order, gone and back, and while others read."""

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from service.index.resident.agent_index import CORRUPT, AgentIndex
from service.index.resident.apply_change import OTHER_MODEL
from service.index.resident.apply_commits import apply_commits
from service.index.resident.fetching import read_packed
from service.index.resident.neighbours import before_and_after, concepts_of, memories_of, related
from service.index.resident.vectors import Floats, VectorIndex
from service.records import Commit, Filters, RowChange, Scored
from service.store.vector_forms import stored_vector

AT = datetime(2026, 2, 13, 9, tzinfo=UTC)
WORDS = ["blue", "bunny", "harbour", "engine", "kettle", "letter"]
KEYS = [f"m{number}" for number in range(8)]
SLUGS = [f"c{number}" for number in range(5)]
MODEL = "model/8"
EVERYTHING = Filters(include_archived=True, trust=("trusted", "untrusted", "quarantined"))
ALL_EDGES = {"related_to", "is_a"}


def memory(key: str, words: str, **fields: Any) -> RowChange:
    row = {
        "agent": "main", "words": words, "kind": "note", "type": "semantic", "tags": [],
        "origin": "agent", "trust_tier": "trusted", "occurred_at": AT,
    }  # fmt: skip
    return RowChange("memory", key, row | fields)


def vector_of(seed: int) -> Floats:
    return np.random.default_rng(seed).normal(size=8).astype(np.float32)


def embedding(key: str, seed: int, fingerprint: str = MODEL) -> RowChange:
    row = {"vector": stored_vector(vector_of(seed), "bytes"), "fingerprint": fingerprint}
    return RowChange("embedding", key, row)


def concept(slug: str, memories: int) -> RowChange:
    return RowChange("concept", ["main", slug], {"name": slug.title(), "memories": memories})


def edge(table: str, start: str, end: str, **fields: Any) -> RowChange:
    if table == "follows":
        return RowChange(table, start, {"earlier": [end]})
    if table == "references":
        return RowChange(table, start, {"concepts": [["main", end]]})
    ends = {"out": ["main", end]} | ({"in": ["main", start]} if table == "is_a" else {})
    return RowChange(table, ["main", start, end], ends | fields)


def visible(index: AgentIndex, keys: Iterable[str], filters: Filters) -> set[str]:
    return set(index.seen(keys, filters))


def by_text(index: AgentIndex, words: str, filters: Filters, limit: int) -> list[Scored]:
    return index.by_text(words, filters, limit).named(index.keys)


def by_vector(
    index: AgentIndex, vector: Floats, filters: Filters, limit: int
) -> tuple[list[Scored], int]:
    found, filtered = index.by_vector(vector, filters, limit)
    return found.named(index.keys), filtered


def gone(change: RowChange) -> RowChange:
    return RowChange(change.table, change.key, None)


def take(index: AgentIndex, *changes: RowChange, stamp: int = 1) -> None:
    apply_commits(index, [Commit(stamp, changes)], MODEL)


def said(index: AgentIndex, keys: Sequence[str] = KEYS) -> dict[str, Any]:
    """Return everything that can be asked of an index."""
    question = vector_of(99)
    return {
        "counts": index.counts(),
        "text": {w: by_text(index, w, EVERYTHING, 100) for w in (*WORDS, " ".join(WORDS))},
        "vector": by_vector(index, question, EVERYTHING, 100),
        "visible": visible(index, keys, Filters()),
        "concepts": concepts_of(index, keys, 100),
        "memories": memories_of(index, SLUGS),
        "related": related(index, SLUGS, ALL_EDGES),
        "beside": before_and_after(index, sorted(visible(index, keys, EVERYTHING))),
        "left_out": index.left_out(),
    }


def random_change(chance: random.Random) -> RowChange:
    key, slug = chance.choice(KEYS), chance.choice(SLUGS)
    other_key, other_slug = chance.choice(KEYS), chance.choice(SLUGS)
    words = " ".join(chance.choices(WORDS, k=3))
    archived = chance.choice([None, AT])
    weight, is_declared = chance.randrange(1, 4), chance.random() < 0.3
    changes = [
        memory(key, words, archived_at=archived, occurred_at=AT + timedelta(chance.randrange(5))),
        memory(key, words),
        concept(slug, chance.randrange(1, 6)),
        edge("references", key, slug),
        edge("follows", key, other_key),
        edge("related_to", slug, other_slug, weight=weight, is_declared=is_declared),
        edge("is_a", slug, other_slug),
    ]
    change = chance.choice(changes)
    return gone(change) if chance.random() < 0.25 else change


def histories(seed: int) -> Iterator[list[RowChange]]:
    """Yield commits in which each row is changed at most once, and no step leads to one gone."""
    chance = random.Random(seed)
    for _ in range(12):
        changes = [random_change(chance) for _ in range(chance.randrange(1, 14))]
        once = {(change.table, str(change.key)): change for change in changes}
        steps = [one.row for one in once.values() if one.table == "follows" and one.row]
        ends = {end for row in steps for end in row["earlier"]}
        yield [
            one for one in once.values() if one.table != "follows" or one.row or one.key not in ends
        ]


@pytest.mark.parametrize("seed", range(20))
def test_within_a_commit_the_order_does_not_matter(seed: int) -> None:
    chance = random.Random(seed)
    first, second = AgentIndex("main"), AgentIndex("main")
    # Edges of memories that nobody has seen yet are left alone: here all have been seen.
    for index in (first, second):
        take(index, *(memory(key, "blue") for key in KEYS), *(embedding(k, 3) for k in KEYS))
    for commit in histories(seed):
        take(first, *commit)
        take(second, *chance.sample(commit, len(commit)))
    assert said(first) == said(second)


@pytest.mark.parametrize("seed", range(10))
def test_what_was_taken_in_already_changes_nothing(seed: int) -> None:
    """Pages of the feed overlap: a whole history again leaves everything as it is."""
    once, twice = AgentIndex("main"), AgentIndex("main")
    commits = list(histories(seed))
    for index in (once, twice):
        take(index, *(memory(key, "blue") for key in KEYS))
        for commit in commits:
            take(index, *commit)
    for commit in commits:
        take(twice, *commit)
    assert said(once) == said(twice)


def test_a_row_deleted_and_written_again_in_one_commit_is_there() -> None:
    index = AgentIndex("main")
    here = [memory("m0", "blue bunny"), embedding("m0", 1), concept("c0", 2)]
    here += [edge("references", "m0", "c0")]
    take(index, *here)
    before = said(index)
    take(index, *map(gone, here), *here)
    assert said(index) == before
    take(index, *here, *map(gone, reversed(here)))
    assert index.counts() == AgentIndex("main").counts()


def test_a_key_that_comes_back_has_nothing_of_its_former_self() -> None:
    index = AgentIndex("main")
    take(index, memory("m0", "blue", scope="gpu", tags=["a"], archived_at=AT), embedding("m0", 1))
    take(index, gone(memory("m0", "")), gone(embedding("m0", 1)))
    assert visible(index, ["m0"], EVERYTHING) == set()
    assert by_text(index, "blue", EVERYTHING, 10) == []
    assert by_vector(index, vector_of(1), EVERYTHING, 10)[0] == []
    take(index, memory("m0", "bunny"))
    assert visible(index, ["m0"], Filters()) == {"m0"}
    assert visible(index, ["m0"], Filters(tags=("a",))) == set()
    assert by_text(index, "blue", EVERYTHING, 10) == []
    assert by_vector(index, vector_of(1), EVERYTHING, 10)[0] == []
    assert [hit.id for hit in by_text(index, "bunny", Filters(), 10)] == ["m0"]
    assert (len(index.keys), index.wasted_rows) == (1, 0)


def test_memories_that_are_gone_are_as_unknown_as_none() -> None:
    index = AgentIndex("main")
    take(index, memory("m0", "blue"), memory("m1", "blue"), concept("c0", 2))
    take(index, edge("follows", "m1", "m0"), edge("references", "m0", "c0"))
    took_with_it = [edge("follows", "m1", "m0"), edge("references", "m0", "c0")]
    take(index, gone(memory("m0", "")), *map(gone, took_with_it))
    asked = ["m0", "m1", "m2"]
    assert visible(index, asked, EVERYTHING) == {"m1"}
    assert concepts_of(index, asked, 10).keys() == {"m1"}
    assert before_and_after(index, asked) == {"m1": ([], [])}
    assert memories_of(index, ["c0"]) == {("main", "c0"): []}


def test_edges_between_rows_of_other_agents_are_not_taken_in() -> None:
    index = AgentIndex("main")
    take(index, memory("m0", "blue"), concept("c0", 2))
    before = said(index)
    take(
        index,
        memory("theirs", "blue", agent="other"),
        embedding("theirs", 1),
        RowChange("concept", ["other", "c0"], {"name": "C0", "memories": 9}),
        edge("references", "theirs", "c0"),
        edge("follows", "theirs", "theirs-too"),
        RowChange("related_to", ["other", "c0", "c1"], {"weight": 3}),
        RowChange("is_a", ["other", "c0", "c1"], {}),
    )
    assert said(index) == before
    assert len(index.keys) == 1


def test_a_memory_that_moves_away_leaves_with_its_vector() -> None:
    index = AgentIndex("main")
    take(index, memory("m0", "blue"), embedding("m0", 1))
    take(index, memory("m0", "blue", agent="other"))
    assert index.counts()["memory"] == index.counts()["embedding"] == 0
    assert by_text(index, "blue", EVERYTHING, 10) == []


def test_an_edge_given_another_weight_is_still_one_edge() -> None:
    index = AgentIndex("main")
    take(index, concept("c0", 4), concept("c1", 4))
    for weight, share in ((1, 0.25), (3, 0.75), (2, 0.5)):
        take(index, edge("related_to", "c0", "c1", weight=weight, is_declared=False))
        [beside] = related(index, ["c0"], ALL_EDGES)["main", "c0"]
        assert beside.share == share
    take(index, edge("related_to", "c0", "c1", weight=2, is_declared=True))
    assert related(index, ["c1"], ALL_EDGES)["main", "c1"][0].share == 0.8
    take(index, edge("related_to", "c0", "c1", weight=2, is_declared=False))
    assert related(index, ["c1"], ALL_EDGES)["main", "c1"][0].share == 0.5
    assert index.counts()["related_to"] == 1


def test_vectors_that_do_not_fit_are_left_out_and_told() -> None:
    index = AgentIndex("main", VectorIndex(8))
    take(index, *(memory(key, "blue") for key in KEYS[:6]), *(embedding(k, 2) for k in KEYS[:6]))
    narrow = RowChange("embedding", "m0", {"vector": [1.0] * 7, "fingerprint": MODEL})
    odd = RowChange("embedding", "m1", {"vector": b"12345", "fingerprint": MODEL})
    blank = RowChange("embedding", "m2", {"vector": [float("nan")] * 8, "fingerprint": MODEL})
    empty = RowChange("embedding", "m3", {"vector": [], "fingerprint": MODEL})
    take(index, narrow, odd, blank, empty, embedding("m4", 4, "another model/8"))
    assert {hit.id for hit in by_vector(index, vector_of(2), EVERYTHING, 10)[0]} == {"m5"}
    assert sum(index.left_out().values()) == 5
    assert index.left_out()[OTHER_MODEL] == 1
    assert len(by_text(index, "blue", EVERYTHING, 10)) == 6
    take(index, *(embedding(key, 2) for key in KEYS[:3]), gone(embedding("m3", 2)))
    assert index.left_out() == {OTHER_MODEL: 1}
    take(index, gone(memory("m4", "")))
    assert index.left_out() == {}


def test_what_changes_during_a_scan_is_seen_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    index = AgentIndex("main", VectorIndex(8))
    for seed, key in enumerate(KEYS):
        take(index, memory(key, "blue", scope="home"), embedding(key, seed))
    scan = VectorIndex.candidates

    def disturbed(self: VectorIndex, *asked: Any) -> Any:
        rows = scan(self, *asked)
        with ThreadPoolExecutor(1) as other:  # the lock is free while the scan goes on
            changes = (
                gone(memory("m3", "")), memory("m4", "blue", scope="work"), embedding("m5", 3),
                gone(embedding("m6", 0)),
            )  # fmt: skip
            other.submit(take, index, *changes).result(timeout=10)
        return rows

    monkeypatch.setattr(VectorIndex, "candidates", disturbed)
    found, _ = by_vector(index, vector_of(3), Filters(scope="home"), 10)
    assert {hit.id for hit in found} == {"m0", "m1", "m2", "m5", "m7"}
    assert (found[0].id, round(found[0].score, 2)) == ("m5", 1.0)


BAD_ROWS: list[RowChange] = [
    memory("m0", "blue", tags=None),
    memory("m0", "blue", tags=["a", 7]),
    memory("m0", "blue", tags=[{"a": 1}]),
    memory("m0", "blue", scope={"a": 1}),
    memory("m0", "blue", session=["a"]),
    memory("m0", "blue", occurred_at="yesterday"),
    memory("m0", "blue", valid_from="yesterday"),
    memory("m0", "blue", valid_until=["yesterday"]),
    memory("m0", "blue", kind=None),
    memory("m0", 7),  # type: ignore[arg-type]
    memory(["m0"], "blue"),  # type: ignore[arg-type]
    RowChange("concept", ["main", "c0"], {"name": "C0"}),
    RowChange("concept", ["main", "c0"], {"name": "C0", "memories": "two"}),
    RowChange("concept", ["main", "c0"], {"name": 7, "memories": 2}),
    RowChange("concept", ["main", ["c0"]], {"name": "C0", "memories": 2}),
    edge("related_to", "c0", "c1", weight="two"),
    edge("related_to", "c0", "c1", weight=0.5),
    RowChange("references", "m0", {"concepts": 7}),
    RowChange("references", "m0", {"concepts": [["main", "c0", "more"]]}),
    RowChange("follows", "m0", {"earlier": None}),
    RowChange("embedding", "m0", {"fingerprint": MODEL}),
    RowChange("embedding", "m0", {"vector": "blue", "fingerprint": MODEL}),
    RowChange("embedding", "m0", {"vector": [["a"]], "fingerprint": MODEL}),
]


def place_of(bad: RowChange) -> str:
    """Return a short name of a bad row."""
    odd = {k: v for k, v in (bad.row or {}).items() if v != memory("m0", "blue").row.get(k)}  # type: ignore[union-attr]
    return f"{bad.table} {bad.key} {odd}"


@pytest.mark.parametrize("bad", BAD_ROWS, ids=place_of)
def test_a_corrupt_row_is_left_out_and_told_and_the_rest_answers(bad: RowChange) -> None:
    index = AgentIndex("main", VectorIndex(8))
    take(index, memory("m1", "blue"), embedding("m1", 1), concept("c1", 2), concept("c2", 2))
    take(index, edge("references", "m1", "c1"), edge("related_to", "c1", "c2", weight=1))
    if bad.table != "memory":
        take(index, memory("m0", "blue bunny"), concept("c0", 2))
    both = {"concepts": [["main", "c1"], ["main", "c2"]]}
    take(index, bad, RowChange("references", "m1", both), concept("c2", 3))
    assert sum(index.left_out().values()) == 1
    answered = said(index)
    assert "m1" in {hit.id for hit in answered["text"]["blue"]}
    assert answered["concepts"]["m1"][1].memories == 3
    assert [hit.id for hit in answered["vector"][0]] == ["m1"]


def test_what_followed_a_memory_follows_it_no_more_where_its_row_says_so() -> None:
    index = AgentIndex("main")
    take(index, *(memory(key, "blue") for key in ("m0", "m1", "m2")))
    take(index, edge("follows", "m1", "m0"), edge("follows", "m2", "m0"))
    take(index, RowChange("follows", "m0", {"earlier": [], "later": ["m2"]}))
    assert before_and_after(index, ["m0", "m1"]) == {"m0": ([], ["m2"]), "m1": ([], [])}
    take(index, RowChange("follows", "m0", None))
    assert index.counts()["follows"] == 0


def test_what_is_left_out_by_its_id_is_not_seen() -> None:
    index = AgentIndex("main")
    take(index, memory("m0", "blue"), memory("m1", "blue"), memory("m2", "blue"))
    asked = replace(EVERYTHING, without=("m1", "unheard"))
    assert visible(index, ["m2", "m1", "unheard", "m0"], asked) == {"m0", "m2"}
    assert list(index.seen(["m2", "m1", "m0"], asked)) == ["m2", "m0"]
    assert read_packed(index, ["m0", "m1"], asked).keys() == {"m0"}


@pytest.mark.parametrize(
    "bad",
    [row for row in BAD_ROWS if row.table == "memory" and row.key == "m0"],
    ids=place_of,
)
def test_a_memory_that_becomes_corrupt_is_not_answered_as_it_was(bad: RowChange) -> None:
    index = AgentIndex("main")
    take(index, memory("m0", "blue"), memory("m1", "blue"))
    take(index, bad)
    assert visible(index, ["m0", "m1"], EVERYTHING) == {"m1"}
    assert [hit.id for hit in by_text(index, "blue", EVERYTHING, 10)] == ["m1"]
    assert index.left_out() == {CORRUPT: 1}
    take(index, bad)
    assert index.left_out() == {CORRUPT: 1}
    take(index, memory("m0", "blue"))
    assert visible(index, ["m0", "m1"], EVERYTHING) == {"m0", "m1"}
    assert index.left_out() == {}


def test_equal_scores_stand_in_the_order_of_ids_and_the_limit_cuts_there() -> None:
    index, chance = AgentIndex("main"), random.Random(5)
    keys = [f"k{number:04}" for number in range(1500)]
    shuffled = chance.sample(keys, len(keys))
    take(index, *(memory(k, "blue bunny") for k in shuffled), *(embedding(k, 1) for k in shuffled))
    for limit in (1, 7, 1499, 1500, 2000):
        assert [hit.id for hit in by_text(index, "bunny", EVERYTHING, limit)] == keys[:limit]
        assert [hit.id for hit in by_vector(index, vector_of(4), EVERYTHING, limit)[0]] == (
            keys[:limit]
        )


def test_a_question_of_another_length_finds_nothing() -> None:
    index = AgentIndex("main")
    question = np.ones(9, np.float32)
    assert by_vector(index, question, EVERYTHING, 5) == ([], 0)
    take(index, memory("m0", "blue"), embedding("m0", 1))
    assert by_vector(index, question, EVERYTHING, 5) == ([], 0)


def test_the_memory_it_holds_grows_with_what_it_holds() -> None:
    index = AgentIndex("main", VectorIndex(8))
    before = index.bytes
    take(index, *(memory(f"m{n}", " ".join(WORDS)) for n in range(2000)))
    with_words = index.bytes
    take(index, *(embedding(f"m{n}", 1) for n in range(2000)))
    assert before < with_words < index.bytes
    reserved = AgentIndex("main", VectorIndex(8))
    reserved.reserve(2000)
    assert reserved.counts()["memory"] == 0


def run_beside(readers: Sequence[Callable[[], None]], write: Callable[[], None]) -> None:
    """Run readers again and again in threads until a writer has finished; none may raise."""
    is_done = threading.Event()

    def read(once: Callable[[], None]) -> int:
        rounds = 0
        while not is_done.is_set() or not rounds:
            once()
            rounds += 1
        return rounds

    with ThreadPoolExecutor(len(readers)) as threads:
        reading = [threads.submit(read, reader) for reader in readers]
        try:
            write()
        finally:
            is_done.set()
        assert all(one.result() for one in reading)


def test_readers_beside_a_writer_see_whole_commits() -> None:
    """Every commit renames all memories at once: no reader may see two names together."""
    index = AgentIndex("main")
    take(index, *(memory(key, "round0") for key in KEYS), *(embedding(k, 1) for k in KEYS))
    names = " ".join(f"round{number}" for number in range(0, 150, 10))

    def read_text() -> None:
        found = by_text(index, names, EVERYTHING, 100)
        assert len({round(hit.score, 4) for hit in found}) <= 1
        assert len(found) in {0, len(KEYS)}

    def read_vectors() -> None:
        found, _ = by_vector(index, vector_of(4), EVERYTHING, 100)
        assert [hit.id for hit in found] == KEYS
        assert len({hit.score for hit in found}) == 1

    def read_masks() -> None:
        asked = Filters(scope="even")
        assert visible(index, KEYS, asked) in (set(), set(KEYS))
        assert set(index.counts()) >= {"memory", "follows"}

    def write() -> None:
        for number in range(150):
            scope = "odd" if number % 2 else "even"
            changes = [memory(key, f"round{number}", scope=scope) for key in KEYS]
            take(index, *changes, *(embedding(key, number) for key in KEYS), stamp=number)
            fresh = f"new{number}"
            take(index, memory(fresh, "kettle", scope="other", trust_tier="trusted"))

    run_beside([read_text, read_vectors, read_masks, read_text], write)
    assert index.counts()["memory"] == len(KEYS) + 150
