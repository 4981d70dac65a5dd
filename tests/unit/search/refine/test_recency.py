"""Recency within bounds: at most 20 %, nothing at the half-life of the kind."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.kinds import KINDS
from service.records import Memory
from service.search.fusion.ranked import Ranked
from service.search.fusion.rrf import Fused
from service.search.refine.recency import HALF_LIVES, by_recency

_NOW = datetime(2026, 2, 13, tzinfo=UTC)


def _hit(score: float, days: float, kind: str = "note", key: str = "m") -> Ranked:
    at = _NOW - timedelta(days=days)
    return Ranked(Memory(key, "main", kind, "semantic", "", "", at, at, at), Fused(key, score))


def _score(days: float, kind: str = "note", recency: float = 1.0) -> float:
    return by_recency([_hit(1.0, days, kind)], recency, _NOW)[0].fused.score


def test_every_kind_has_a_half_life() -> None:
    assert HALF_LIVES.keys() == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_at_its_half_life_a_memory_keeps_its_score(kind: str) -> None:
    assert _score(HALF_LIVES[kind], kind) == pytest.approx(1.0)
    assert _score(2 * HALF_LIVES[kind], kind) == pytest.approx(0.9)
    assert _score(0, kind) == pytest.approx(1.2)
    assert _score(100_000, kind) == pytest.approx(0.8)


def test_by_hand() -> None:
    assert _score(30, recency=0.5) == pytest.approx(1.0)
    assert _score(60, recency=0.5) == pytest.approx(0.95)
    assert _score(0, recency=0.5) == pytest.approx(1.1)
    assert _score(-3) == pytest.approx(1.2)  # not begun yet: as new as can be
    assert _score(30, "preference") > _score(30, "decision") > _score(30, "daily_log")


def test_the_younger_of_two_equals_comes_first_but_a_good_old_one_stays() -> None:
    hits = [_hit(1.0, 400, key="old"), _hit(0.99, 1, key="new"), _hit(0.6, 0, key="weak")]
    assert [hit.memory.id for hit in by_recency(hits, 1.0, _NOW)] == ["new", "old", "weak"]


@given(st.floats(0, 1), st.floats(0, 36_500), st.sampled_from(KINDS))
def test_a_score_changes_by_a_fifth_at_most(recency: float, days: float, kind: str) -> None:
    assert 1 - 0.2 * recency - 1e-9 <= _score(days, kind, recency) <= 1 + 0.2 * recency + 1e-9


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0, 1000)), max_size=10))
def test_none_is_lost_and_scores_fall(told: list[tuple[float, float]]) -> None:
    hits = [_hit(score, days, key=str(n)) for n, (score, days) in enumerate(told)]
    weighed = by_recency(hits, 0.7, _NOW)
    assert sorted(hit.memory.id for hit in weighed) == sorted(hit.memory.id for hit in hits)
    scores = [hit.fused.score for hit in weighed]
    assert scores == sorted(scores, reverse=True)
