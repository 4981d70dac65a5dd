"""Which memories are summarised together."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.consolidate.grouping import (
    MOST_MEMBERS,
    Old,
    Place,
    Room,
    Wall,
    batches,
    concept_ref,
    cut,
    find_groups,
    summary_key,
)

OPEN = Wall(None, "trusted", "normal")
SECRET = Wall(None, "trusted", "secret")
START = datetime(2026, 2, 9, 10, tzinfo=UTC)


def old(key: str, day: int = 0, wall: Wall = OPEN, line: str = "daily:memory") -> Old:
    at = START + timedelta(days=day)
    return Old(key, wall, at, (at, "", 0, key), line, f"state of {key}", 10)


def named(groups: dict[Place, list[Old]]) -> dict[str, list[str]]:
    return {place.ref: [one.id for one in members] for place, members in groups.items()}


def test_each_goes_to_its_rarest_concept_that_others_share() -> None:
    concepts = {
        "a": {"gpu", "vram"},
        "b": {"gpu", "vram"},
        "c": {"gpu", "lonely"},
        "d": {"gpu"},
        "e": set(),
    }
    groups, rest = find_groups([old(key) for key in "ecdab"], {}, concepts, set())
    assert named(groups) == {"concept:vram": ["a", "b"], "concept:gpu": ["c", "d"]}
    assert [one.id for one in rest] == ["e"]


def test_ties_go_by_slug() -> None:
    concepts = {"a": {"oak", "elm"}, "b": {"oak", "elm"}}
    groups, _ = find_groups([old("a"), old("b")], {}, concepts, set())
    assert named(groups) == {"concept:elm": ["a", "b"]}


def test_a_group_that_exists_takes_one_more() -> None:
    existing = {Place(OPEN, concept_ref("gpu")), Place(SECRET, concept_ref("elm"))}
    concepts = {"a": {"gpu"}, "b": {"elm"}}
    groups, rest = find_groups([old("a"), old("b")], {}, concepts, existing)
    assert named(groups) == {"concept:gpu": ["a"]}
    assert [one.id for one in rest] == ["b"]


def test_the_concept_less_go_by_line_and_week() -> None:
    olds = [
        old("a"),
        old("b", 6),
        old("c", 7),
        old("d", 8),
        old("e", line="session:s"),
        old("f", 20),
    ]
    groups, rest = find_groups(olds, {}, {}, set())
    assert named(groups) == {
        "week:daily:memory:2026-W07": ["a", "b"], "week:daily:memory:2026-W08": ["c", "d"],
    }  # fmt: skip
    assert [one.id for one in rest] == ["e", "f"]


def test_near_duplicates_come_first() -> None:
    leaders = dict.fromkeys("abcd", "a")
    concepts = {key: {"gpu"} for key in "abcdef"}
    groups, _ = find_groups([old(key) for key in "abcdef"], leaders, concepts, set())
    assert named(groups) == {"likeness:a": list("abcd"), "concept:gpu": ["e", "f"]}


def test_walls_are_never_crossed() -> None:
    concepts = {"a": {"gpu"}, "b": {"gpu"}, "c": {"gpu"}}
    groups, rest = find_groups([old("a"), old("b", wall=SECRET), old("c")], {}, concepts, set())
    assert named(groups) == {"concept:gpu": ["a", "c"]}
    assert [one.id for one in rest] == ["b"]
    keys = {summary_key("main", Place(wall, "concept:gpu"), 0) for wall in (OPEN, SECRET)}
    assert len(keys) == 2


@given(st.permutations("abcdefgh"), st.dictionaries(
    st.sampled_from("abcdefgh"), st.frozensets(st.sampled_from(("x", "y", "z")))))  # fmt: skip
def test_the_order_of_the_memories_says_nothing(
    order: list[str], concepts: dict[str, frozenset[str]]
) -> None:
    places = {key: place for place, key in enumerate("abcdefgh")}
    found = find_groups([old(key, places[key]) for key in order], {}, concepts, set())
    assert found == find_groups([old(key, places[key]) for key in "abcdefgh"], {}, concepts, set())
    groups, rest = found
    every = [one.id for members in (*groups.values(), rest) for one in members]
    assert sorted(every) == list("abcdefgh")


@pytest.mark.parametrize(
    ("count", "rooms", "sizes"),
    [
        (1, [], [(0, 1)]),
        (25, [], [(0, 25)]),
        (26, [], [(0, 26)]),
        (27, [], [(0, 25), (1, 2)]),
        (3, [Room("k", 23, 230)], [(0, 2), (1, 1)]),
        (3, [Room("k", 1, 900)], [(0, 1), (1, 2)]),
        (3, [Room("k", 25, 250), Room("l", 7, 70)], [(1, 3)]),
        (3, [Room("k", 2, 20, is_closed=True)], [(1, 3)]),
        (3, [Room("k", MOST_MEMBERS, 1)], [(1, 3)]),
    ],
)
def test_large_groups_are_cut_in_the_order_of_time(
    count: int, rooms: list[Room], sizes: list[tuple[int, int]]
) -> None:
    members = [old(f"{n:03}", n) for n in range(count)]
    parts = cut(members, rooms, 250)
    assert [(part, len(found)) for part, found in parts] == sizes
    assert [one for _, found in parts for one in found] == members


def test_two_long_ones_share_a_summary_and_none_has_too_many() -> None:
    members = [old(f"{n:03}", n) for n in range(230)]
    assert [len(found) for _, found in cut(members[:5], [], 1)] == [2, 3]
    assert [len(found) for _, found in cut(members, [], 10**9)] == [100, 100, 30]


def test_summaries_are_written_together_up_to_a_size() -> None:
    sizes = {"a": 120, "b": 120, "c": 120, "d": 301, "e": 1}
    assert list(batches(sizes)) == [["a", "b"], ["c"], ["d"], ["e"]]
    assert list(batches({})) == []
