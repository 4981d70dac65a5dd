"""Maximal marginal relevance, worked by hand."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.records import Memory
from service.search.fusion.ranked import Ranked
from service.search.fusion.rrf import Fused
from service.search.refine.mmr import diversified

_AT = datetime(2026, 2, 13, tzinfo=UTC)


def _hits(*texts: str) -> list[Ranked]:
    return [
        Ranked(
            Memory(str(place), "main", "note", "semantic", "", text, _AT, _AT, _AT),
            Fused(str(place), 1 / (60 + place)),
        )
        for place, text in enumerate(texts)
    ]


def _order(hits: list[Ranked]) -> list[int]:
    return [int(hit.memory.id) for hit in hits]


TEXTS = ("red green blue", "red green blue", "red yellow", "black white")


@pytest.mark.parametrize(
    ("diversity", "order"),
    [
        (0.0, [0, 1, 2, 3]),
        # Places are worth 1, 0.7, 0.4, 0.1; likeness to the first: 1, 1/4, 0.
        # At 0.2 the second is worth 0.56 - 0.2, the third 0.32 - 0.05: the order stays.
        (0.2, [0, 1, 2, 3]),
        # At 0.4: 0.42 - 0.4 against 0.24 - 0.1 and 0.06: the third comes first, then the last.
        (0.4, [0, 2, 3, 1]),
        # At 1 only likeness counts: 0 against 1/4 against 1.
        (1.0, [0, 3, 2, 1]),
    ],
)
def test_by_hand(diversity: float, order: list[int]) -> None:
    assert _order(diversified(_hits(*TEXTS), diversity, 4)) == order


def test_likeness_is_that_with_any_hit_already_chosen() -> None:
    # The third says what the second does, and nothing of what the first says.
    texts = ("red green", "black white", "black white", "yellow")
    assert _order(diversified(_hits(*texts), 0.5, 4)) == [0, 1, 3, 2]


# Of three, places are worth 1, 0.55 and 0.1: at 0.5 likeness counts from 0.45 on.
@pytest.mark.parametrize(
    ("words", "order"),
    [((7, 4, 5), [0, 1, 2]), ((5, 3, 3), [0, 2, 1])],  # likeness 7/16, 5/11
)
def test_relevance_falls_evenly_to_a_tenth(words: tuple[int, int, int], order: list[int]) -> None:
    common, own, others = (
        " ".join(f"{name}{n}" for n in range(count))
        for name, count in zip(("c", "x", "y"), words, strict=True)
    )
    hits = _hits(f"{common} {own}", f"{common} {others}", "z")
    assert _order(diversified(hits, 0.5, 3)) == order


def test_the_limit_takes_the_first_of_the_new_order() -> None:
    assert _order(diversified(_hits(*TEXTS), 1.0, 2)) == [0, 3]
    assert _order(diversified(_hits(*TEXTS), 0.0, 2)) == [0, 1]


def test_stop_words_are_no_likeness() -> None:
    texts = ("the cat is on the mat", "the dog is in the house", "a mat for a cat")
    assert _order(diversified(_hits(*texts), 0.5, 3)) == [0, 1, 2]
    assert _order(diversified(_hits(texts[0], texts[2], texts[1]), 0.5, 3)) == [0, 2, 1]


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=5).map(" ".join), max_size=12),
    st.floats(0, 1),
    st.integers(1, 15),
)
def test_the_best_stays_and_none_is_lost_or_doubled(
    texts: list[str], diversity: float, limit: int
) -> None:
    hits = _hits(*texts)
    chosen = _order(diversified(hits, diversity, limit))
    assert len(chosen) == len(set(chosen)) == min(limit, len(hits))
    assert chosen[:1] == _order(hits)[:1]
    assert chosen == _order(diversified(hits, diversity, len(hits)))[:limit]
    if diversity == 0:
        assert chosen == _order(hits)[:limit]
