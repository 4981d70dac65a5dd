"""The arithmetic of a walk, by hand, and that every walk comes to an end."""

import math
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.recall.walk import (
    DECAY,
    MOST_CONCEPTS,
    Path,
    Reached,
    Step,
    Walk,
    apart,
    concepts_beside,
    concepts_from,
    memories_from,
    rarity,
    strongest,
)
from service.records import Concept, Related

_KEYS = [f"m{n}" for n in range(7)]
_SLUGS = [f"c{n}" for n in range(5)]
_GRAPH = st.dictionaries(st.sampled_from(_SLUGS), st.sets(st.sampled_from(_KEYS), min_size=1))
_SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=6)


def _concept(slug: str, memories: int = 2) -> Concept:
    return Concept(("main", slug), slug.upper(), memories)


def _by(*names: str) -> Path:
    return tuple(Step(memory=name) for name in names)


def _summed(*scores: float) -> tuple[float, str]:
    """Return the score of a memory that so many concepts lead to, and its strongest way."""
    concepts = {
        concept.id: (concept, Reached(score / DECAY, 0, ()))
        for place, score in enumerate(scores)
        for concept in (_concept(f"way {place}"),)
    }
    summed, through = memories_from(concepts, {key: ["m"] for key in concepts}, {})
    return summed["m"], through["m"][1]


def test_a_walk_begins_at_its_seeds() -> None:
    walk = Walk()
    walk.start({"a": 1.0, "b": 0.4})
    assert walk.memories == {"a": Reached(1.0, 0, _by("a")), "b": Reached(0.4, 0, _by("b"))}


def test_ways_add_up_as_independent_chances() -> None:
    assert _summed(0.5)[0] == pytest.approx(0.5)
    assert _summed(0.5, 0.5)[0] == pytest.approx(0.75)
    assert _summed(0.5, 0.5, 0.2)[0] == pytest.approx(1 - 0.5 * 0.5 * 0.8)


def test_the_strongest_way_is_told_even_when_weaker_ones_add_up_to_more() -> None:
    assert _summed(0.4, 0.4, 0.5)[1] == "way 2"
    assert _summed(0.5, 0.4, 0.4)[1] == "way 0"
    assert _summed(0.3, 0.3, 0.6, 0.5)[1] == "way 2"
    assert _summed(0.5, 0.5)[1] == "way 0"


@given(_SCORES)
def test_the_order_of_the_ways_does_not_matter(scores: list[float]) -> None:
    total, way = _summed(*scores)
    assert total == pytest.approx(1 - math.prod(1 - score for score in scores))
    assert max(scores) - 1e-12 <= total <= 1 + 1e-12
    assert scores[int(way.removeprefix("way "))] == pytest.approx(max(scores))


def test_what_was_reached_earlier_stays_as_it_is() -> None:
    gpu = _concept("gpu")
    found = memories_from({gpu.id: (gpu, Reached(0.9, 1, ()))}, {gpu.id: ["a", "b"]}, {"a"})
    assert found[0] == pytest.approx({"b": 0.54})
    assert found[1] == {"b": gpu.id}


def test_a_concept_is_noted_with_its_greatest_weight() -> None:
    walk, gpu = Walk(), _concept("gpu")
    for weight in (0.2, 0.7, 0.5):
        walk.note(gpu, weight)
    assert walk.concepts == {gpu.id: (gpu, 0.7)}


@pytest.mark.parametrize(
    ("memories", "share"), [(0, 0.910), (1, 0.910), (2, 0.910), (10, 0.417), (100, 0.217)]
)
def test_a_rarer_concept_tells_more(memories: int, share: float) -> None:
    assert rarity(_concept("x", memories)) == pytest.approx(share, abs=5e-4)


def test_concepts_are_reached_by_their_strongest_way() -> None:
    gpu, vram = _concept("gpu", 2), _concept("vram", 10)
    frontier = {"a": Reached(0.5, 1, _by("a")), "b": Reached(1.0, 1, _by("b"))}
    found = concepts_from(frontier, {"a": [gpu, vram], "b": [gpu], "elsewhere": [_concept("x")]})
    assert list(found) == [gpu.id, vram.id]
    _, way = found[gpu.id]
    assert way.score == pytest.approx(1 / math.log(3))
    assert way.distance == 1
    assert way.path == (*_by("b"), Step(edge="references", concept=gpu))
    assert found[vram.id][1].score == pytest.approx(0.5 / math.log(11))


def test_of_equal_ways_the_first_memory_by_id_leads() -> None:
    frontier = {key: Reached(1.0, 0, _by(key)) for key in ("b", "a")}
    found = concepts_from(frontier, {"a": [_concept("gpu")], "b": [_concept("gpu")]})
    assert found["main", "gpu"][1].path[0].memory == "a"


def test_one_edge_further_costs_the_decay_and_a_hop() -> None:
    gpu, driver = _concept("gpu"), _concept("driver")
    near = {gpu.id: [Related(driver, "related_to", 0.5)]}
    concept, way = concepts_beside({gpu.id: (gpu, Reached(0.8, 1, _by("a")))}, near)[driver.id]
    assert concept == driver
    assert way.score == pytest.approx(0.8 * DECAY * 0.5)
    assert way.distance == 2
    assert way.path == (*_by("a"), Step(edge="related_to", concept=driver))


def test_known_concepts_and_empty_ties_lead_nowhere() -> None:
    gpu, vram = _concept("gpu"), _concept("vram")
    here = {c.id: (c, Reached(1.0, 0, ())) for c in (gpu, vram)}
    near = {gpu.id: [Related(vram, "is_a", 0.8), Related(_concept("x"), "related_to", 0.0)]}
    assert concepts_beside(here, near) == {}


@pytest.mark.parametrize(("shares", "edge"), [((0.2, 0.8), "is_a"), ((0.8, 0.2), "related_to")])
def test_of_two_ways_to_a_neighbour_the_stronger_is_kept(
    shares: tuple[float, float], edge: str
) -> None:
    a, b, x = _concept("a"), _concept("b"), _concept("x")
    here = {a.id: (a, Reached(0.6, 0, _by("a"))), b.id: (b, Reached(0.5, 0, _by("b")))}
    near = {a.id: [Related(x, "related_to", shares[0])], b.id: [Related(x, "is_a", shares[1])]}
    assert concepts_beside(here, near)[x.id][1].path[-1].edge == edge


def test_of_equal_ways_to_a_neighbour_that_from_the_first_concept_by_id_is_kept() -> None:
    a, b, x = _concept("a"), _concept("b"), _concept("x")
    here = {one.id: (one, Reached(0.5, 0, _by(one.name))) for one in (b, a)}
    near = {one.id: [Related(x, "is_a", 0.5)] for one in (a, b)}
    assert concepts_beside(here, near)[x.id][1].path[0] == Step(memory="A")


def test_only_the_strongest_concepts_are_followed() -> None:
    many = [_concept(f"c{n:03}") for n in range(MOST_CONCEPTS + 20)]
    ways = {c.id: (c, Reached(float(n), 0, ())) for n, c in enumerate(many)}
    assert [concept for concept, _ in strongest(ways).values()] == many[: -MOST_CONCEPTS - 1 : -1]
    frontier = {"a": Reached(1.0, 0, _by("a"))}
    assert list(concepts_from(frontier, {"a": reversed(many)})) == [
        c.id for c in many[:MOST_CONCEPTS]
    ]
    a = _concept("a")
    near = {a.id: [Related(one, "is_a", 1.0) for one in reversed(many)]}
    assert list(concepts_beside({a.id: (a, Reached(1.0, 0, ()))}, near)) == [
        c.id for c in many[:MOST_CONCEPTS]
    ]


def _walk_through(seeds: dict[str, float], graph: dict[str, set[str]]) -> tuple[Walk, int]:
    """Walk until nothing new is found; returns the walk and the number of hops."""
    concepts = {slug: _concept(slug, len(members)) for slug, members in graph.items()}
    of_memory = {
        key: [concepts[slug] for slug, members in sorted(graph.items()) if key in members]
        for key in _KEYS
    }
    walk, hops = Walk(), 0
    walk.start(seeds)
    frontier = dict(walk.memories)
    while frontier:
        hops += 1
        ways = concepts_from(frontier, of_memory)
        linked = {key: sorted(graph[key[1]]) for key in ways}
        scores, through = memories_from(ways, linked, walk.memories)
        new = {
            key: Reached(score, hops, (*ways[through[key]][1].path, Step(memory=key)))
            for key, score in scores.items()
        }
        walk.memories |= new
        frontier = new
    return walk, hops


def _distances(seeds: dict[str, float], graph: dict[str, set[str]]) -> dict[str, int]:
    """Return the fewest hops from any seed, by breadth-first search."""
    found, waiting = dict.fromkeys(seeds, 0), deque(seeds)
    while waiting:
        here = waiting.popleft()
        for members in graph.values():
            for key in members if here in members else ():
                if key not in found:
                    found[key] = found[here] + 1
                    waiting.append(key)
    return found


@given(_GRAPH, st.dictionaries(st.sampled_from(_KEYS), st.floats(0.01, 1), min_size=1))
def test_every_walk_ends_and_goes_the_shortest_way(
    graph: dict[str, set[str]], seeds: dict[str, float]
) -> None:
    walk, hops = _walk_through(seeds, graph)
    assert hops <= len(_KEYS)
    assert {key: one.distance for key, one in walk.memories.items()} == _distances(seeds, graph)
    for key, reached in walk.memories.items():
        assert 0 < reached.score <= 1
        named = [step.memory for step in reached.path if step.memory]
        assert named[0] in seeds
        assert named[-1] == key
        assert len(named) == len(set(named)) == reached.distance + 1


def test_a_ring_fades_with_every_hop() -> None:
    graph = {f"c{n}": {f"m{n}", f"m{n + 1}"} for n in range(4)}
    walk, _ = _walk_through({"m0": 1.0}, graph)
    hop = DECAY / math.log(3)
    scores = [walk.memories[f"m{n}"].score for n in range(5)]
    assert scores == [pytest.approx(hop**n) for n in range(5)]


def test_what_stands_beside_an_earlier_one_in_time_begins_no_walk_of_its_own() -> None:
    near: dict[str, tuple[list[str], list[str]]] = {
        "a": ([], ["b"]), "b": (["a"], ["c"]), "c": (["b"], ["d"]), "d": (["c"], []),
    }  # fmt: skip
    # Two steps away is another place; what is known of nobody's neighbours stands by itself.
    assert apart(["b", "a", "c", "x", "d"], near) == ["b", "x", "d", "a", "c"]
