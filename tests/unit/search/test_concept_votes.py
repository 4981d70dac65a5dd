"""Concept votes, by numbers worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.records import Concept, ConceptId, Scored
from service.search.concept_votes import Seed, vote

_KEYS = [f"m{n}" for n in range(8)]
_SLUGS = [f"c{n}" for n in range(6)]
_LINKS = st.fixed_dictionaries(
    {slug: st.sets(st.sampled_from(_KEYS), min_size=2) for slug in _SLUGS}
)


def _id(slug: str) -> ConceptId:
    return ("main", slug)


def _concept(slug: str, memories: int) -> Concept:
    return Concept(_id(slug), slug.upper(), memories)


def _seed(key: str, score: float, *concepts: Concept) -> Seed:
    return Seed(key, score, concepts)


def _found(votes: list[Scored]) -> dict[str, float]:
    return {hit.id: hit.score for hit in votes}


def test_one_concept_by_hand() -> None:
    votes = vote([_seed("s", 1.0, _concept("gpu", 2))], {_id("gpu"): ["s", "new"]})
    assert [(hit.id, hit.path) for hit in votes] == [("s", ()), ("new", ("s", "GPU"))]
    assert [hit.score for hit in votes] == [pytest.approx(1 / math.log(3))] * 2


def test_two_concepts_add_up_and_the_rarer_one_is_the_path() -> None:
    rare, frequent = _concept("rare", 2), _concept("frequent", 9)
    linked = {_id("rare"): ["s", "both"], _id("frequent"): ["s", "both", "one"]}
    votes = vote([_seed("s", 1.0, frequent, rare)], linked)
    found = _found(votes)
    assert found["both"] == pytest.approx(1 / math.log(3) + 1 / math.log(10))
    assert found["one"] == pytest.approx(1 / math.log(10))
    assert {hit.id: hit.path for hit in votes}["both"] == ("s", "RARE")


def test_the_rarer_concept_wins() -> None:
    seed = _seed("s", 1.0, _concept("frequent", 50), _concept("rare", 3))
    linked = {_id("frequent"): ["s", "a"], _id("rare"): ["s", "z"]}
    assert [hit.id for hit in vote([seed], linked)] == ["s", "z", "a"]


def test_the_better_seed_speaks_louder() -> None:
    seeds = [_seed("s1", 1.0, _concept("x", 5)), _seed("s2", 0.5, _concept("y", 5))]
    linked = {_id("x"): ["s1", "z"], _id("y"): ["s2", "a"]}
    found = _found(vote(seeds, linked))
    assert found["z"] == pytest.approx(1 / math.log(6))
    assert found["a"] == pytest.approx(0.5 / math.log(6))


def test_a_concept_of_two_seeds_votes_once_with_the_better_one() -> None:
    gpu = _concept("gpu", 3)
    seeds = [_seed("s1", 0.5, gpu), _seed("s2", 1.0, gpu)]
    votes = vote(seeds, {_id("gpu"): ["s1", "s2", "new"]})
    weight = 1 / math.log(4)
    assert _found(votes) == {
        "s2": pytest.approx(weight),
        "s1": pytest.approx(weight + 0.5 * weight),
        "new": pytest.approx(weight),
    }
    assert votes[0].id == "s1"
    assert {hit.id: hit.path for hit in votes}["new"] == ("s2", "GPU")


def test_the_best_seed_is_not_pushed_away_by_an_equal() -> None:
    votes = vote([_seed("zz", 1.0, _concept("gpu", 2))], {_id("gpu"): ["aa", "zz"]})
    assert votes[0].score == votes[1].score
    assert [hit.id for hit in votes] == ["zz", "aa"]


def test_new_equals_stand_in_the_order_of_their_ids() -> None:
    votes = vote([_seed("s", 1.0, _concept("gpu", 3))], {_id("gpu"): ["c", "a", "s", "b"]})
    assert [hit.id for hit in votes] == ["s", "a", "b", "c"]


def test_a_seed_without_concepts_keeps_its_place() -> None:
    seeds = [_seed("s1", 1.0), _seed("s2", 0.9, _concept("gpu", 2))]
    votes = vote(seeds, {_id("gpu"): ["s2", "new"]})
    assert [hit.id for hit in votes] == ["s1", "new", "s2"]


def test_nothing_new_is_no_answer() -> None:
    gpu = _concept("gpu", 2)
    assert vote([_seed("s1", 1.0, gpu), _seed("s2", 0.9, gpu)], {_id("gpu"): ["s1", "s2"]}) == []
    assert vote([_seed("s1", 1.0)], {}) == []
    assert vote([], {}) == []


def test_the_most_frequent_concepts_of_many_are_not_followed() -> None:
    concepts = [_concept(f"c{n:02}", 2 + n) for n in range(30)]
    linked = {concept.id: ["s", f"by {concept.name}"] for concept in concepts}
    found = _found(vote([_seed("s", 1.0, *concepts)], linked))
    assert set(found) == {"s", *(f"by C{n:02}" for n in range(24))}


@st.composite
def _seeds(draw: st.DrawFn) -> tuple[list[Seed], dict[ConceptId, list[str]]]:
    links = draw(_LINKS)
    keys = draw(st.lists(st.sampled_from(_KEYS), unique=True, min_size=1, max_size=4))
    seeds = []
    for place, key in enumerate(keys):
        concepts = [
            _concept(slug, len(members)) for slug, members in links.items() if key in members
        ]
        seeds.append(_seed(key, 1 / (1 + place), *concepts))
    return seeds, {_id(slug): sorted(members) for slug, members in links.items()}


@given(_seeds(), st.data())
def test_no_order_of_the_input_matters(
    given_seeds: tuple[list[Seed], dict[ConceptId, list[str]]], data: st.DataObject
) -> None:
    seeds, linked = given_seeds
    shuffled = data.draw(st.permutations(seeds))
    relinked = {
        key: list(reversed(linked[key])) for key in data.draw(st.permutations(list(linked)))
    }
    assert vote(shuffled, relinked) == vote(seeds, linked)


@given(_seeds())
def test_nothing_new_outranks_the_best_seed(
    given_seeds: tuple[list[Seed], dict[ConceptId, list[str]]],
) -> None:
    seeds, linked = given_seeds
    votes = vote(seeds, linked)
    known = {seed.id for seed in seeds}
    if votes:
        assert known <= set(_found(votes))
        assert votes[0].id in known
        assert any(hit.id not in known for hit in votes)
        assert all(hit.path for hit in votes if hit.id not in known)
