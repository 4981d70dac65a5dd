"""Dates as people write them in headings: November 19, 2026; 2026년 11월 19일; pure."""

import re
from datetime import UTC, datetime
from typing import Final

_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_WEEKDAY: Final = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?,?\s{1,3})?"
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY: Final = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)[0-9]{2})(?![0-9])"
# Of a year that stands first.
_FIRST: Final = r"(?P<year>(?:19|20)[0-9]{2})"
_NUMBER: Final = r"\s?(?P<month>[0-9]{1,2})"
# No letter beyond ASCII is another's capital, as the long s is.
_FLAGS: Final = re.IGNORECASE | re.ASCII
_FORMS: Final = (
    re.compile(rf"{_WEEKDAY}{_MONTH}\s{{1,3}}{_DAY},?\s{{1,3}}{_YEAR}", _FLAGS),
    re.compile(rf"{_WEEKDAY}{_DAY}\.?(?:\s{{1,3}}of)?\s{{1,3}}{_MONTH},?\s{{1,3}}{_YEAR}", _FLAGS),
    re.compile(rf"{_FIRST}\.{_NUMBER}\.\s?(?P<day>[0-9]{{1,2}})(?![0-9])"),
    re.compile(rf"{_FIRST}\s?[년年]{_NUMBER}\s?[월月]\s?(?P<day>[0-9]{{1,2}})\s?[일日号號]"),
)


def written_date(heading: str) -> datetime | None:
    """Return the day that a heading begins with, at midnight UTC; None without one that exists.

    A day without its year is none, and 11/19/2026 neither: it is another day elsewhere.
    """
    text = heading.strip(" *_`")
    match = next((found for form in _FORMS if (found := form.match(text))), None)
    if match is None:
        return None
    name = match["month"].lower()
    month = int(name) if name.isdecimal() else _MONTHS.index(name[:3]) + 1
    try:
        return datetime(int(match["year"]), month, int(match["day"]), tzinfo=UTC)
    except ValueError:
        return None
