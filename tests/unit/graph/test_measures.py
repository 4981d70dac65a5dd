"""What vectors say of joined pairs, on numbers worked out by hand."""

import numpy as np
import pytest

from service.graph.measures import (
    Band,
    Measured,
    bands,
    cosines,
    count_nearer,
    measured,
    near_cosine,
    reach_of,
    verdict_on,
)
from service.store.vector_forms import unit_rows


def _rows(*rows: list[float]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.array(rows, np.float32)


def test_cosines_are_of_rows_side_by_side() -> None:
    rows = _rows([0.6, 0.8], [0, 0], [0, 1])
    assert cosines(rows[[0, 0, 1]], rows[[0, 2, 2]]).tolist() == pytest.approx([1, 0.8, 0])


def test_near_is_what_one_random_pair_in_twenty_exceeds() -> None:
    assert near_cosine(np.linspace(0, 1, 101, dtype=np.float32)) == pytest.approx(0.95)
    assert near_cosine(np.zeros(0, np.float32)) is None


def test_precision_and_lift() -> None:
    found = np.array([0.9, 0.8, 0.3, 0.1], np.float32)
    assert measured(found, 0.5, 0.25) == Measured(4, 0.5, 10.0, 0.25)
    assert measured(found, 0.8, None) == Measured(4, 0.25, 5.0, None)
    assert measured(found, None, None) == Measured(4)
    assert measured(found[:0], 0.5, None) == Measured(0)
    assert measured(found[:3], 0.5, 1 / 3) == Measured(3, 0.6667, 13.33, 0.3333)


def test_who_is_nearer_than_the_other_end() -> None:
    vectors = unit_rows(_rows([1, 0], [0.9, 0.1], [0.5, 0.5], [0, 1]))
    asked, thresholds = vectors[[0, 3, 0]], cosines(vectors[[0, 3, 0]], vectors[[2, 2, 1]])
    # From 0 to 2: 1 is nearer. From 3 to 2: nobody. From 0 to 1: nobody but itself.
    assert count_nearer(asked, thresholds, vectors, np.array([0, 3, 0])).tolist() == [1, 0, 0]
    assert count_nearer(asked, thresholds, vectors, np.array([-1, -1, -1])).tolist() == [2, 1, 1]


def test_as_near_is_not_nearer_however_the_sums_are_rounded() -> None:
    vectors, own = _rows([0.6, 0.8], [1, 0]), np.array([-1])
    for rounding, nearer in ((-5e-7, 0), (5e-7, 0), (-3e-6, 1)):
        threshold = np.array([1 + rounding], np.float32)
        assert count_nearer(vectors[1:], threshold, vectors, own).tolist() == [nearer]


def test_reach_counts_pairs_that_miss_each_other_both_ways() -> None:
    nearer = np.array([[20, 20], [19, 400], [400, 19], [0, 0]])
    assert reach_of(nearer) == 0.25
    assert reach_of(np.array([[20, 400], [20, 20], [500, 20], [3, 0]])) == 0.75
    assert reach_of(nearer[:0]) is None


@pytest.mark.parametrize(
    ("edge", "verdict", "words"),
    [
        (Measured(19, 1.0, 20.0, 1.0), "too few to tell", "19 pairs"),
        (Measured(50), "too few to tell", "50 pairs"),
        (Measured(20, 0.1, 2.0, 0.4), "too few to tell", "among 20 pairs that may be luck"),
        (Measured(20, 0.15, 3.0, 0.4), "pays", "15% of joined pairs are near, 3 times chance"),
        (Measured(100, 0.1, 2.0, 0.4), "pays", "miss 40% of them"),
        (Measured(100, 0.1, 2.0), "pays", "10% of joined pairs are near, 2 times chance."),
        (Measured(75, 0.1, 2.0, 0.4), "too few to tell", "luck"),
        (Measured(77, 0.1, 2.0, 0.4), "pays", "miss 40% of them"),
        (Measured(2000, 0.0995, 1.99, 0.9), "noisy", "below 2 times"),
    ],
)
def test_the_verdict_gives_its_reason(edge: Measured, verdict: str, words: str) -> None:
    given, reason = verdict_on(edge)
    assert given == verdict
    assert words in reason


def test_concepts_are_sorted_into_bands() -> None:
    assert bands(iter([900, 1, 2, 3, 5, 6, 20, 21, 200, 201, 1, 100]), 100) == [
        Band("1", 2, 2, 0),
        Band("2", 1, 2, 1),
        Band("3-5", 2, 8, 2),
        Band("6-20", 2, 26, 2),
        Band("21-200", 3, 321, 2),
        Band("201+", 2, 1101, 0),
    ]
