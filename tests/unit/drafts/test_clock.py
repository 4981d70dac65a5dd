"""Moments for what is told without one."""

from datetime import UTC, datetime, timedelta

from service.drafts.clock import Clock

NOON = datetime(2026, 2, 13, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_a_moment_is_the_wall_clocks() -> None:
    clock = Clock()
    assert clock.now(NOON) == NOON
    assert clock.now(NOON + SECOND) == NOON + SECOND


def test_a_small_step_back_is_waited_out() -> None:
    clock = Clock()
    told = [clock.now(NOON + seconds * SECOND) for seconds in (0, 0, -2, -59, -1, 1)]
    assert told == sorted(set(told))
    assert told[-1] == NOON + SECOND


def test_a_large_step_back_is_believed() -> None:
    clock = Clock()
    clock.now(NOON)
    assert clock.now(NOON - timedelta(hours=1)) == NOON - timedelta(hours=1)


def test_it_goes_by_the_wall_clock_if_nobody_says_another() -> None:
    before = datetime.now(UTC)
    assert before <= Clock().now() <= datetime.now(UTC)
