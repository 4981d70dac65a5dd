"""Types of values as requests give them: their bounds, and what a refusal says; pure."""

import json
import re
from contextlib import suppress
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    Strict,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic.fields import FieldInfo

from service.access.bearer import check_sendable
from service.access.caller import caller

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
_WHOLE_NUMBER: Final = re.compile(r"-?\d++", re.ASCII)
_JSON_NUMBER: Final = re.compile(r"-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?", re.ASCII)
# A host as requests name it, with a port or without.
_HOST: Final = re.compile(r"(?:\[[0-9a-f:.]++\]|[\w.-]++)(?::\d{1,5})?+", re.ASCII | re.IGNORECASE)
# An origin as browsers send it, and the slash that people copy with it.
_ORIGIN: Final = re.compile(r"(?i:null|[a-z][a-z0-9+.-]*+://[^/*?#\s]++)/*+", re.ASCII)
# What str.strip() takes away, one by one: `\s` is another set in each dialect of expressions.
_BLANK: Final = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def pattern_of(expression: str) -> FieldInfo:
    """Tell the description what a validator refuses, whose own words help more than a pattern."""
    told: FieldInfo = Field(json_schema_extra={"pattern": expression})
    return told


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


def _sendable(key: SecretStr) -> SecretStr:
    check_sendable(key.get_secret_value())
    return key


def _hosts(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what no request names as its host: it would let nobody in and tell nobody why."""
    for name in names:
        if not _HOST.fullmatch(name):
            msg = f"{name!r} is no name of a host; write each in full, in ASCII: memory.example"
            raise ValueError(msg)
    return names


def _origins(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what no browser sends as an origin: it would let nobody in and tell nobody why."""
    for name in names:
        if not _ORIGIN.fullmatch(name):
            msg = f"{name!r} is no origin of a page; write each as https://app.example, in full"
            raise ValueError(msg)
    return names


def without_blanks(values: dict[str, Any]) -> dict[str, Any]:
    """Return settings without those of blanks alone, as empty ones are; a key is never left out."""
    return {
        name: value
        for name, value in values.items()
        if not isinstance(value, str) or value.strip() or name.endswith(("key", "password"))
    }


def at_home(path: Path) -> Path:
    """Put one's home in the place of ~; raises ValueError for that of nobody."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        msg = f"whose home ~ is cannot be told in {str(path)!r}; write the path in full"
        raise ValueError(msg) from error


def _from_json(value: object) -> object:
    """Read a setting that is a mapping; a line of a variable or a file is all it has."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError) as error:
        msg = 'must be JSON that gives each name one value: {"NAME": "VALUE"}'
        raise ValueError(msg) from error


def _telling(text: str) -> str:
    if not text.strip():
        msg = "is empty; send at least one word"
        raise ValueError(msg)
    return text


def _flag(value: object) -> object:
    """Of texts take `true` and `false` alone, as queries have them; strict bodies take neither."""
    if isinstance(value, str) and value not in {"true", "false"}:
        msg = "is not a boolean; write true or false"
        raise ValueError(msg)
    return value


def _number(value: object) -> object:
    """Of texts take numbers as JSON writes them, as queries have them; strict bodies take none."""
    if isinstance(value, str) and not _JSON_NUMBER.fullmatch(value):
        msg = "is not a number; write it as 0.5"
        raise ValueError(msg)
    return value


def _whole_number(value: object) -> object:
    """Take 5.0 for 5, as JSON Schema does; of texts those that queries have."""
    if isinstance(value, str) and not _WHOLE_NUMBER.fullmatch(value):
        msg = "is not a whole number; write it as 5"
        raise ValueError(msg)
    return int(value) if isinstance(value, float) and value.is_integer() else value


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


def _not_before(until: datetime, told: ValidationInfo) -> datetime:
    """Refuse a span that ends before it begins: whatever is asked for, nothing is found in it."""
    since = told.data.get("since")
    if since is not None and since > until:
        msg = "lies before `since`, so that nothing is found; send a later end or an earlier since"
        raise ValueError(msg)
    return until


def _each_once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


Flag = Annotated[bool, BeforeValidator(_flag)]
# Beside the bounds of a number, and behind them.
WHOLE: Final = BeforeValidator(_whole_number)
NUMBER: Final = BeforeValidator(_number)
Share = Annotated[float, Field(ge=0, le=1), NUMBER]

_DATES: Final = [{"type": "string", "format": form} for form in ("date-time", "date")]
# JSON has no dates: a strict body holds them as text too.
_Dated = Annotated[datetime, Strict(strict=False), WithJsonSchema({"anyOf": _DATES})]
Moment = Annotated[_Dated, BeforeValidator(_written), AfterValidator(_in_utc)]
EndMoment = Annotated[
    _Dated, BeforeValidator(_end_of_day), BeforeValidator(_written), AfterValidator(_in_utc)
]
# The end of what is asked for; its beginning is the field `since`, which stands before it.
Until = Annotated[EndMoment, AfterValidator(_not_before)]

_STORABLE: Final = (AfterValidator(_encodable), pattern_of(r"^[^\x00]*$"))
_TELLING: Final = (
    AfterValidator(_encodable), AfterValidator(_telling),
    pattern_of(rf"^[^\x00]*[^\x00{_BLANK}][^\x00]*$"),
)  # fmt: skip
Text = Annotated[str, *_STORABLE]
HostNames = Annotated[tuple[str, ...], AfterValidator(_hosts)]
OriginNames = Annotated[tuple[str, ...], AfterValidator(_origins)]
# A path of a setting; ~ is one's home, which no shell has put in its place in a file.
HomePath = Annotated[Path, AfterValidator(at_home)]
# Before a type of a mapping: what a setting says in JSON.
FROM_JSON: Final = BeforeValidator(_from_json)
# A key that is sent as a bearer's.
SentKey = Annotated[SecretStr, AfterValidator(_sendable)]
AgentName = Annotated[str, StringConstraints(pattern=r"^[\w.:@/-]{1,100}$")]
# The agent that a request acts for: one that its caller may use, by default the caller's own.
OwnAgent = Annotated[AgentName, AfterValidator(lambda agent: caller().check_agent(agent))]
Label = Annotated[str, StringConstraints(min_length=1, max_length=200), *_STORABLE]
Title = Annotated[
    str, StringConstraints(max_length=MOST_SENT_TITLE_CHARACTERS), *_STORABLE,
    Field(description="One line that names it. One longer than 200 characters is cut at a word, "
          "and the whole of it put in front of the text; up to 10,000 characters.",
          examples=["Which embedding model we chose, and why"]),
]  # fmt: skip
Reference = Annotated[str, StringConstraints(min_length=1, max_length=500), *_STORABLE]
# One line that says something.
Said = Annotated[str, StringConstraints(max_length=500), *_TELLING]
Question = Annotated[
    str, StringConstraints(max_length=10_000), *_TELLING,
    Field(description="The question, in plain words; up to 10,000 characters.",
          examples=["what happened with the RTX 5070 Ti VRAM issue?"]),
]  # fmt: skip
MemoryText = Annotated[
    str, StringConstraints(max_length=200_000), *_TELLING,
    Field(description="What to remember; markdown is welcome. Up to 200,000 characters.",
          examples=["JR's code phrase is blue bunny."]),
]  # fmt: skip
# Each once: said again it says nothing.
Tags = Annotated[list[Label], Field(max_length=100), AfterValidator(_each_once)]
