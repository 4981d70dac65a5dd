"""What the block at the very top of a note says about it: YAML between ---, TOML between +++."""

import datetime as dt
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from service.kinds import KINDS
from service.text.clean import clean_text
from service.text.fences import outside_fences
from service.text.written_dates import written_date
from service.text.yaml_blocks import UnreadableError, check_size, read_yaml, with_masks

_MAX_NAMES = 100
_MAX_NAME_CHARACTERS = 200
_ABSENT = frozenset({"", "~", "null"})
# What a word processor made of "quotes" is none in YAML.
_CURLY = re.compile(r"^[“„‘‚]([^“”„‘’‚]*)[“”‘’]$")
_DATE_KEYS = ("occurred_at", "date", "created", "created_at")
# Where there is one, many write it so.
_SINGULAR = {"tags": "tag", "aliases": "alias"}
_FIELDS = frozenset(
    {"title", "tags", "kind", "scope", "status", "concepts", "aliases"}
    | {*_SINGULAR.values(), *_DATE_KEYS}
)
_DATE = re.compile(
    r"([0-9]{4})([-/.]?)([0-9]{1,2})\2([0-9]{1,2})"
    # No span of hours: 2026-02-13 16:00-17:00.
    r"(?:(?:\s+(?![0-9]{1,2}:[0-9]{2}-[0-9]{2}:)|[Tt])"
    r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?"
    r"\s*(Z|z|UTC|[+-][0-9]{2}:?[0-9]{2})?)?"
)
# `Date: 2024-05-28` below the title, as records of decisions have it; `* **Date**: 2024/5/28`.
_DATE_LINE = re.compile(
    r"[\s*_>-]{0,9}date[*_]{0,3}:[*_\s]{0,9}([^*_]{6,40}?)[*_\s]{0,9}", re.IGNORECASE
)
_DATE_LINE_WITHIN = 12
_HEADING = re.compile(r"#{1,6}\s")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of a front matter that the service knows; the others are left alone."""

    title: str = ""
    tags: tuple[str, ...] = ()
    date: dt.datetime | dt.date | None = None
    kind: str | None = None
    scope: str | None = None
    status: str = ""
    concepts: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preface:
    """The front matter of a text and the lines it takes: [0, line_count) are not body.

    `fence` is the closing line of a front matter that could not be read: body, but no underline
    that would make a heading of what stands above it.
    """

    front_matter: FrontMatter = FrontMatter()
    line_count: int = 0
    fence: int | None = None
    warnings: tuple[str, ...] = ()


def read_front_matter(lines: Sequence[str]) -> Preface:
    """Read the front matter, if the first line opens one and a later line closes it.

    What cannot be read, is no mapping, is above 20,000 characters, nests deeper than 8, uses
    YAML aliases or has a field twice stays text and gives a warning; of YAML the fields that can be
    read by themselves are read all the same. So does one that begins with such a field and has no
    end.
    """
    opening = lines[0].rstrip() if lines else ""
    if opening not in _READERS:
        return Preface()
    closings = {"---", "..."} if opening == "---" else {"+++"}
    closing = next((i for i in range(1, len(lines)) if lines[i].rstrip() in closings), None)
    if closing is None:
        return Preface(warnings=_warn_of_no_end(lines))
    block = "\n".join(lines[1:closing])
    try:
        values = _READERS[opening](block)
    except UnreadableError as error:
        front_matter, warnings = _read_fields(error.values)
        told = f"{error}; read of it: {', '.join(error.values)}" if error.values else str(error)
        warnings = (f"front matter kept as text: {told}", *warnings)
        return Preface(front_matter, fence=closing, warnings=warnings)
    if not isinstance(values, dict):
        # Most likely a text between two thematic breaks, so nothing about it is hidden.
        return Preface(warnings=("front matter kept as text: it is not a mapping",))
    front_matter, warnings = _read_fields({str(key).casefold(): values[key] for key in values})
    return Preface(front_matter, closing + 1, warnings=warnings)


def _warn_of_no_end(lines: Sequence[str]) -> tuple[str, ...]:
    """Say that a front matter never ends, where the first line is surely meant as one."""
    name, colon, _ = lines[1].partition(":") if len(lines) > 1 else ("", "", "")
    if not colon or name.casefold() not in _FIELDS:
        return ()
    return ("front matter kept as text: no line --- ends it",)


def read_date_line(lines: Sequence[str]) -> dt.datetime | dt.date | None:
    """Return the date that a line near the beginning tells: the first twelve are looked at.

    Code tells none, nor does what stands below a second heading: it is the date of one section.
    """
    shown = outside_fences("\n".join(lines[:_DATE_LINE_WITHIN])).split("\n")
    headings = [at for at, line in enumerate(shown) if _HEADING.match(line)]
    end = headings[1] if len(headings) > 1 else None
    found = (_DATE_LINE.fullmatch(line[:80]) for line in shown[:end])
    days = (_parse_date(match[1].strip()) for match in found if match)
    return next((day for day in days if day and _is_plausible(day)), None)


def _read_toml(block: str) -> object:
    check_size(block)
    try:
        return tomllib.loads(block)
    except (ValueError, RecursionError) as error:
        detail = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "broken TOML"
        raise UnreadableError(detail) from error


_READERS: dict[str, Callable[[str], object]] = {
    "---": partial(read_yaml, fields=_FIELDS), "+++": _read_toml,
}  # fmt: skip


def _read_fields(values: dict[str, object]) -> tuple[FrontMatter, tuple[str, ...]]:
    warnings: list[str] = []
    taxonomies = values.get("taxonomies")
    # Zola takes the tags of a page there alone.
    tagged = taxonomies | values if isinstance(taxonomies, dict) else values
    front_matter = FrontMatter(
        title=_read_text(values.get("title")),
        tags=_read_names(tagged, "tags", warnings),
        date=_read_date(values, warnings),
        kind=_read_kind(values, warnings),
        scope=_read_text(values.get("scope")) or None,
        status=_read_text(values.get("status")),
        concepts=_read_names(values, "concepts", warnings),
        aliases=_read_names(values, "aliases", warnings),
    )
    return front_matter, tuple(warnings)


def _read_text(value: object) -> str:
    """Give a scalar as one line; an escape may have put into it what no text may hold."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = " ".join(clean_text(with_masks(str(value))).text.split())
    text = _CURLY.sub(r"\1", text)
    return "" if text in _ABSENT else text[:_MAX_NAME_CHARACTERS]


def _read_kind(values: dict[str, object], warnings: list[str]) -> str | None:
    kind = _read_text(values.get("kind")).casefold()
    if kind and kind not in KINDS:
        warnings.append(f"front matter: kind {kind!r:.60} is not one of {', '.join(KINDS)}")
    return kind if kind in KINDS else None


def _read_names(values: dict[str, object], key: str, warnings: list[str]) -> tuple[str, ...]:
    """Give a list of names, or a string of them parted by commas (tags: else by spaces)."""
    value = values.get(key, values.get(_SINGULAR.get(key, key)))
    items: list[object] = []
    if isinstance(value, list):
        items.extend(value)
    elif isinstance(value, str):
        # With `[@a, b]`, which is no YAML, the brackets come along.
        value = value[1:-1] if value.startswith("[") and value.endswith("]") else value
        items.extend(value.split(",") if "," in value or key != "tags" else value.split())
    stripped = (_read_text(item).lstrip("#" if key == "tags" else "").strip() for item in items)
    names = tuple(dict.fromkeys(name for name in stripped if name))
    if len(names) > _MAX_NAMES:
        warnings.append(f"front matter: {len(names)} {key}, the first {_MAX_NAMES} are kept")
    return names[:_MAX_NAMES]


def _read_date(values: dict[str, object], warnings: list[str]) -> dt.datetime | dt.date | None:
    for key in _DATE_KEYS:
        value = values.get(key)
        day = value if isinstance(value, dt.date) else _parse_date(_read_text(value))
        if day is not None and _is_plausible(day):
            return day
        if day is not None or _read_text(value):
            warnings.append(f"front matter: {key} {_read_text(value)!r:.60} is not understood")
    return None


def _is_plausible(day: dt.date) -> bool:
    return 1900 <= day.year < 2200


def _parse_date(text: str) -> dt.datetime | dt.date | None:
    """Read ISO 8601 and its relatives: 2026-02-13, 2026/2/13 9:05, 20260213, … 14:30 +09:00.

    Of what people write else it reads the day: February 13, 2026; 2026-02-13 (Fri); [[2026-02-13]].
    """
    match = _DATE.fullmatch(text)
    if not match or (not match[2] and len(match[3] + match[4]) < 4):
        written = written_date(text, is_all=True)
        return written.date() if written else None
    try:
        day = dt.date(int(match[1]), int(match[3]), int(match[4]))
        if match[5] is None:
            return day
        hour, minute, second = int(match[5]), int(match[6]), int(match[7] or 0)
        zone = _parse_zone(match[8])
        return dt.datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=zone)
    except ValueError:
        return None


def _parse_zone(text: str | None) -> dt.timezone | None:
    if text is None:
        return None
    if text in {"Z", "z", "UTC"}:
        return dt.UTC
    sign = -1 if text[0] == "-" else 1
    return dt.timezone(sign * dt.timedelta(hours=int(text[1:3]), minutes=int(text[-2:])))
