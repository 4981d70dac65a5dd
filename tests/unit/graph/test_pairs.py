"""Pairs drawn from groups: every one where they are few, the same ones each time."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from service.graph.pairs import (
    distinct,
    pair_across,
    pair_at,
    pair_count,
    pair_within,
    sample,
    sample_groups,
)


def test_couples_are_counted_through() -> None:
    assert [pair_at(number) for number in range(6)] == [
        (0, 1),
        (0, 2),
        (1, 2),
        (0, 3),
        (1, 3),
        (2, 3),
    ]
    assert [pair_count(count) for count in range(5)] == [0, 0, 1, 3, 6]


@given(st.integers(2, 40))
def test_every_couple_has_its_number(count: int) -> None:
    found = {pair_at(number) for number in range(pair_count(count))}
    assert found == set(combinations(range(count), 2))


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 60))
def test_a_draw_is_of_different_things_that_are_there(sizes: list[int], most: int) -> None:
    drawn = sample_groups(sizes, most)
    assert drawn == sorted(set(drawn)) == sample_groups(sizes, most)
    assert len(drawn) == min(most, sum(sizes))
    assert all(0 <= number < sizes[group] for group, number in drawn)


def test_a_draw_from_very_many_is_spread() -> None:
    drawn = sample_groups([10**12, 10**12], 1000)
    assert 400 < sum(group for group, _ in drawn) < 600
    assert sample(range(10), 3) == sample(range(10), 3)
    assert sample("abc", 3) == ["a", "b", "c"]


def test_pairs_of_one_concept_and_of_two() -> None:
    assert [pair_within(["a", "b", "c"], number) for number in range(4)] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
        None,
    ]
    lists = (["a", "b"], ["b", "c", "d"])
    # b stands in both lists: it is reached without a step from one concept to the other.
    assert [pair_across(lists, number) for number in range(7)] == [
        None,
        ("a", "c"),
        ("a", "d"),
        None,
        None,
        None,
        None,
    ]
    assert pair_across((["a"], []), 0) is None
    assert distinct([("b", "a"), None, ("a", "b"), ("c", "c"), ("a", "c")]) == [
        ("a", "b"),
        ("a", "c"),
    ]
