"""What names a time in English, and the days it means; pure.

Precision comes first: `may`, `march` and first names are words of every question, so a month, a
year or a day of the week is not firm: it needs the right word before it.
"""

import re
from datetime import date, timedelta
from typing import Final, cast

from service.search.times import periods
from service.search.times.periods import SEASONS, Kind, Period, Reading, Unit, table

_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAMES: Final = frozenset(("march", "april", "may", "june", "august"))
_NO_SHORT_MONTHS: Final = frozenset(("jan", "mar", "apr", "jun"))
_NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        (
            ("a", "an", "one"), ("two", "couple"), ("three",), ("four",), ("five",), ("six",),
            ("seven",), ("eight",), ("nine",), ("ten",), ("eleven",), ("twelve",),
        ),
        start=1,
    )
    for word in words
}  # fmt: skip
# "A few" is two to six.
_FEW: Final = (2, 6)
_FEW_WORDS: Final = frozenset(("a few", "few", "several"))

_YEAR_END: Final = r"(?![\d%]|[.,:/-]\d|s\b)"
_YEAR: Final = rf"(?:19|20)\d\d{_YEAR_END}"
_SAID_YEAR: Final = r"(?P<said>last|this)\s+year\b"
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
)
_WEEKDAY: Final = r"(?P<weekday>mon|tues|wednes|thurs|fri|satur|sun)day"
_SEASON: Final = r"(?P<season>spring|summer|autumn|fall|winter)"
_COUNT: Final = (
    r"(?P<count>\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:a )?couple(?: of)?|(?:a )?few|several)\s+"
)
_UNIT: Final = r"(?P<unit>day|week|month|year)s?\b"
_WHOSE: Final = re.compile(
    r"(?P<over>\b(?:in|over|during|within|for|throughout)\s+)?"
    r"\b(?P<which>the|my|our|your|his|her|their|its|that|a|very|\w+['’]s)\s+$", re.IGNORECASE
)  # fmt: skip
_ON_A_DAY: Final = re.compile(
    r"\b(?:on|before|after|since|by|until|from|the|of)\s+$", re.IGNORECASE
)
# "In 2048 tokens", "after 2000 ms": a number of things, not a year.
_THINGS: Final = re.compile(
    r"\s+(?:(?!(?:was|is|has|does|as|us|his|this|its)\b)[a-z]+s\b|[mkgtMKGT]?[bBsmg]\b|people\b)"
)


def weekday_of(word: str) -> int:
    """Return the number of a day of the week in English; Monday is 0."""
    return _WEEKDAYS.index(word[:3].lower())


def number_of(word: str) -> int:
    """Return the number of "7", "seven", "a", "a couple of"; raises KeyError for another word."""
    bare = word.lower().removeprefix("a ").removesuffix(" of")
    return int(bare) if bare.isdecimal() else _NUMBERS[bare]


def _numeric(match: re.Match[str], _: date) -> Reading:
    day = date(int(match["year"]), int(match["number"]), int(match["day"]))
    return periods.day_of(day), "firm"


def _numeric_month(match: re.Match[str], _: date) -> Reading:
    # 2003-04 may be a season of sport: as unsure as a year.
    return periods.months_from(int(match["year"]), int(match["number"])), "year"


def _month(match: re.Match[str], today: date) -> Reading:
    """Read a month with or without its day and year: May 3-5, 2023; the 3rd of May; in May."""
    word = match["month"]
    month = _MONTHS.index(word[:3].lower()) + 1
    year = int(match["year"]) if match["year"] else None
    if match["said"]:
        year = today.year - (match["said"].lower() == "last")
    if match["day"] is None:
        if year:
            return periods.months_from(year, month), "firm"
        is_short = word.lower() in _NO_SHORT_MONTHS or (len(word) < 5 and word.islower())
        if is_short and word.lower() not in {"may", "june", "july"}:
            return None
        kind: Kind = "name" if word.lower() in _NAMES else "month"
        return periods.latest_month(today, month), kind
    if not year and not _is_a_day(match, word):
        return None
    first = _day(today, year, month, int(match["day"]))
    last = periods.day_of(first[0].replace(day=int(match.groupdict().get("until") or match["day"])))
    return ((first[0], last[1]), "firm" if year else "latest") if last >= first else None


def _day(today: date, year: int | None, month: int, day: int) -> Period:
    if year:
        return periods.day_of(date(year, month, day))
    return periods.latest_day(today, month, day)


def _is_a_day(match: re.Match[str], word: str) -> bool:
    """Tell "May 3" from "we may 3 times" and from "May 2 agents share it?"."""
    ahead = match.string[: match.start()]
    if match["ordinal"] or _ON_A_DAY.search(ahead):
        return True
    if word in {"may", "march", "mar"}:
        return False
    opens = word == "May" and not ahead.strip() and match.end("month") < match.start("day")
    return not (opens and match.string[match.end() :][:2].strip(" ").isalpha())


def _year(match: re.Match[str], _: date) -> Reading:
    first, last = int(match["year"]), int(match["until"] or match["year"])
    if last < first or _THINGS.match(match.string, match.end()):
        return None
    return (date(first, 1, 1), date(last + 1, 1, 1)), "year"


def _weekday(match: re.Match[str], today: date) -> Reading:
    return _latest_weekday(match, today), "weekday"


def _latest_weekday(match: re.Match[str], today: date) -> Period:
    return periods.latest_weekday(today, weekday_of(match["weekday"]))


def _weekday_of_week(match: re.Match[str], today: date) -> Reading:
    """Read "Monday last week", "last week's Monday"; "Friday this week" may be yet to come."""
    week = periods.before(today, "week", int(match["which"].lower() == "last"))
    return periods.day_of(week[0] + timedelta(days=weekday_of(match["weekday"]))), "firm"


def _season_of_year(match: re.Match[str], today: date) -> Reading:
    year = _year_of(match, today)
    return periods.months_from(year, SEASONS[match["season"].lower()], 3), "firm"


def _quarter(match: re.Match[str], today: date) -> Reading:
    return periods.months_from(_year_of(match, today), int(match["number"]) * 3 - 2, 3), "firm"


def _year_of(match: re.Match[str], today: date) -> int:
    return int(match["year"] or today.year - (match["said"].lower() == "last"))


def _near_day(match: re.Match[str], today: date) -> Reading:
    word = match[0].lower()
    ahead = match.string[: match.start()].rstrip(" ")
    # "USA Today", the song "Yesterday".
    if match[0][0].isupper() and ahead and ahead[-1] not in ".?!:,;\n(":
        return None
    back = 2 if "before" in word else int(word.startswith(("yesterday", "last")))
    return periods.day_of(today - timedelta(days=back)), "firm"


def _ago(match: re.Match[str], today: date) -> Reading:
    unit = cast("Unit", match["unit"].lower())
    if match["count"].lower() in _FEW_WORDS:
        near, far = _FEW
        return (periods.before(today, unit, far)[0], periods.before(today, unit, near)[1]), "firm"
    return periods.before(today, unit, number_of(match["count"])), "firm"


def _last_unit(match: re.Match[str], today: date) -> Reading:
    """Read "last week" (the calendar's), "the past three weeks", "in the last week" (rolling)."""
    unit, count = cast("Unit", match["unit"].lower()), match["count"]
    whose = _WHOSE.search(match.string[: match.start()])
    is_ours = whose is None or whose["which"].lower() == "the"
    if not is_ours or (count is None and (unit == "day" or match["plural"])):
        return None
    if count is None and whose and not whose["over"]:
        return None
    if count or whose or match["word"].lower() == "past":
        is_few = (count or "").lower() in _FEW_WORDS
        many = _FEW[1] if is_few else number_of(count or "one")
        return periods.up_to_today(today, unit, many), "firm"
    return periods.before(today, unit), "firm"


def _last_named(match: re.Match[str], today: date) -> Reading:
    """Read "last Tuesday", "last March", "last summer"."""
    if _WHOSE.search(match.string[: match.start()]):
        return None
    yesterday = today - timedelta(days=1)
    if match["weekday"]:
        return _latest_weekday(match, yesterday), "firm"
    if match["season"]:
        return periods.latest_season(today, SEASONS[match["season"].lower()]), "firm"
    word = match["month"]
    if word in {"may", "march", "mar"}:
        return None
    before_this_month = today.replace(day=1) - timedelta(days=1)
    return periods.latest_month(before_this_month, _MONTHS.index(word[:3].lower()) + 1), "firm"


def _before_last(match: re.Match[str], today: date) -> Reading:
    return periods.before(today, cast("Unit", match["unit"].lower()), 2), "firm"


def _this(match: re.Match[str], today: date) -> Reading:
    word = match["unit"].lower()
    if word in SEASONS:
        # The winter of January began in the December before.
        year = today.year - (word == "winter" and today.month < SEASONS["spring"])
        return periods.months_from(year, SEASONS[word], 3), "firm"
    unit = "day" if word in {"morning", "afternoon", "evening"} else word
    return periods.period_around(today, cast("Unit", unit)), "firm"


ENGLISH: Final = table(
    ((r"(?<![\w./-])(?P<year>(?:19|20)\d\d)(?P<mark>[-/]|\. )(?P<number>\d{1,2})(?P=mark)"
     r"(?P<day>\d{1,2})(?!\d|[-/.]\d)"), _numeric),
    ((r"(?<![\w./-])(?P<day>\d{1,2})\.\s?(?P<number>\d{1,2})\.\s?(?P<year>(?:19|20)\d\d)"
      r"(?!\d|[-/.]\d)"), _numeric),
    (r"(?<![\w./-])(?P<year>(?:19|20)\d\d)-(?P<number>\d\d)(?![\d-]|[/.]\d|\s+season)",
     _numeric_month),
    ((rf"(?<![\w.,/-])(?P<day>\d{{1,2}})(?P<ordinal>st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\.?"
     rf"(?!-\w)(?:(?:,\s?|\s+)(?:(?P<year>{_YEAR})|{_SAID_YEAR}))?"), _month),
    ((rf"\b{_MONTH}\.?\s+(?:the\s+)?(?P<day>\d{{1,2}})(?P<ordinal>st|nd|rd|th)?"
     rf"(?:\s?[-–]\s?(?P<until>\d{{1,2}}))?(?![\w:%]|[-–/.]\d|,\d{{3}}(?!\d))"
     rf"(?:(?:,\s?|\s+|\s+of\s+)(?:(?P<year>{_YEAR})|{_SAID_YEAR}))?"), _month),
    ((rf"\b{_MONTH}(?!-\w)(?:\.?(?:,\s?|\s+|\s+of\s+)(?:(?P<year>{_YEAR})|{_SAID_YEAR}))?"
      r"(?P<day>(?!))?"), _month),
    ((rf"(?<![\w.,$/#-])(?P<year>(?:19|20)\d\d)(?:\s?[-–]\s?(?P<until>{_YEAR})|{_YEAR_END})"
     r"(?!\w|[-–]\w)"), _year),
    (rf"\b{_WEEKDAY}\b(?!\.\w)", _weekday),
    (rf"\b{_WEEKDAY},?\s+(?:of\s+)?(?P<which>last|this)\s+week\b(?!-|['’])", _weekday_of_week),
    (rf"\b(?P<which>last|this)\s+week(?:['’]s|,?\s+on)\s+{_WEEKDAY}\b", _weekday_of_week),
    (rf"\b{_SEASON}(?:\s+of)?\s+(?P<year>{_YEAR})(?!\.\d)", _season_of_year),
    # Prices fall last year too.
    (rf"(?:(?<=\bin )|(?<=\bof )|(?<=\bthe )){_SEASON}\s+(?:of\s+)?{_SAID_YEAR}(?P<year>(?!))?",
     _season_of_year),
    (rf"\bq(?P<number>[1-4])[\s,/-]*(?:of\s+)?(?:(?P<year>{_YEAR})|{_SAID_YEAR})", _quarter),
    (r"\b(?:(?:the\s+)?day\s+before\s+yesterday|yesterday|today|tonight|last\s+night)\b",
     _near_day),
    (rf"(?<![\w.,])(?<!\bhalf ){_COUNT}{_UNIT}\s+ago\b", _ago),
    ((rf"\b(?P<word>last|past|previous)\s+(?:{_COUNT})?"
     r"(?P<unit>day|weekend|week|month|quarter|year)(?P<plural>s)?\b(?!\s+of\b|-)"), _last_unit),
    (r"\bthe\s+(?P<unit>week|weekend|month|quarter|year)\s+before\s+last\b", _before_last),
    (rf"\b(?:last|this\s+past|past)\s+(?:{_WEEKDAY}|{_SEASON}|{_MONTH})\b(?!\s+of\b|-|\s*\d)",
     _last_named),
    ((r"\bthis\s+(?P<unit>week|weekend|month|quarter|year|morning|afternoon|evening|spring|summer"
     r"|autumn|fall|winter)\b"), _this),
)  # fmt: skip
