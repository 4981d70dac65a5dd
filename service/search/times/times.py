"""What a question says about time: the stretches it names, and the event it is asked from; pure.

Rules of our own and no library: docs/decisions/0014 says why.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from typing import Final, Literal, cast

from service.search.times import periods
from service.search.times.english_times import number_of, weekday_of
from service.search.times.events import Anchor, find_anchor
from service.search.times.periods import NO_SUCH_TIME, Kind, Period, Unit
from service.search.times.time_words import TimeWords, find_time_words

# A pasted text says what it is about at its beginning, and is not searched further.
_MOST_CHARACTERS: Final = 500
_LONGEST_WORD: Final = 20

Relation = Literal["in", "before", "after"]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time that a question names: from `start` up to, but without, `end`.

    None is an open end: "before June" has no start, "since Monday" no end. `text` are the words
    of the question, `relation` what they say of the time they name.
    """

    start: datetime | None
    end: datetime | None
    text: str
    relation: Relation


@dataclass(frozen=True, slots=True)
class _Lead:
    """The word before a time: where it begins, and which it is; `unit` as in "the week of"."""

    begin: int
    word: str
    unit: str | None = None


_PREPOSITION: Final = (
    r"in|on|during|throughout|since|before|after|until|till|by|prior to|up to|as of|from|between"
)
_LEAD: Final = re.compile(
    rf"(?:\b(?P<word>{_PREPOSITION})\s+)?(?:the\s+)?"
    r"(?P<part>(?:very\s+)?(?:beginning|start|end|middle|rest|morning|afternoon|evening|night"
    r"|(?P<unit>week|month)|(?:first|second|third|fourth|last|\d\w\w)\s+(?:half|part|week|weekend|days?))"
    r"\s+(?:of|in)\s+(?:the\s+)?)?(?:(?P<phase>early|mid|late)[\s-]+|year\s+)?$"
    r"|(?P<eastern>自从|自從|截至|自|从|從|在|于)\s*$",
    re.IGNORECASE,
)  # fmt: skip
_TAIL: Final = re.compile(
    r"\s*(?:(?P<before>이전에?|전에|전까지|之前|以前)|(?P<after>이후에?|후에|후로|之后|以后|之後|以後)"
    r"|(?P<since>부터|이래|以来|以來|(?:开始|開始|起)(?=[\s，,。？]|$))|(?P<until>까지|为止|為止)|에)"
)
_JOIN: Final = re.compile(
    r"\s*(?:(?P<to>to|until|till|through|thru|[-–~〜～到至]|\.\.+|부터|에서)|(?P<between>and|과|와|和|与|與))"
    r"\s*(?:the\s+)?", re.IGNORECASE
)  # fmt: skip
_BETWEEN_TAIL: Final = re.compile(r"\s*(?:사이|之间|之間)(?:에)?")
_ALSO: Final = re.compile(r"\s*(?:,|or|and|,\s*and|,\s*or)\s+(?:the\s+)?", re.IGNORECASE)
_ONWARDS: Final = re.compile(r"\s+(?:on|onwards?|forwards?)\b", re.IGNORECASE)
# A month that is a word or a first name is a time where the phrase ends with it.
_PHRASE_END: Final = re.compile(r"\s*(?:$|[?!.,;:)]|and\b|or\b|to\b|until\b|through\b)")
_SOMEBODY: Final = re.compile(r"\s+(?!I\b)[A-Z]|['’]s\b")
_SURNAME: Final = re.compile(r"\s+(?!I\b)[A-Z]")
_OFFSET: Final = re.compile(
    r"\b(?:(?:the|an?|last|(?P<count>\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten))\s+)"
    r"(?:(?P<unit>day|weekend|week|month|year)s?|(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day))"
    r"\s+$", re.IGNORECASE
)  # fmt: skip
_FIRM: Final = frozenset(("firm", "latest"))
_FLOATING: Final = frozenset(("latest", "month", "name", "weekday"))
_EVER: Final = frozenset(
    ("in", "during", "throughout", "since", "until", "till", "before", "after")
)
_LEADS_OF: Final[Mapping[Kind, frozenset[str]]] = {
    "month": _EVER | {"by", "prior to", "between", "from", "part"},
    "name": _EVER | {"prior to", "between", "part"},
    "year": _EVER | {"prior to", "as of", "between", "part"},
    "weekday": frozenset(
        ("on", "since", "before", "after", "until", "till", "by", "prior to", "between", "在", "从",
         "從", "自", "自从", "自從", "于")
    ),
}  # fmt: skip
_OPENINGS: Final = frozenset(("between", "from", "in", "on", "during", "从", "從"))
_BEFORE: Final = frozenset(("before", "prior to"))
_UNTIL: Final = frozenset(("until", "till", "by", "up to", "as of", "截至"))
_SINCE: Final = frozenset(("since", "自", "自从", "自從"))


def times_named(question: str, now: datetime) -> tuple[Span, ...]:
    """Return the times that a question names, in the order of its words, as seen at `now`.

    In the zone of `now`, UTC where it has none. A month or a day of the week without a year is
    the latest one that is not in the future; parts of a day are ignored. Only the first 500
    characters are read.
    """
    text, today = _beginning(question), now.date()
    found = find_time_words(text, today)
    zone = now.tzinfo or UTC
    spans: list[Span] = []
    previous: tuple[TimeWords, _Lead | None] | None = None
    while found:
        words = found.pop(0)
        span = _range(text, words, found[0], zone) if found else None
        if span:
            del found[0]
            previous = None
        else:
            lead = _lead(text, words) or _same_again(text, words, previous)
            previous = (words, lead) if _is_time(text, words, lead) else None
            span = _single(text, words, lead, zone) if previous else None
        if span:
            # "Last weekend before April 17" is one time, not two.
            is_part = bool(spans) and span.text.startswith(spans[-1].text)
            spans = [*(spans[:-1] if is_part else spans), span]
    return tuple(spans)


def anchor_named(question: str) -> Anchor | None:
    """Return the event that a question is asked from ("before the migration"), to be looked up.

    None for plain times, and for what follows the first 500 characters.
    """
    return find_anchor(_beginning(question))


def _beginning(question: str) -> str:
    if len(question) <= _MOST_CHARACTERS:
        return question
    cut = question[:_MOST_CHARACTERS]
    # Half a date is another date.
    return cut[: cut.rfind(" ", _MOST_CHARACTERS - _LONGEST_WORD) + 1] or cut


def _lead(text: str, words: TimeWords) -> _Lead | None:
    """Return the word before or behind a time that says how it is meant."""
    start = max(0, words.begin - 60)
    match = _LEAD.search(text, start, words.begin)
    if match is None:
        return None
    word = match["word"] or match["eastern"] or ("part" if match["part"] or match["phase"] else "")
    unit = match["unit"] and match["unit"].lower()
    return _Lead(match.start(), word.lower(), unit) if word else None


def _same_again(
    text: str, words: TimeWords, previous: tuple[TimeWords, _Lead | None] | None
) -> _Lead | None:
    """Return the lead of the time before: in March or April."""
    if previous and previous[1] and _ALSO.fullmatch(text, previous[0].end, words.begin):
        return _Lead(words.begin, previous[1].word)
    return None


def _is_time(text: str, words: TimeWords, lead: _Lead | None) -> bool:
    if words.kind in _FIRM:
        return True
    is_led = lead is not None and lead.word in _LEADS_OF[words.kind]
    rest = text[words.end :]
    if words.kind == "weekday":
        if is_led or _TAIL.match(rest):
            return _SURNAME.match(rest) is None
        # "What did I do Friday?", but not "Who made Black Friday?"
        ahead = text[: words.begin].split()[-1:]
        return not rest.strip(" ?.!") and bool(ahead) and ahead[0].islower()
    if words.kind != "name" or lead is None:
        return is_led
    is_plain = lead.word in {"in", "during", "throughout", "part"} and not _SOMEBODY.match(rest)
    return is_led and (is_plain or _PHRASE_END.match(rest) is not None)


def _single(text: str, words: TimeWords, lead: _Lead | None, zone: tzinfo) -> Span | None:
    begin, end = (lead.begin if lead else words.begin), words.end
    word = lead.word if lead else ""
    tail = _TAIL.match(text, end)
    if tail:
        end, word = tail.end(), tail.lastgroup or word
    elif word == "from":
        onwards = _ONWARDS.match(text, end)
        end, word = (onwards.end(), "since") if onwards else (end, "in")
    offset = _offset(text, words, begin) if word in {"before", "after"} and not tail else None
    if offset:
        return _span(offset[1], "in", text[offset[0] : end], zone)
    period = words.period
    if lead and lead.unit:
        try:
            period = periods.period_around(period[0], cast("Unit", lead.unit))
        except NO_SUCH_TIME:
            return None
    return _span(*_meant(word, period), text[begin:end].strip(), zone)


def _meant(word: str, period: Period) -> tuple[tuple[date | None, date | None], Relation]:
    """Return the days that a word before a time makes of it."""
    first, last = period
    if word in _BEFORE | _UNTIL:
        return (None, first if word in _BEFORE else last), "before"
    if word in _SINCE | {"after"}:
        return (last if word == "after" else first, None), "after"
    return (first, last), "in"


def _offset(text: str, words: TimeWords, begin: int) -> tuple[int, Period] | None:
    """Read "the week before" or "two days after" a time: where it begins, and which days it is."""
    match = _OFFSET.search(text, max(0, begin - 40), begin)
    if match is None:
        return None
    is_before = text[begin : begin + 6].lower() == "before"
    try:
        return match.start(), _away(match, words.period, is_before=is_before)
    except NO_SUCH_TIME:
        return None


def _away(match: re.Match[str], period: Period, *, is_before: bool) -> Period:
    first, last = period
    if match["weekday"]:
        weekday = weekday_of(match["weekday"])
        day = first - periods.DAY if is_before else last + 6 * periods.DAY
        return periods.latest_weekday(day, weekday)
    unit = cast("Unit", match["unit"].lower())
    count = number_of(match["count"] or "a")
    if count == 1 and unit != "weekend":
        edge = periods.shifted(first if is_before else last, unit, -1 if is_before else 1)
        return (edge, first) if is_before else (last, edge)
    if is_before:
        return periods.before(first, unit, count)
    day = last - periods.DAY
    return periods.period_around(periods.shifted(day, unit, count), unit)


def _range(text: str, first: TimeWords, last: TimeWords, zone: tzinfo) -> Span | None:
    """Read "from … to …", "between … and …", or None where two times are not one stretch."""
    join = _JOIN.fullmatch(text, first.end, last.begin)
    if join is None:
        return None
    lead, end = _lead(text, first), last.end
    closed = _BETWEEN_TAIL.match(text, end)
    if join["between"] and not (closed or (lead and lead.word == "between")):
        return None
    is_sure = lead is not None and lead.word in _OPENINGS
    if not (is_sure or closed or ({first.kind, last.kind} <= _FIRM)):
        return None
    tail = closed or _TAIL.match(text, end)
    end = tail.end() if tail else end
    begin = lead.begin if lead else first.begin
    try:
        period = _from_to(first, last)
    except NO_SUCH_TIME:
        return None
    return _span(period, "in", text[begin:end].strip(), zone) if period else None


def _from_to(first: TimeWords, last: TimeWords) -> Period | None:
    """Return the stretch; what has no year is the one nearest to the other end."""
    start, end = first.period, last.period
    if last.kind in _FLOATING and first.kind not in _FLOATING:
        end = last.read(periods.shifted(start[0], "year", 1) - periods.DAY)
    elif end[0] < start[0] and first.kind in _FLOATING:
        start = first.read(end[0])
    return (start[0], end[1]) if start[0] < end[1] else None


def _span(
    days: tuple[date | None, date | None], relation: Relation, text: str, zone: tzinfo
) -> Span:
    start, end = (datetime.combine(day, time(), zone) if day else None for day in days)
    return Span(start, end, text, relation)
