"""Certainty: three numbers become a chance, and more of any of them never makes it less."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.search.fusion.confidence import Certainty, margin_of

_COSINE = st.floats(-1, 1)
_COVERAGE = st.floats(0, 10)
_MARGIN = st.floats(0, 1)


@given(st.none() | _COSINE, _COVERAGE, _MARGIN)
def test_confidence_is_a_chance(cosine: float | None, coverage: float, margin: float) -> None:
    assert 0 <= Certainty(cosine, coverage, margin).confidence <= 1


@given(_COSINE, _COVERAGE, _MARGIN, st.floats(0, 1))
def test_more_of_any_number_is_no_less_sure(
    cosine: float, coverage: float, margin: float, more: float
) -> None:
    here = Certainty(cosine, coverage, margin).confidence
    assert Certainty(cosine + more, coverage, margin).confidence >= here
    assert Certainty(cosine, coverage + more, margin).confidence >= here
    assert Certainty(cosine, coverage, margin + more).confidence >= here


@given(_COVERAGE, _MARGIN, st.floats(0, 1))
def test_without_a_vector_too(coverage: float, margin: float, more: float) -> None:
    here = Certainty(None, coverage, margin).confidence
    assert Certainty(None, coverage + more, margin).confidence >= here
    assert Certainty(None, coverage, margin + more).confidence >= here


def test_by_hand() -> None:
    total = 7.21 * 0.5 + 1.58 * 1.0 + 5.41 * 0.2 - 5.61
    assert Certainty(0.5, 1.0, 0.2).confidence == round(1 / (1 + math.exp(-total)), 4)
    words = 3.91 * 0.5 + 3.41 * 0.1 - 2.45
    assert Certainty(None, 0.5, 0.1).confidence == round(1 / (1 + math.exp(-words)), 4)


@pytest.mark.parametrize(
    ("scores", "margin"),
    [
        ([2.0, 1.5, 1.5, 1.2, 1.0, 0.0], 0.5),
        ([1.0, 1.0, 1.0, 1.0, 1.0], 0.0),
        # Too few to tell, or nothing to take a share of: the usual one.
        ([], 0.2), ([3.0], 0.2), ([3.0, 2.0, 1.0, 0.5], 0.2), ([0.0] * 5, 0.2),
    ],
)  # fmt: skip
def test_the_margin_is_how_far_the_fifth_falls_behind(scores: list[float], margin: float) -> None:
    assert margin_of(scores) == margin
