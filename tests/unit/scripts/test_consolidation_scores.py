"""Scores where one hit stands for several memories; values worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.consolidation.recall import Asked, comparisons_of, with_old_third
from scripts.consolidation.scores import Covered, compare, covered
from scripts.recall.answers import Answer
from scripts.recall.scores import score
from scripts.recall.sets import Body, DataSet, Question

NAMES = [f"m{number}" for number in range(12)]


@given(st.permutations(NAMES), st.sets(st.sampled_from(NAMES), min_size=1))
def test_with_one_memory_a_hit_it_is_the_usual_score(ranked: list[str], gold: set[str]) -> None:
    gains = dict.fromkeys(gold, 1.0)
    usual = score(gains, ranked[:10])
    found = covered(gains, [{name} for name in ranked[:10]])
    assert found.row == pytest.approx((usual.recall_5, usual.recall_10, usual.ndcg_10))


def test_a_summary_counts_for_all_its_memories_once() -> None:
    gold = {"a": 1.0, "b": 1.0, "c": 1.0}
    found = covered(gold, [{"x"}, {"a", "b", "y"}, {"b"}, {"z"}, {"z"}, {"c"}])
    assert found.row[:2] == pytest.approx((2 / 3, 1.0))
    # At ranks 2 and 3; the repeated b keeps its place, so c stands at 7.
    ideal = sum(1 / math.log2(rank + 1) for rank in (1, 2, 3))
    assert found.ndcg_10 == pytest.approx(sum(1 / math.log2(r + 1) for r in (2, 3, 7)) / ideal)


def test_no_score_is_above_one() -> None:
    gold = dict.fromkeys(NAMES, 1.0)
    assert covered(gold, [set(NAMES)]).row == pytest.approx((1.0, 1.0, 1.0))


def test_comparisons_are_paired_and_none_of_nothing() -> None:
    one, other = Covered(1.0, 1.0, 0.5), Covered(0.5, 1.0, 1.0)
    found = compare("all", [one, one], [other, other])
    assert found is not None
    assert [interval.mean for interval in found.differences] == [-0.5, 0.0, 0.5]
    assert (found.before, found.after, found.questions) == (one, other, 2)
    assert compare("all", [], []) is None


def bodies(count: int, scope: str, *, dated: bool) -> tuple[Body, ...]:
    return tuple(
        {"text": "t", "source_ref": f"{scope}{number}", "scope": scope}
        | ({"occurred_at": f"2024-01-{number + 1:02}T00:00:00"} if dated else {})
        for number in range(count)
    )


def test_the_oldest_third_of_every_scope_is_old() -> None:
    data = DataSet("d", bodies(6, "a", dated=True) + bodies(4, "b", dated=True), ())
    aged, old = with_old_third(data)
    assert old == {"a0", "a1", "b0"}
    kinds = {memory["source_ref"]: memory["kind"] for memory in aged.memories}
    assert {name for name, kind in kinds.items() if kind == "observation"} == old
    assert set(kinds.values()) == {"observation", "note"}


def test_what_has_no_time_gets_one_by_its_id_alone() -> None:
    memories = bodies(90, "a", dated=False)
    aged, old = with_old_third(DataSet("d", memories, ()))
    backwards, same = with_old_third(DataSet("d", memories[::-1], ()))
    assert old == same
    assert len(old) == 30
    assert backwards.memories == aged.memories[::-1]
    assert len({memory["occurred_at"] for memory in aged.memories}) == 90


def test_questions_are_compared_by_where_their_evidence_lies() -> None:
    questions = [Question("p", "?", {"o1": 1.0}), Question("q", "?", {"n1": 1.0})]
    before = [Answer(("o1",), 1, 1), Answer(("n1",), 1, 1)]
    after = [Answer(("S",), 1, 1), Answer(("x", "n1"), 1, 1)]
    asked = Asked(questions, before, after, sources={"S": {"o1", "o2"}}, told={"S": {"o2"}})
    found = {one.name: one for one in comparisons_of(asked, {"o1", "o2"})}
    assert [one.questions for one in found.values()] == [2, 2, 1, 1, 1]
    assert found["all"].after.recall_5 == 1.0
    assert found["all, sources with a line alone"].after.recall_5 == 0.5
    assert found["the same, sources with a line alone"].after.recall_5 == 0.0
    assert found["no evidence in the third"].after.ndcg_10 == pytest.approx(1 / math.log2(3))
