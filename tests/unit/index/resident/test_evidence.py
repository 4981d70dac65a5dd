"""Evidence out of one agent's index."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.index.evidence import Evidence, Question
from service.index.links import Links
from service.index.resident.agent_index import AgentIndex
from service.index.resident.evidence import collect_evidence, newest
from service.index.resident.facts import Facts
from service.index.resident.neighbours import linked, summary_rows
from service.index.resident.vectors import VectorIndex
from service.moments import micros_of
from service.records import Filters
from tests.effort import examples
from tests.stores.labels import labels

START = datetime(2026, 2, 13, tzinfo=UTC)
REACH = 2


def facts(key: str, words: str = "word", day: int = 0, subject: str | None = None) -> Facts:
    moment = micros_of(START + timedelta(days=day))
    return Facts(
        key,
        words,
        (),
        labels(),
        moment,
        None,
        None,
        is_archived=key.startswith("archived"),
        subject=subject,
    )


def index_of(*memories: Facts, follows: Sequence[tuple[str, str]] = ()) -> AgentIndex:
    """Return an index; in `follows` the later memory comes first."""
    index = AgentIndex("main")
    index.put_memories(memories)
    for later in dict(follows):
        index.put_ends("follows", later, [end for key, end in follows if key == later])
    return index


def ask(
    index: AgentIndex, keys: Sequence[str], text: str = "word", vector: list[float] | None = None
) -> Evidence:
    question = Question.read(text, None if vector is None else np.array(vector, np.float32))
    _, found = collect_evidence(index, question, Filters(), rows_of(index, keys), REACH)
    return found


def links_of(index: AgentIndex, keys: Sequence[str], most: int) -> Links:
    rows, links = linked(index, rows_of(index, keys), most)
    assert [index.keys[row] for row in rows] == list(links.keys)
    return links


def rows_of(index: AgentIndex, keys: Sequence[str]) -> list[int]:
    return [index.rows[key] for key in keys if key in index.rows]


def ways(found: Evidence, key: str) -> tuple[list[str], list[str]]:
    row = found.keys.index(key)
    before, after = (
        [found.keys[other] for other in way[row].tolist() if other >= 0]
        for way in (found.before, found.after)
    )
    return before, after


def test_words_lengths_and_holders_are_counted() -> None:
    index = index_of(facts("a", "running run kettle"), facts("b", "kettle"), facts("c", ""))
    found = ask(index, ["b", "a", "nobody", "c"], "run kettle")
    assert tuple(found.keys) == ("b", "a", "c")
    assert found.values["counts"].tolist() == [[0, 1], [2, 1], [0, 0]]
    assert found.values["lengths"].tolist() == [1, 3, 0]
    assert found.corpus.document_frequencies.tolist() == [1, 2]
    assert (found.candidates, found.corpus.documents, found.corpus.words) == (3, 3, 4)


def test_neighbours_come_with_it_as_far_as_they_pass() -> None:
    chain = [("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"), ("archived", "e")]
    index = index_of(*map(facts, ("a", "b", "c", "d", "e", "archived")), follows=chain)
    found = ask(index, ["d"])
    assert found.candidates == 1
    assert ways(found, "d") == (["c", "b"], ["e"])
    assert set(found.keys) == {"b", "c", "d", "e"}


def test_a_chain_that_comes_back_ends_there() -> None:
    index = index_of(facts("a"), facts("b"), follows=[("a", "a"), ("b", "a"), ("a", "b")])
    assert ways(ask(index, ["b"]), "b") == (["a"], ["a"])
    assert ways(ask(index, ["a"]), "a") == ([], [])


def test_of_several_before_the_least_id_counts() -> None:
    index = index_of(*map(facts, "abc"), follows=[("c", "b"), ("c", "a")])
    assert ways(ask(index, ["c"]), "c") == (["a"], [])


def test_a_deleted_memory_is_neither_told_nor_passed() -> None:
    index = index_of(*map(facts, "abc"), follows=[("b", "a"), ("c", "b")])
    index.remove_memory("b")
    assert tuple(ask(index, ["b"]).keys) == ()
    assert ways(ask(index, ["c"]), "c") == ([], [])


def test_whoever_is_named_is_told() -> None:
    index = index_of(facts("a", subject="anna_berg"), facts("b", subject="berg"), facts("c"))
    named = ask(index, list("abc"), "Where is Anna Berg?").values["is_named"]
    assert named.tolist() == [True, True, False]
    assert ask(index, list("abc"), "?!").values["is_named"].tolist() == [False] * 3


@pytest.mark.parametrize("vector", [None, [1.0], [1.0, 0.0, 0.0]])
def test_without_a_vector_of_this_length_nothing_is_near(vector: list[float] | None) -> None:
    index = index_of(facts("a"))
    index.put_vectors(["a"], [np.array([1, 0], np.float32)])
    assert math.isnan(ask(index, ["a"], vector=vector).values["cosines"][0])


def test_cosines_are_none_where_there_is_no_vector() -> None:
    index = index_of(*map(facts, "abc"))
    index.put_vectors(["a", "b"], [np.array(v, np.float32) for v in ([3, 4], [0, -2])])
    index.remove_vector("b")
    near = ask(index, list("abc"), vector=[1.0, 0.0]).values["cosines"].tolist()
    assert near[0] == pytest.approx(0.6, abs=1e-3)
    assert math.isnan(near[1])
    assert math.isnan(near[2])


@settings(max_examples=examples(50))
@given(st.lists(st.integers(0, 40), max_size=12), st.sets(st.integers(0, 20)))
def test_cosines_are_those_of_the_rows_asked(rows: list[int], held: set[int]) -> None:
    vectors = np.random.default_rng(3).normal(size=(21, 5)).astype(np.float32)
    index = VectorIndex(5)
    index.put(sorted(held), vectors[sorted(held)])
    asked = vectors[0] + np.float32(0.1)
    for row, near in zip(rows, index.cosines(asked, np.array(rows, np.int64)), strict=True):
        if row not in held:
            assert math.isnan(near)
        else:
            by_hand = vectors[row] @ asked / np.linalg.norm(vectors[row]) / np.linalg.norm(asked)
            assert near == pytest.approx(by_hand, abs=2e-3)


def test_the_newest_that_passes() -> None:
    index = index_of(facts("a", day=1), facts("b", day=3), facts("archived", day=9))
    assert newest(index, Filters()) == START + timedelta(days=3)
    assert newest(index, Filters(), ["a", "archived", "nobody"]) == START + timedelta(days=1)
    assert newest(index, Filters(), []) is None
    assert newest(AgentIndex("main"), Filters()) is None


def test_a_concept_links_its_own_memory_and_few_link_each_other() -> None:
    index = index_of(facts("a", subject="gpu"), *map(facts, "bcd"))
    index.graph.put_concept("gpu", "GPU", 3)
    index.graph.put_concept("two", "Two", 2)
    index.graph.put_concept("gone", "Gone", 2)
    for key, slugs in {
        "a": ["gpu"],
        "b": ["gpu", "two"],
        "c": ["gpu"],
        "d": ["two", "gone"],
    }.items():
        index.put_ends("references", key, slugs)
    found = {
        key: [(concept.name, ends) for concept, ends in links]
        for key, links in links_of(index, ["a", "b", "d", "nobody"], 10).by_start().items()
    }
    assert found == {
        "a": [("GPU", ["b", "c"])],
        "b": [("GPU", ["a"]), ("Two", ["d"])],
        "d": [("Two", ["b"])],
    }
    assert links_of(index, ["a", "b"], 2).by_start().keys() == {"b"}


def test_what_all_memories_say_is_worked_out_once_until_something_is_written() -> None:
    index, question = index_of(facts("a"), facts("b")), Question.read("word crane", None)

    def look() -> Evidence:
        return collect_evidence(index, question, Filters(), rows_of(index, ["a"]), REACH)[1]

    first = look().corpus
    assert look().corpus is first
    assert (first.documents, first.document_frequencies.tolist()) == (2, [2, 0])
    index.put_memories([facts("c", "crane word word")])
    new = look().corpus
    assert (new.documents, new.words, new.document_frequencies.tolist()) == (3, 5, [3, 1])


def test_sources_of_a_summary_that_is_not_there_are_still_of_one_summary() -> None:
    index = AgentIndex("main")
    of = {"a": "gone", "b": "here", "c": "gone", "d": "lost", "here": None}
    index.put_memories([replace(facts(key), consolidated_into=into) for key, into in of.items()])
    told = summary_rows(index, [*range(5), 99])
    assert told.keys() == {0, 1, 2, 3}
    assert told[1] == index.rows["here"]
    assert told[0] == told[2] < 0
    assert told[0] != told[3] < 0
    assert summary_rows(AgentIndex("main"), [0]) == {}
