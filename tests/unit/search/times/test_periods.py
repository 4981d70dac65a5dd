"""Steps and stretches of the calendar, by hand."""

from datetime import date

import pytest

from service.search.times.periods import (
    SEASONS,
    before,
    latest_day,
    latest_season,
    shifted,
    up_to_today,
)

# 2026-02-09 is a Monday.
THIS_WEEKEND = (date(2026, 2, 14), date(2026, 2, 16))
LAST_WEEKEND = (date(2026, 2, 7), date(2026, 2, 9))


@pytest.mark.parametrize(
    ("today", "count", "period"),
    [
        (date(2026, 2, 9), 1, LAST_WEEKEND),
        # One that goes on is not over.
        (date(2026, 2, 14), 1, LAST_WEEKEND),
        (date(2026, 2, 15), 1, LAST_WEEKEND),
        (date(2026, 2, 16), 1, THIS_WEEKEND),
        (date(2026, 2, 16), 2, LAST_WEEKEND),
    ],
)
def test_a_weekend_ago_is_over(today: date, count: int, period: tuple[date, date]) -> None:
    assert before(today, "weekend", count) == period


def test_other_units_ago_are_those_of_the_calendar() -> None:
    today = date(2026, 2, 12)
    assert before(today, "week") == (date(2026, 2, 2), date(2026, 2, 9))
    assert before(today, "month", 2) == (date(2025, 12, 1), date(2026, 1, 1))
    assert before(today, "quarter") == (date(2025, 10, 1), date(2026, 1, 1))


def test_a_day_that_a_month_has_not_is_its_last() -> None:
    assert shifted(date(2026, 3, 31), "month", -1) == date(2026, 2, 28)
    assert shifted(date(2024, 2, 29), "year", -1) == date(2023, 2, 28)
    assert shifted(date(2026, 1, 15), "month", -1) == date(2025, 12, 15)
    assert up_to_today(date(2026, 2, 15), "weekend", 1) == (date(2026, 2, 8), date(2026, 2, 16))


@pytest.mark.parametrize(
    ("today", "season", "first"),
    [
        (date(2026, 5, 31), "spring", date(2025, 3, 1)),
        (date(2026, 6, 1), "spring", date(2026, 3, 1)),
        (date(2026, 12, 1), "autumn", date(2026, 9, 1)),
        (date(2026, 11, 30), "fall", date(2025, 9, 1)),
        # A winter ends in the year after it begins.
        (date(2026, 2, 28), "winter", date(2024, 12, 1)),
        (date(2026, 3, 1), "winter", date(2025, 12, 1)),
    ],
)
def test_a_season_is_over_with_its_last_day(today: date, season: str, first: date) -> None:
    assert latest_season(today, SEASONS[season])[0] == first


def test_the_latest_day_may_be_today_or_a_leap_year_ago() -> None:
    assert latest_day(date(2026, 2, 12), 2, 12)[0] == date(2026, 2, 12)
    assert latest_day(date(2026, 2, 12), 2, 13)[0] == date(2025, 2, 13)
    # 1900 was none: there lie eight years between two such days.
    assert latest_day(date(1904, 2, 28), 2, 29)[0] == date(1896, 2, 29)
    with pytest.raises(ValueError, match="31"):
        latest_day(date(2026, 2, 12), 6, 31)
