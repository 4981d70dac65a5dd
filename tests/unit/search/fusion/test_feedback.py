"""What votes do to a score: little, in their direction, whatever stands in the store."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.search.fusion.feedback import factors_of

COUNTS = st.integers(-(2**62), 2**62)


def factor(helpful: int, unhelpful: int) -> float:
    """Return what so many votes make of a score."""
    return factors_of(np.array([[helpful, unhelpful]], np.int64)).get(0, 1.0)


@given(COUNTS, COUNTS)
def test_no_number_of_votes_changes_a_score_by_more_than_a_tenth(
    helpful: int, unhelpful: int
) -> None:
    assert 0.9 <= factor(helpful, unhelpful) <= 1.1


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_each_vote_counts_in_its_direction(helpful: int, unhelpful: int) -> None:
    assert factor(helpful + 1, unhelpful) > factor(helpful, unhelpful)
    assert factor(helpful, unhelpful + 1) < factor(helpful, unhelpful)
    assert factor(helpful, helpful) == 1


def test_only_what_has_votes_has_a_factor() -> None:
    votes = np.array([[0, 0], [1, 0], [0, 0], [1, 2]])
    assert factors_of(votes) == {1: 1.05, 3: 0.975}
