"""Fitting a confidence: parts of sets, questions nothing answers, and constants that come out."""

import math
import random

import numpy as np
import pytest

from scripts.recall.certainties import Case, Kind, fit, least_miss, miss, values_of, weights_of
from scripts.recall.sets import DataSet, Question
from scripts.recall.unanswerable import part_of, some, speakers_of, transplanted

PASSAGES = DataSet(
    "lore",
    tuple({"source_ref": f"p{place}", "text": f"Passage {place}."} for place in range(40)),
    tuple(Question(f"q{place}", f"What of {place}?", {f"p{place}": 1.0}) for place in range(40)),
)


def turn(scope: str, place: int, speaker: str) -> dict[str, str]:
    """Return a turn of a conversation."""
    return {
        "source_ref": f"{scope}/{place}",
        "text": f"{speaker}: It is {place}: so what?",
        "session": f"{scope}/1",
        "scope": scope,
    }


TALKS = DataSet(
    "talks",
    tuple(
        turn(scope, place, (ann, ben)[place % 2])
        for scope, ann, ben in (("a", "Ann", "Ben"), ("b", "Cleo", "Dan"), ("c", "Ann", "Eve"))
        for place in range(4)
    ),
    (
        Question("q1", "What does Ann paint?", {"a/0": 1.0}, scope="a"),
        Question("q2", "Who met whom?", {"b/1": 1.0}, scope="b"),
        Question("q3", "Did Cleo see Dan?", {"b/1": 1.0}, scope="b"),
        Question("q4", "What did Eve see?", {"c/1": 1.0}, scope="c", has_answer=False),
    ),
)


def test_a_part_has_so_many_memories_and_answers_what_is_in_it() -> None:
    part = part_of(PASSAGES, 0.25)
    held = {memory["source_ref"] for memory in part.memories}
    assert (part.name, len(held)) == ("lore-10", 10)
    assert len(part.questions) == 40
    for question in part.questions:
        assert question.has_answer == (f"p{question.id[1:]}" in held)
        assert bool(question.gold) == question.has_answer
    assert part == part_of(PASSAGES, 0.25)


def test_a_part_of_conversations_is_whole_ones_and_is_asked_of_no_other() -> None:
    part = part_of(TALKS, 0.1)
    [scope] = {memory["scope"] for memory in part.memories}
    assert len(part.memories) == 4
    assert {question.scope for question in part.questions} == {scope}


def test_who_speaks_stands_before_the_first_colon() -> None:
    assert speakers_of(TALKS) == {"a": {"Ann", "Ben"}, "b": {"Cleo", "Dan"}, "c": {"Ann", "Eve"}}
    assert speakers_of(PASSAGES) == {}


def test_a_transplanted_question_names_somebody_of_its_new_conversation() -> None:
    """Of the four only q1 names one speaker and has an answer; Ann herself speaks in two."""
    [moved] = transplanted(TALKS)
    assert (moved.id, moved.gold, moved.has_answer) == ("q1", {}, False)
    assert (moved.scope, moved.text) in {
        ("b", "What does Cleo paint?"), ("b", "What does Dan paint?"),
        ("c", "What does Eve paint?"),
    }  # fmt: skip


def test_some_are_the_same_ones_in_whatever_order() -> None:
    assert some(PASSAGES.questions, 7) == some(PASSAGES.questions[::-1], 7)
    assert len({question.id for question in some(PASSAGES.questions, 7)}) == 7


def case(store: str, kind: Kind, *, is_right: bool = True, is_natural: bool = False) -> Case:
    """Return a case without numbers."""
    return Case(store, kind, "tune", (None,) * 4, is_right, is_right, is_natural)


def test_every_store_counts_as_much_and_natural_question_as_four() -> None:
    notes = [case("notes", "own")] * 6 + [case("notes", "own", is_natural=True)] * 2
    cases = [*notes, case("lore", "own"), *[case("lore", "stranger")] * 5]
    weights = weights_of(cases)
    assert weights[:6].tolist() == pytest.approx([1 / 14] * 6)
    assert weights[6:8].tolist() == pytest.approx([4 / 14] * 2)
    assert weights[8] == pytest.approx(1)
    assert weights[9:].sum() == pytest.approx(0.25)


def test_a_few_strangers_count_no_more_than_as_many_of_its_own() -> None:
    weights = weights_of([case("lore", "own")] * 100 + [case("lore", "stranger")] * 2)
    assert weights.tolist() == pytest.approx([0.01] * 102)


def drawn(count: int) -> list[Case]:
    """Return cases that are right by 8 x coverage - 4, whatever their other numbers."""
    chance, cases = random.Random(5), []
    for place in range(count):
        coverage = chance.random()
        is_right = chance.random() < 1 / (1 + math.exp(4 - 8 * coverage))
        numbers = (chance.random(), coverage, chance.random(), None)
        cases.append(Case(f"s{place % 3}", "own", "tune", numbers, is_right, is_right))
    return cases


def test_the_constants_that_answers_were_drawn_by_come_out() -> None:
    cases = drawn(6000)
    constants = fit(cases, weights_of(cases), (0, 1, 2))
    assert constants == pytest.approx([0, 8, 0, 0, -4], abs=0.5)
    assert fit(cases, weights_of(cases), (1,))[[0, 2, 3]].tolist() == [0, 0, 0]
    chances = 1 / (1 + np.exp(-values_of(cases) @ constants))
    right = np.array([case.is_right for case in cases], float)
    assert miss(chances, right, weights_of(cases)) < 0.02
    assert miss(np.full(6000, 0.9), right, weights_of(cases)) == pytest.approx(
        0.9 - right.mean(), abs=0.01
    )


def test_a_perfect_confidence_is_off_by_more_the_fewer_the_answers() -> None:
    chances = np.linspace(0.05, 0.95, 40)
    few, many = (least_miss(np.tile(chances, n), np.ones(40 * n)) for n in (1, 50))
    assert few > 0.05 > many > 0
    assert least_miss(np.ones(40), np.ones(40)) == 0
