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
# What may stand in front: `[2026-02-12]`, a calendar's picture.
_MARKS: Final = re.compile(r"[\W_]{1,9}")
# The version of a changelog: `[1.2.0] - 2024-05-01`, `v1.1.0 (2024-03-02)`.
_RELEASE: Final = re.compile(
    r"[\W_]{0,9}v?[0-9]{1,5}(?:\.[0-9]{1,5}){1,3}(?:-[\w.]{1,20})?\]?[\s(–—-]{1,5}(?=\w)"
)
_FORMS: Final = (
    re.compile(
        rf"{_WEEKDAY}{_FIRST}(?P<mark>[-/])(?P<month>[0-9]{{1,2}})(?P=mark)"
        r"(?P<day>[0-9]{1,2})(?![0-9])",
        _FLAGS,
    ),
    re.compile(rf"{_WEEKDAY}{_MONTH}\s{{1,3}}{_DAY},?\s{{1,3}}{_YEAR}", _FLAGS),
    re.compile(rf"{_WEEKDAY}{_DAY}\.?(?:\s{{1,3}}of)?\s{{1,3}}{_MONTH},?\s{{1,3}}{_YEAR}", _FLAGS),
    re.compile(rf"{_FIRST}\.{_NUMBER}\.\s?(?P<day>[0-9]{{1,2}})(?![0-9])"),
    re.compile(rf"{_FIRST}\s?[년年]{_NUMBER}\s?[월月]\s?(?P<day>[0-9]{{1,2}})\s?[일日号號]"),
    # With dots the day comes first everywhere.
    re.compile(rf"(?P<day>[0-9]{{1,2}})\.{_NUMBER}\.\s?{_YEAR}"),
)


# What stands behind a day that is all that is told: a weekday, an hour, a span of hours.
_REST: Final = re.compile(
    r"[\W\d]{0,20}(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}|[ap]\.?m|h|uhr|(?-i:[A-Z]{2,4}))?"
    r"[\W\d]{0,20}",
    re.IGNORECASE,
)


def written_date(text: str, *, is_all: bool = False) -> datetime | None:
    """Return the day that a heading begins with, at midnight UTC; None without one that exists.

    Marks and the version of a release may stand in front of it. A day without its year is none,
    and 11/19/2026 neither: it is another day elsewhere. `is_all`: nothing but a weekday, an hour
    and its zone may follow.
    """
    places = (mark.end() if (mark := form.match(text)) else 0 for form in (_MARKS, _RELEASE))
    found = (form.match(text, place) for place in dict.fromkeys(places) for form in _FORMS)
    match = next(filter(None, found), None)
    if match is None or (is_all and not _REST.fullmatch(text, match.end())):
        return None
    name = match["month"].lower()
    month = int(name) if name.isdecimal() else _MONTHS.index(name[:3]) + 1
    try:
        return datetime(int(match["year"]), month, int(match["day"]), tzinfo=UTC)
    except ValueError:
        return None
