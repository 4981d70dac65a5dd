"""Which memories are summarised together."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.consolidate.grouping import (
    MOST_MEMBERS,
    Candidate,
    Capacity,
    GroupKey,
    Wall,
    batches,
    find_groups,
    split_group,
    summary_key,
)
from service.consolidate.summary.refs import concept_ref

OPEN = Wall(None, "trusted", "normal")
SECRET = Wall(None, "trusted", "secret")
START = datetime(2026, 2, 9, 10, tzinfo=UTC)


def candidate(key: str, day: int = 0, wall: Wall = OPEN, line: str = "daily:memory") -> Candidate:
    at = START + timedelta(days=day)
    return Candidate(key, wall, at, (at, "", 0, key), line, f"state of {key}", 10)


def named(groups: dict[GroupKey, list[Candidate]]) -> dict[str, list[str]]:
    return {group.ref: [one.id for one in members] for group, members in groups.items()}


def test_each_goes_to_its_rarest_concept_that_others_share() -> None:
    concepts = {
        "a": {"gpu", "vram"},
        "b": {"gpu", "vram"},
        "c": {"gpu", "lonely"},
        "d": {"gpu"},
        "e": set(),
    }
    groups = find_groups([candidate(key) for key in "ecdab"], {}, concepts, set())
    assert named(groups) == {"concept:vram": ["a", "b"], "concept:gpu": ["c", "d"]}


def test_ties_go_by_slug() -> None:
    concepts = {"a": {"oak", "elm"}, "b": {"oak", "elm"}}
    groups = find_groups([candidate("a"), candidate("b")], {}, concepts, set())
    assert named(groups) == {"concept:elm": ["a", "b"]}


def test_a_group_that_exists_takes_one_more() -> None:
    existing = {GroupKey(OPEN, concept_ref("gpu")), GroupKey(SECRET, concept_ref("elm"))}
    concepts = {"a": {"gpu"}, "b": {"elm"}}
    groups = find_groups([candidate("a"), candidate("b")], {}, concepts, existing)
    assert named(groups) == {"concept:gpu": ["a"]}


def test_the_concept_less_go_by_line_and_week() -> None:
    candidates = [
        candidate("a"),
        candidate("b", 6),
        candidate("c", 7),
        candidate("d", 8),
        candidate("e", line="session:s"),
        candidate("f", 20),
    ]
    groups = find_groups(candidates, {}, {}, set())
    assert named(groups) == {
        "week:daily:memory:2026-W07": ["a", "b"],
        "week:daily:memory:2026-W08": ["c", "d"],
    }


def test_near_duplicates_come_first() -> None:
    leaders = dict.fromkeys("abcd", "a")
    concepts = {key: {"gpu"} for key in "abcdef"}
    groups = find_groups([candidate(key) for key in "abcdef"], leaders, concepts, set())
    assert named(groups) == {"likeness:a": list("abcd"), "concept:gpu": ["e", "f"]}


def test_walls_are_never_crossed() -> None:
    concepts = {"a": {"gpu"}, "b": {"gpu"}, "c": {"gpu"}}
    groups = find_groups(
        [candidate("a"), candidate("b", wall=SECRET), candidate("c")], {}, concepts, set()
    )
    assert named(groups) == {"concept:gpu": ["a", "c"]}
    keys = {summary_key("main", GroupKey(wall, "concept:gpu"), 0) for wall in (OPEN, SECRET)}
    assert len(keys) == 2


@given(
    st.permutations("abcdefgh"),
    st.dictionaries(st.sampled_from("abcdefgh"), st.frozensets(st.sampled_from(("x", "y", "z")))),
)
def test_the_order_of_the_memories_says_nothing(
    order: list[str], concepts: dict[str, frozenset[str]]
) -> None:
    days = {key: day for day, key in enumerate("abcdefgh")}
    found = find_groups([candidate(key, days[key]) for key in order], {}, concepts, set())
    assert found == find_groups(
        [candidate(key, days[key]) for key in "abcdefgh"], {}, concepts, set()
    )
    grouped = [one.id for members in found.values() for one in members]
    assert len(grouped) == len(set(grouped))
    # Two that are left over would share a week, unless it is the last day that opens another.
    assert len(set("abcdefg") - set(grouped)) <= 1
    assert all(len(members) > 1 for members in found.values())


@pytest.mark.parametrize(
    ("count", "capacities", "sizes"),
    [
        (1, [], [(0, 1)]),
        (25, [], [(0, 25)]),
        (26, [], [(0, 26)]),
        (27, [], [(0, 25), (1, 2)]),
        (3, [Capacity(23, 230)], [(0, 2), (1, 1)]),
        (3, [Capacity(1, 900)], [(0, 1), (1, 2)]),
        (3, [Capacity(25, 250), Capacity(7, 70)], [(1, 3)]),
        (3, [Capacity(2, 20, is_closed=True)], [(1, 3)]),
        (3, [Capacity(MOST_MEMBERS, 1)], [(1, 3)]),
    ],
)
def test_large_groups_are_split_in_the_order_of_time(
    count: int, capacities: list[Capacity], sizes: list[tuple[int, int]]
) -> None:
    members = [candidate(f"{n:03}", n) for n in range(count)]
    parts = split_group(members, capacities, 250)
    assert [(part, len(found)) for part, found in parts] == sizes
    assert [one for _, found in parts for one in found] == members


def test_a_summary_takes_more_until_it_is_full_or_closed() -> None:
    assert Capacity(MOST_MEMBERS - 1, 249).takes_more(250)
    for full in (Capacity(1, 250), Capacity(MOST_MEMBERS, 1), Capacity(1, 1, is_closed=True)):
        assert not full.takes_more(250)


def test_two_long_ones_share_a_summary_and_none_has_too_many() -> None:
    members = [candidate(f"{n:03}", n) for n in range(230)]
    assert [len(found) for _, found in split_group(members[:5], [], 1)] == [2, 3]
    assert [len(found) for _, found in split_group(members, [], 10**9)] == [100, 100, 30]


def test_summaries_are_written_together_up_to_a_size() -> None:
    sizes = {"a": 120, "b": 120, "c": 120, "d": 301, "e": 1}
    assert list(batches(sizes)) == [["a", "b"], ["c"], ["d"], ["e"]]
    assert list(batches({})) == []
