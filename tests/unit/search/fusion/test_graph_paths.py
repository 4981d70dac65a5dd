"""The beam search: what lies along concepts, scored by all that lies on the way there."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.index.links import Links
from service.records import Concept
from service.search.fusion.graph_paths import Trail, best_trails

Item = TypeVar("Item")
LinkTable = Mapping[str, Sequence[tuple[Concept, Sequence[str]]]]

KEYS = "abcdefgh"
_CONCEPTS = [Concept(("main", slug), slug.upper(), n) for n, slug in enumerate(("x", "y", "z"), 2)]


def concept(slug: str, memories: int = 2) -> Concept:
    return Concept(("main", slug), slug.upper(), memories)


def trails(
    seeds: Mapping[str, float], graph: LinkTable, scores: Mapping[str, float]
) -> dict[str, Trail]:
    """Search a graph in which memories without a score may not be seen."""
    ids = sorted(
        {*seeds, *graph, *scores, *(k for links in graph.values() for _, e in links for k in e)}
    )
    number_of = {key: number for number, key in enumerate(reversed(ids), 7)}
    named = {number: key for key, number in number_of.items()}

    async def look(numbers: Sequence[int]) -> tuple[list[int], Links]:
        keys = [named[number] for number in numbers]
        links = Links.of({key: graph[key] for key in keys if key in graph})
        return [number_of[key] for key in links.keys], links

    async def score(numbers: Sequence[int]) -> Mapping[int, float]:
        return {number: scores[named[number]] for number in numbers if named[number] in scores}

    told = ["?"] * 7 + ids[::-1]
    found = asyncio.run(best_trails({number_of[k]: s for k, s in seeds.items()}, told, look, score))
    assert all(tuple(map(named.get, trail.numbers)) == trail.memories for trail in found.values())
    return {named[number]: trail for number, trail in found.items()}


def world_of(chance: random.Random) -> tuple[dict[str, float], LinkTable, dict[str, float]]:
    """Draw seeds, links and scores; some memories have no score, some scores are equal."""
    known = chance.sample(KEYS, chance.randint(1, len(KEYS)))
    scores = {key: chance.choice([0.0, 0.5, 1.0, chance.uniform(0, 3)]) for key in known}
    graph = {
        key: [
            (one, [end for end in chance.sample(KEYS, chance.randint(1, 4)) if end != key])
            for one in chance.sample(_CONCEPTS, chance.randint(0, 3))
        ]
        for key in KEYS
    }
    best = sorted(scores, key=lambda key: (-scores[key], key))[:3]
    return {key: scores[key] for key in best}, graph, scores


def test_a_path_is_worth_the_mean_of_what_lies_on_it() -> None:
    graph = {"a": [(concept("x"), ["b"])], "b": [(concept("y"), ["c"])]}
    found = trails({"a": 2.0}, graph, {"a": 2.0, "b": 0.5, "c": 1.1})
    assert found["b"].worth == pytest.approx(0.88 * 2.5 / 2)
    assert found["c"].worth == pytest.approx(0.88 * 3.6 / 3)
    assert found["c"].memories == ("a", "b", "c")
    assert [one.name for one in found["c"].concepts] == ["X", "Y"]


def test_it_goes_two_steps_and_no_further() -> None:
    graph = {a: [(concept(a), [b])] for a, b in zip("abc", "bcd", strict=True)}
    assert trails({"a": 1.0}, graph, dict.fromkeys("abcd", 1.0)).keys() == set("bc")


def test_cycles_and_what_may_not_be_seen_end_a_way() -> None:
    graph = {
        "a": [(concept("x"), ["b", "hidden"])],
        "b": [(concept("x"), ["a"])],
        "hidden": [(concept("y"), ["c"])],
    }
    assert trails({"a": 1.0}, graph, {"a": 1.0, "b": 1.0, "c": 1.0}).keys() == {"b"}


def test_of_two_concepts_on_one_way_the_rarer_is_told() -> None:
    often, seldom = concept("often", 9), concept("seldom", 2)
    for links in ([(often, ["b"]), (seldom, ["b"])], [(seldom, ["b"]), (often, ["b"])]):
        found = trails({"a": 1.0}, {"a": links}, {"a": 1.0, "b": 1.0})
        assert found["b"].concepts == (seldom,)


def test_of_very_many_ends_those_of_rare_concepts_are_looked_at() -> None:
    many = [f"m{number}" for number in range(500)]
    graph = {"a": [(concept("hub", 500), many), (concept("rare"), ["b"])]}
    scores = {"a": 1.0, "b": 0.1} | dict.fromkeys(many, 0.1)
    assert "b" in trails({"a": 1.0}, graph, scores)


@pytest.mark.parametrize(("few", "looks_at_many"), [(399, True), (400, False)])
def test_what_common_concepts_lead_to_is_asked_for_where_rare_ones_leave_room(
    few: int, looks_at_many: bool
) -> None:
    near, far = [f"near{n}" for n in range(few)], [f"far{n}" for n in range(500)]
    links = Links.of({"a": [(concept("hub", 500), far), (concept("rare", few), near)]})
    asked: list[str] = []

    async def look(_: Sequence[int]) -> tuple[Sequence[int], Links]:
        return range(len(links.keys)), links

    async def score(numbers: Sequence[int]) -> Mapping[int, float]:
        asked.extend(links.keys[number] for number in numbers)
        return {}

    seed = links.keys.index("a")
    asyncio.run(best_trails({seed: 1.0}, links.keys, look, score))
    assert set(asked) == {*near, *(far if looks_at_many else ())}


def test_of_two_ways_from_one_seed_the_better_is_told() -> None:
    to_b, to_c, to_d = concept("x"), concept("y"), concept("z")
    graph = {"a": [(to_b, ["b"]), (to_c, ["c"])], "b": [(to_d, ["d"])], "c": [(to_d, ["d"])]}
    for better in "bc":
        scores = dict.fromkeys("abcd", 0.1) | {better: 0.5}
        assert trails({"a": 1.0}, graph, scores)["d"].memories == ("a", better, "d")


def test_of_equal_ends_four_go_on() -> None:
    graph = {"a": [(concept("x"), list("bcdef"))], "f": [(concept("y"), ["g"])]}
    assert trails({"a": 1.0}, graph, dict.fromkeys("abcdefg", 1.0)).keys() == set("bcde")


def test_nothing_leads_nowhere() -> None:
    assert trails({}, {}, {}) == {}
    assert trails({"a": 1.0}, {}, {"a": 1.0}) == {}


@given(st.integers(0, 2**32))
def test_the_order_of_seeds_links_and_ends_changes_nothing(seed: int) -> None:
    chance = random.Random(seed)
    seeds, graph, scores = world_of(chance)

    def mix(values: Sequence[Item]) -> list[Item]:
        return chance.sample(list(values), len(values))

    mixed = {
        key: mix([(one, mix(ends)) for one, ends in links]) for key, links in mix([*graph.items()])
    }
    assert trails(dict(mix([*seeds.items()])), mixed, scores) == trails(seeds, graph, scores)


@given(st.integers(0, 2**32))
def test_a_way_is_whole_and_never_better_than_the_best_on_it(seed: int) -> None:
    seeds, graph, scores = world_of(random.Random(seed))
    for key, trail in trails(seeds, graph, scores).items():
        assert trail.memories[0] in seeds
        assert trail.memories[-1] == key
        assert len(set(trail.memories)) == len(trail.memories) == len(trail.concepts) + 1 <= 3
        here = trail.memories[:-1]
        for start, end, by in zip(here, trail.memories[1:], trail.concepts, strict=True):
            assert any(one == by and end in ends for one, ends in graph[start])
        told = [scores[memory] for memory in trail.memories]
        assert trail.worth == pytest.approx(0.88 * sum(told) / len(told))
        assert trail.worth <= max(told)
