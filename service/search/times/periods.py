"""Stretches of the calendar: days, weeks, months, seasons, years, and steps between them; pure.

A period is two dates, the first day and the day after the last. Any function may raise
NO_SUCH_TIME.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final, Literal

Period = tuple[date, date]
Unit = Literal["day", "week", "weekend", "month", "quarter", "year"]
# `firm` words name a time by themselves, `latest` ones its latest date; the others need the right
# word before them, and `name` is a month that is a word or a first name as well.
Kind = Literal["firm", "latest", "month", "name", "year", "weekday"]
Reading = tuple[Period, Kind] | None
Reader = Callable[[re.Match[str], date], Reading]

# The 31st of June, the year 10000, or a letter that only looks like one of a word (ſeven).
NO_SUCH_TIME: Final = (ValueError, OverflowError, KeyError)
DAY: Final = timedelta(days=1)
_DAYS: Final = {"day": 1, "week": 7, "weekend": 7}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
# By the meteorologists' calendar of the northern half of the earth: three whole months each.
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


def day_of(day: date) -> Period:
    """Return one day."""
    return day, day + timedelta(days=1)


def months_from(year: int, month: int, count: int = 1) -> Period:
    """Return so many whole months."""
    first = date(year, month, 1)
    return first, shifted(first, "month", count)


def shifted(day: date, unit: Unit, count: int) -> date:
    """Return the day so many units later (earlier where negative); the 31st becomes the 30th."""
    if unit in _DAYS:
        return day + timedelta(days=count * _DAYS[unit])
    months = day.year * 12 + day.month - 1 + count * _MONTHS[unit]
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def period_around(day: date, unit: Unit) -> Period:
    """Return the calendar's day, week (from Monday), weekend, month … that a day lies in.

    The weekend is that of the day's week.
    """
    if unit == "day":
        return day_of(day)
    if unit in _DAYS:
        monday = day - timedelta(days=day.weekday())
        return (monday + timedelta(days=5 if unit == "weekend" else 0)), monday + timedelta(days=7)
    count = _MONTHS[unit]
    return months_from(day.year, (day.month - 1) // count * count + 1, count)


def before(today: date, unit: Unit, count: int = 1) -> Period:
    """Return the calendar's unit that lies so many units ago.

    A weekend ago is over: it ends with its week, so that of this week goes on or is to come.
    """
    return period_around(shifted(today, unit, -count), unit)


def up_to_today(today: date, unit: Unit, count: int) -> Period:
    """Return the last so many units, today included."""
    return shifted(today, unit, -count), today + timedelta(days=1)


def latest_month(today: date, month: int) -> Period:
    """Return the latest such month that has begun."""
    return months_from(today.year - (month > today.month), month)


def latest_season(today: date, first_month: int) -> Period:
    """Return the latest such season that is over."""
    for year in (today.year, today.year - 1, today.year - 2):
        period = months_from(year, first_month, 3)
        if period[1] <= today:
            return period
    raise ValueError(first_month)


def latest_day(today: date, month: int, day: int) -> Period:
    """Return the latest such day that is not in the future; the 29th of February may be old."""
    for year in range(today.year, today.year - 9, -1):
        if day <= monthrange(year, month)[1] and date(year, month, day) <= today:
            return day_of(date(year, month, day))
    raise ValueError(day)


def latest_weekday(today: date, weekday: int) -> Period:
    """Return the latest such day of the week, today included; 0 is Monday."""
    return day_of(today - timedelta(days=(today.weekday() - weekday) % 7))


def table(*rows: tuple[str, Reader]) -> tuple[tuple[re.Pattern[str], Reader], ...]:
    """Return patterns of words, case ignored, each with what reads a match on a given day."""
    return tuple((re.compile(pattern, re.IGNORECASE), reader) for pattern, reader in rows)
