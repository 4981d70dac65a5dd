"""Reciprocal rank fusion, by numbers worked out by hand."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.records import Scored
from service.search.fusion.rrf import SignalHit, fuse

_KEYS = st.lists(st.sampled_from("abcdefgh"), unique=True)
_RANKINGS = st.fixed_dictionaries({"vector": _KEYS, "text": _KEYS, "graph": _KEYS})
_WEIGHT = st.floats(0, 100)
_WEIGHTS = st.fixed_dictionaries({"vector": _WEIGHT, "text": _WEIGHT, "graph": _WEIGHT})


def _ranking(keys: str) -> list[Scored]:
    return [Scored(key, 10.0 - place) for place, key in enumerate(keys)]


def _ids(rankings: dict[str, list[Scored]], weights: dict[str, float], k: int = 60) -> str:
    return "".join(hit.id for hit in fuse(rankings, weights, k))


def test_ranks_count_from_one() -> None:
    (first, second) = fuse({"text": _ranking("ab")}, {})
    assert first.score == 1 / 61
    assert second.score == 1 / 62
    assert first.signals == {"text": SignalHit(1, 10.0)}
    assert second.signals == {"text": SignalHit(2, 9.0)}


def test_what_two_signals_find_adds_up() -> None:
    rankings = {"text": _ranking("ab"), "vector": _ranking("cb")}
    fused = fuse(rankings, {"text": 1.0, "vector": 1.0})
    assert [hit.id for hit in fused] == ["b", "a", "c"]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 62)
    assert fused[0].signals["vector"].rank == 2
    assert "vector" not in fused[1].signals


def test_weights_and_k_by_hand() -> None:
    rankings = {"vector": _ranking("xyz"), "text": _ranking("zy"), "graph": _ranking("w")}
    fused = fuse(rankings, {"vector": 2.0, "text": 1.0, "graph": 0.5}, k=10)
    by_hand = {
        "x": Fraction(2, 11),
        "y": Fraction(2, 12) + Fraction(1, 12),
        "z": Fraction(2, 13) + Fraction(1, 11),
        "w": Fraction(1, 22),
    }
    assert {hit.id: hit.score for hit in fused} == {
        key: pytest.approx(float(score)) for key, score in by_hand.items()
    }
    assert [hit.id for hit in fused] == ["y", "z", "x", "w"]


def test_a_small_k_favours_the_first_place() -> None:
    rankings = {"text": _ranking("abc"), "vector": _ranking("dec"), "graph": _ranking("fgc")}
    assert _ids(rankings, {}, k=60)[0] == "c"
    assert _ids(rankings, {}, k=0)[0] == "a"


def test_a_signal_of_weight_zero_is_left_out() -> None:
    rankings = {"text": _ranking("ab"), "graph": _ranking("cab")}
    fused = fuse(rankings, {"text": 1.0, "graph": 0.0})
    assert fused == fuse({"text": _ranking("ab")}, {"text": 1.0})
    assert "graph" not in fused[0].signals


def test_equal_scores_stand_in_the_order_of_their_ids() -> None:
    assert _ids({"text": _ranking("za"), "vector": _ranking("az")}, {}) == "az"
    assert (
        _ids({"text": _ranking("b"), "vector": _ranking("a"), "graph": _ranking("c")}, {}) == "abc"
    )


def test_the_way_through_the_graph_is_kept() -> None:
    (hit,) = fuse({"graph": [Scored("a", 0.5, ("Seed", "GPU"))]}, {})
    assert hit.signals["graph"] == SignalHit(1, 0.5, ("Seed", "GPU"))


def test_nothing_gives_nothing() -> None:
    assert fuse({}, {}) == []
    assert fuse({"text": [], "vector": []}, {"text": 1.0}) == []


@given(_RANKINGS, _WEIGHTS)
def test_the_order_of_the_signals_changes_nothing(
    keys: dict[str, list[str]], weights: dict[str, float]
) -> None:
    rankings = {signal: _ranking("".join(order)) for signal, order in keys.items()}
    expected = fuse(rankings, weights)
    for order in permutations(rankings):
        assert fuse({signal: rankings[signal] for signal in order}, weights) == expected


@given(_RANKINGS, _WEIGHTS, st.integers(1, 1000))
def test_scores_are_the_sum_of_what_the_signals_say(
    keys: dict[str, list[str]], weights: dict[str, float], k: int
) -> None:
    rankings = {signal: _ranking("".join(order)) for signal, order in keys.items()}
    fused = fuse(rankings, weights, k)
    heard = {key for signal, order in keys.items() if weights[signal] > 0 for key in order}
    assert {hit.id for hit in fused} == heard
    for hit in fused:
        said = [weights[signal] / (k + one.rank) for signal, one in hit.signals.items()]
        assert hit.score == pytest.approx(sum(said))
        for signal, one in hit.signals.items():
            assert keys[signal][one.rank - 1] == hit.id
    assert [(-hit.score, hit.id) for hit in fused] == sorted((-hit.score, hit.id) for hit in fused)
