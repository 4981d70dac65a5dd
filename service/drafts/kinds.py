"""What the path of a document says about its content: kind, type and date."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from service.kinds import KINDS
from service.names.names import names_something
from service.names.slugs import tokens_of
from service.text.written_dates import written_date

SUFFIXES: Final = frozenset({".md", ".markdown", ".mdx", ".txt"})
# Programs ask for files of these names, of which there may be one in each folder.
_PRESCRIBED_NAMES: Final = frozenset(
    {"AGENTS", "BOOTSTRAP", "CLAUDE", "CONTRIBUTING", "GEMINI", "HEARTBEAT", "IDENTITY", "LICENSE"}
    | {"SECURITY", "SKILL", "SOUL", "TOOLS", "USER"}
)
_EPISODIC: Final = frozenset({"daily_log", "handoff", "observation"})

# Folders stand before dated names, so that a dated file in decisions/ is a decision. MEMORY.md is
# where agents keep what they chose to keep for good: facts.
DEFAULT_PLACES: Final = (
    ("memory/YYYY-MM-DD*", "daily_log"),
    # What stands at the top of such a folder tells of the folder.
    ("decisions/readme.md", "note"),
    ("decisions/index.md", "note"),
    ("decisions/*template.md", "note"),
    ("adr/readme.md", "note"),
    ("adr/index.md", "note"),
    ("adr/*template.md", "note"),
    ("decisions/**", "decision"),
    ("adr/**", "decision"),
    ("people/**", "entity"),
    ("entities/**", "entity"),
    ("handoffs/**", "handoff"),
    ("observations/**", "observation"),
    ("summaries/**", "summary"),
    ("facts/**", "fact"),
    ("YYYY-MM-DD*", "daily_log"),
    ("decisions.md", "decision"),
    ("preferences.md", "preference"),
    ("developer-preferences.md", "preference"),
    ("user-preferences.md", "preference"),
    ("user.md", "preference"),
    ("handoff*.md", "handoff"),
    ("observations*.md", "observation"),
    ("facts.md", "fact"),
    ("memory.md", "fact"),
    ("summary*.md", "summary"),
)
PROCEDURAL_PLACES: Final = ("runbooks/**", "playbooks/**", "howto/**", "how-to/**", "skills/**")

_GLOB_PART: Final = re.compile(r"\*\*/?|\*|\?|YYYY-MM-DD|YYYYMMDD")
_GLOB_MEANINGS: Final = {
    "**/": "(?:.*/)?",
    "**": ".*",
    "*": "[^/]*",
    "?": "[^/]",
    "YYYY-MM-DD": "[0-9]{4}(?:-[0-9]{2}-|_[0-9]{2}_)[0-9]{2}",
    "YYYYMMDD": "[0-9]{8}",
}

# 1900 to 2099: an eight-digit number that is no date seldom begins so and has a valid month.
# A second date behind the first is the end of a span, not a time.
_DATED_NAME: Final = re.compile(
    r"((?:19|20)[0-9]{2})([-_]?)([0-9]{2})\2([0-9]{2})"
    r"(?:[-_ T]?(?![0-9]{4}([-_])[0-9]{2}\5[0-9]{2})"
    r"([0-9]{2})[-:.]?([0-9]{2})(?:[-:.]?([0-9]{2}))?(?![0-9])|(?![0-9]))"
)
# The same at the end of a name, apart from what is before it: a day only.
_DATED_END: Final = re.compile(
    r"(?<![0-9A-Za-z])((?:19|20)[0-9]{2})([-_]?)([0-9]{2})\2([0-9]{2})\Z"
)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """When something happened; `is_dated` is false when nothing in text or name said so."""

    moment: datetime
    is_dated: bool


def kind_of(source: str, table: Sequence[tuple[str, str]] = DEFAULT_PLACES) -> str:
    """Return the kind of the first pattern that a relative path with `/` matches, else `note`.

    A pattern may begin at any folder of the path and ends at its end; case does not matter. `*`
    and `?` stay inside a name, `**` does not; YYYY-MM-DD (also with `_`) and YYYYMMDD stand for
    digits.
    """
    return next((kind for pattern, kind in table if _matches(pattern, source)), "note")


def is_place_of_one_file(source: str, table: Sequence[tuple[str, str]] = DEFAULT_PLACES) -> bool:
    """Say whether the pattern that gives a path its kind names one file, none of many: no `*`."""
    return next(("*" not in pattern for pattern, _ in table if _matches(pattern, source)), False)


def type_of(kind: str, source: str = "") -> str:
    """Return `procedural` for a place of instructions, else what the kind is by nature.

    Raises ValueError for a kind that is not one of KINDS.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}")
    if any(_matches(pattern, source) for pattern in PROCEDURAL_PLACES):
        return "procedural"
    return "episodic" if kind in _EPISODIC else "semantic"


def date_of(source: str, zone: tzinfo = UTC) -> datetime | None:
    """Return the date a name or heading begins with, and its time of day if one follows.

    2026-02-13.md, 2026-02-13-1530.md, 2026-02-13-153045.md, 2026-02-13T15-30.md,
    2026-02-13-some-words.md, 2026_02_13.md (as Logseq names its journals), 20260213.md,
    20260213153045.md. An impossible date gives None, an impossible time midnight.
    """
    match = _DATED_NAME.match(PurePosixPath(source).name)
    if not match:
        return None
    try:
        day = date(int(match[1]), int(match[3]), int(match[4]))
    except ValueError:
        return None
    try:
        clock = time(int(match[6] or 0), int(match[7] or 0), int(match[8] or 0))
    except ValueError:
        clock = time()
    return datetime.combine(day, clock, zone)


def date_of_file(source: str, zone: tzinfo = UTC) -> datetime | None:
    """Return the date a file name begins with, else the day it ends with: review-2026-02-13.md.

    People's own forms come last: `Feb 12, 2026.md`, `2026.02.12.md`, `2026年2月12日.md`.
    A heading that ends with one says until when, or by when.
    """
    match = _DATED_END.search(PurePosixPath(source).stem)
    try:
        day = datetime(int(match[1]), int(match[3]), int(match[4]), tzinfo=zone) if match else None
    except ValueError:
        day = None
    written = written_date(PurePosixPath(source).stem)
    return date_of(source, zone) or day or (written.replace(tzinfo=zone) if written else None)


def name_of(source: str) -> str:
    """Return a file's name without its suffix: `Cargo Basics`; empty if it tells nothing alone.

    So do README.md, SKILL.md and 2026-02-13.md, and a source that has none of the suffixes.
    """
    path = PurePosixPath(source)
    if path.suffix.casefold() not in SUFFIXES or path.stem in _PRESCRIBED_NAMES:
        return ""
    return path.stem if names_something(tokens_of(path.stem)) else ""


def linked_name(link: str) -> str:
    """Return what a link names: Anna in `people/Anna`, for that is a folder of things with names.

    Of others only the folder could tell: `TCP/IP` is a name.
    """
    name = PurePosixPath(link).name
    is_path = kind_of(link) == "entity" and names_something(tokens_of(name))
    return name if is_path else link


def occurred_at(
    document_date: datetime | date | None,
    source: str,
    clock: time | None,
    fallback: datetime | None = None,
    zone: tzinfo = UTC,
) -> Occurrence:
    """Tell when a section happened: date of the document, else of its name, else the fallback.

    The section's clock replaces the time of day, but not that of a fallback. Without any of them
    it happened now. A time without a zone is in `zone`; a date alone is its midnight.
    """
    dated = _complete(document_date, zone) if document_date else date_of_file(source, zone)
    if dated is None:
        moment = _complete(fallback, zone) if fallback else datetime.now(zone)
        return Occurrence(moment, is_dated=False)
    if clock is not None:
        dated = datetime.combine(dated.date(), clock, dated.tzinfo)
    return Occurrence(dated, is_dated=True)


def _complete(moment: datetime | date, zone: tzinfo) -> datetime:
    if not isinstance(moment, datetime):
        return datetime.combine(moment, time(), zone)
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _matches(pattern: str, source: str) -> bool:
    return _compile(pattern).fullmatch(source) is not None


@lru_cache(maxsize=256)
def _compile(pattern: str) -> re.Pattern[str]:
    parts = ["(?:.*/)?"]
    position = 0
    for match in _GLOB_PART.finditer(pattern):
        parts += [re.escape(pattern[position : match.start()]), _GLOB_MEANINGS[match[0]]]
        position = match.end()
    parts.append(re.escape(pattern[position:]))
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)
