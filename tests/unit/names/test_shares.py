"""How tightly concepts are tied, by numbers worked out by hand."""

import pytest

from service.names.shares import share_of


@pytest.mark.parametrize(
    ("weight", "memories", "others", "share"),
    [(2, 4, 8, 0.25), (2, 8, 4, 0.25), (3, 3, 3, 1.0), (5, 2, 3, 1.0), (0, 9, 2, 0.0)],
)
def test_the_more_frequent_concept_decides(
    weight: int, memories: int, others: int, share: float
) -> None:
    assert share_of(weight, memories, others) == share


def test_concepts_that_stand_nowhere_yet_divide_by_one() -> None:
    assert share_of(0, 0, 0) == 0.0
