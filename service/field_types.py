"""Types of values as requests give them: their bounds, and what a refusal says; pure."""

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

_NUMBER: Final = re.compile(r"\s*+[+-]?[\d.]+\s*")

Kind = Literal[
    "daily_log", "note", "decision", "preference", "fact", "entity", "handoff", "observation",
    "summary",
]  # fmt: skip
Type = Literal["episodic", "semantic", "procedural"]
TrustTier = Literal["trusted", "untrusted", "quarantined"]

# A title that is longer than a stored one may be is cut; a longer one than this is no title.
MOST_SENT_TITLE_CHARACTERS: Final = 10_000

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _encodable(text: str) -> str:
    """Refuse what cannot be stored: lone surrogates and NUL."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        msg = f"holds a lone surrogate at position {error.start}; send valid Unicode"
        raise ValueError(msg) from error
    if "\x00" in text:
        msg = "holds a NUL character; leave it out"
        raise ValueError(msg)
    return text


def _telling(text: str) -> str:
    if not text.strip():
        msg = "is empty; send at least one word"
        raise ValueError(msg)
    return text


def _written(value: object) -> object:
    """Refuse numbers: `since=2026` would be read as seconds since 1970, and widen the answer."""
    if not isinstance(value, str | datetime) or _NUMBER.fullmatch(str(value)):
        msg = "is not a date; write 2026-02-13 or 2026-02-13T10:00:00Z"
        raise ValueError(msg)
    return value


def _in_utc(moment: datetime) -> datetime:
    """Return the moment in UTC; one without a zone is read as UTC."""
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return zoned.astimezone(UTC)
    except OverflowError as error:
        msg = "lies outside of the years 1 to 9999"
        raise ValueError(msg) from error


def _end_of_day(value: object) -> object:
    """Read a bare date as its last moment, so that `until` a day includes that day."""
    if isinstance(value, str) and _DAY.fullmatch(value.strip()):
        with suppress(ValueError):
            return datetime.combine(date.fromisoformat(value.strip()), time.max, UTC)
    return value


Text = Annotated[str, AfterValidator(_encodable)]
Moment = Annotated[datetime, BeforeValidator(_written), AfterValidator(_in_utc)]
EndMoment = Annotated[
    datetime, BeforeValidator(_end_of_day), BeforeValidator(_written), AfterValidator(_in_utc)
]
AgentName = Annotated[
    str, StringConstraints(pattern=r"^[\w.:@/-]{1,100}$"), AfterValidator(_encodable)
]
Label = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_encodable)]
Title = Annotated[
    str, StringConstraints(max_length=MOST_SENT_TITLE_CHARACTERS), AfterValidator(_encodable),
    Field(description="One line that names it. One longer than 200 characters is cut at a word, "
          "and the whole of it put in front of the text; up to 10,000 characters.",
          examples=["Which embedding model we chose, and why"]),
]  # fmt: skip
Reference = Annotated[
    str, StringConstraints(min_length=1, max_length=500), AfterValidator(_encodable)
]
Question = Annotated[
    str, StringConstraints(max_length=10_000), AfterValidator(_encodable), AfterValidator(_telling),
    Field(description="The question, in plain words; up to 10,000 characters.",
          examples=["what happened with the RTX 5070 Ti VRAM issue?"]),
]  # fmt: skip
MemoryText = Annotated[
    str, StringConstraints(max_length=200_000), AfterValidator(_encodable),
    AfterValidator(_telling),
    Field(description="What to remember; markdown is welcome. Up to 200,000 characters.",
          examples=["JR's code phrase is blue bunny."]),
]  # fmt: skip
Tags = Annotated[list[Label], Field(max_length=100)]
Share = Annotated[float, Field(ge=0, le=1)]
