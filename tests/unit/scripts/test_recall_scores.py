"""Metrics against values worked out by hand; what bootstrap, abstention and bins promise."""

from collections.abc import Mapping
from dataclasses import astuple
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.recall.scores import (
    Abstention,
    Bin,
    Scores,
    abstention,
    bootstrap,
    calibration,
    mean_scores,
    score,
)

CONFIDENCE = st.floats(0, 1)
NAMES = st.sampled_from("abcdefghijklmnop")


@pytest.mark.parametrize(
    ("gold", "ranked", "expected"),
    [
        # The second and the fourth of four: (1/log2 3 + 1/log2 5) / (1 + 1/log2 3).
        ({"a": 1, "b": 1}, "xayb", (0, 1, 1, 1, 1, (0.63093 + 0.43068) / 1.63093, 1 / 2)),
        # Two of three, at ranks 1 and 7: (1 + 1/log2 8) / (1 + 0.63093 + 1/log2 4).
        (
            {"a": 1, "b": 1, "c": 1}, "a12345b",
            (1 / 3, 1 / 3, 2 / 3, 0, 0, (1 + 1 / 3) / 2.13093, 1),
        ),
        # Grades the wrong way round: (1 + 2/log2 3) / (2 + 1/log2 3).
        ({"a": 2, "b": 1}, "ba", (1 / 2, 1, 1, 1, 1, 2.26186 / 2.63093, 1)),
        # Six of six by rank ten, five of them by rank five.
        (
            dict.fromkeys("abcdef", 1), "abcdexyzwf",
            (1 / 6, 5 / 6, 1, 0, 1, (2.94846 + 1 / log2(11)) / (2.94846 + 1 / log2(7)), 1),
        ),
        # Twelve of gold, ten found in order: the ideal ends at ten as well.
        (dict.fromkeys("abcdefghijkl", 1), "abcdefghij", (1 / 12, 5 / 12, 10 / 12, 0, 0, 1, 1)),
        # At rank eleven only MRR sees it.
        ({"a": 1}, "0123456789a", (0, 0, 0, 0, 0, 0, 1 / 11)),
        ({"a": 1}, "", (0, 0, 0, 0, 0, 0, 0)),
        # A repeated id keeps its first place: a at 2, b at 3.
        ({"b": 1}, "xaab", (0, 1, 1, 1, 1, 1 / 2, 1 / 3)),
    ],
)  # fmt: skip
def test_scores_are_those_worked_out_by_hand(
    gold: Mapping[str, float], ranked: str, expected: tuple[float, ...]
) -> None:
    assert astuple(score(gold, list(ranked))) == pytest.approx(expected, abs=1e-5)


@given(
    st.dictionaries(NAMES, st.floats(0.5, 3), min_size=1), st.lists(NAMES, unique=True, max_size=12)
)
def test_scores_are_shares_that_grow_with_the_depth(
    gold: dict[str, float], ranked: list[str]
) -> None:
    found = score(gold, ranked)
    assert all(0 <= value <= 1 + 1e-9 for value in astuple(found))
    assert found.recall_1 <= found.recall_5 <= found.recall_10
    assert found.full_5 <= found.full_10
    assert (found.recall_5 == 1) == bool(found.full_5)


def test_a_ranking_by_gain_is_ideal() -> None:
    assert score({"a": 1, "b": 3, "c": 2}, ["b", "c", "a"]).ndcg_10 == pytest.approx(1)


def test_the_mean_is_of_every_score() -> None:
    both = [Scores(0, 0.5, 1, 0, 1, 0.25, 0.5), Scores(1, 0.5, 1, 1, 1, 0.75, 1)]
    assert mean_scores(both) == Scores(0.5, 0.5, 1, 0.5, 1, 0.5, 0.75)


def test_the_bootstrap_of_equals_is_a_point() -> None:
    [same, other] = bootstrap(np.array([[0.0, 0.25]] * 7), resamples=50)
    assert (same.low, same.mean, same.high) == (0, 0, 0)
    assert (other.low, other.mean, other.high) == (0.25, 0.25, 0.25)


def test_the_bootstrap_agrees_with_the_standard_error() -> None:
    # Mean 1, deviation sqrt 2: half the interval is 1.96 * sqrt 2 / sqrt 400.
    column = np.arange(400, dtype=np.float64) % 5 - 1
    [found] = bootstrap(column[:, None])
    assert found.mean == pytest.approx(1)
    assert found.low == pytest.approx(1 - 0.1386, abs=0.01)
    assert found.high == pytest.approx(1 + 0.1386, abs=0.01)


def test_the_bootstrap_is_paired_and_the_same_every_time() -> None:
    column = np.linspace(-1, 2, 30)
    both = bootstrap(np.stack([column, -column], axis=1), resamples=200)
    assert both[0].low == pytest.approx(-both[1].high)
    assert both == bootstrap(np.stack([column, -column], axis=1), resamples=200)


def test_the_threshold_gives_up_one_answerable_in_twenty() -> None:
    answerable = [number / 100 for number in range(50, 70)]
    found = abstention(answerable, [0.1, 0.5, 0.51, 0.9])
    assert found == Abstention(0.51, kept=19 / 20, refused=2 / 4, answerable=20, unanswerable=4)


def test_no_threshold_is_told_where_one_side_is_empty() -> None:
    assert abstention([0.5], []) is None
    assert abstention([], [0.5]) is None


@given(st.lists(CONFIDENCE, min_size=1), st.lists(CONFIDENCE, min_size=1))
def test_a_threshold_keeps_95_per_cent_and_no_higher_one_does(
    answerable: list[float], unanswerable: list[float]
) -> None:
    found = abstention(answerable, unanswerable)
    assert found is not None
    assert found.kept >= 0.95
    above = [one for one in answerable if one > found.threshold]
    assert len(above) / len(answerable) < 0.95


def test_bins_count_each_kind_by_itself() -> None:
    bins = calibration([(0.0, False), (0.31, True), (0.39, False), (1.0, True)], [0.35, 0.99])
    assert bins[0] == Bin(0.0, 0.1, 1, 0.0, 0)
    assert bins[3] == Bin(0.3, 0.4, 2, 0.5, 1)
    assert bins[5] == Bin(0.5, 0.6, 0, None, 0)
    assert bins[9] == Bin(0.9, 1.0, 1, 1.0, 1)


@given(st.lists(st.tuples(CONFIDENCE, st.booleans())), st.lists(CONFIDENCE))
def test_every_question_is_in_one_bin(
    answerable: list[tuple[float, bool]], unanswerable: list[float]
) -> None:
    bins = calibration(answerable, unanswerable)
    assert len(bins) == 10
    assert sum(one.answerable for one in bins) == len(answerable)
    assert sum(one.unanswerable for one in bins) == len(unanswerable)
