"""What the index knows of one memory, read from the store's rows; a row that makes no sense raises.

Times are whole microseconds since 1970, UTC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from service.index.resident.packing import pack
from service.metadata import DEFAULTS, LABEL_FILTERS
from service.moments import micros_of
from service.text.titles import text_of
from service.text.words import memory_words

# What of a row words are made of, in the order of `words_of`.
SEARCHED: Final = ("heading_path", "title", "content", "tags", "search_headings")

# How many said that a memory helped, and how many that it did not.
Votes = tuple[int, int]


class CorruptRow(Exception):
    """A row of the store lacks what every memory has."""


@dataclass(frozen=True, slots=True)
class Facts:
    """One memory as far as words and filters go; `valid_from` and `valid_until` None are open.

    `labels` are the exact values that it is filtered by, in the order of LABEL_FILTERS; `votes`
    is None where nobody gave one, `packed` the whole memory, for an index that holds them.
    """

    key: str
    words: str
    tags: tuple[str, ...]
    labels: tuple[str | None, ...]
    occurred_at: int
    valid_from: int | None
    valid_until: int | None
    is_archived: bool
    subject: str | None = None
    consolidated_into: str | None = None
    votes: Votes | None = None
    packed: bytes | None = None


def facts_of_row(key: object, row: Mapping[str, Any], *, packs: bool = False) -> Facts:
    """Read a whole row of table `memory`, as the change feed carries it; raises CorruptRow."""
    labels = [row.get(name) for name in LABEL_FILTERS]
    return facts_of(
        [
            key,
            row.get("words") or [row.get(name) for name in SEARCHED],
            row.get("tags"),
            labels,
            *(moment_of_row(row, name) for name in ("occurred_at", "valid_from", "valid_until")),
            row.get("archived_at") is not None,
            row.get("subject"),
            row.get("consolidated_into"),
            [row.get("helpful") or 0, row.get("unhelpful") or 0],
        ],
        row if packs else None,
    )


def moment_of_row(row: Mapping[str, Any], name: str) -> Any:
    """Return a moment of a whole row in microseconds; what is none stays as it is."""
    moment = row.get(name)
    return micros_of(moment) if isinstance(moment, datetime) else moment


def _read_moment(value: Any) -> Any:
    """Return a moment in microseconds; what is none stays as it is."""
    if not isinstance(value, str):
        return value
    if value.startswith("+"):  # a year past 9999
        return micros_of(datetime.max.replace(tzinfo=UTC))
    try:
        return micros_of(datetime.fromisoformat(value))
    except (ValueError, TypeError):
        return value


def words_of(parts: Sequence[Any]) -> str | None:
    """Return the words of what SEARCHED names of a memory; None if it lacks one.

    The last is there for few.
    """
    match parts:
        case [list() as headings, str() as title, str() as content, list() as tags, told]:
            besides = [] if told is None else told
            if isinstance(besides, list) and all(
                isinstance(text, str) for text in (*headings, *tags, *besides)
            ):
                return memory_words(text_of(headings, title, content, besides), tags)
    return None


def facts_of(values: Sequence[Any], row: Mapping[str, Any] | None = None) -> Facts:
    """Read the values of a page in the order of the fields; raises CorruptRow.

    Moments are microseconds, or texts in ISO 8601; words may be what `words_of` makes them of.
    `row` is given where it is to be packed.
    """
    key, told, tags, labels, *times, archived, subject, summary, votes = values
    occurred, since, until = map(_read_moment, times)
    words: Any = words_of(told) if isinstance(told, list) else told
    is_whole = (
        isinstance(key, str)
        and isinstance(words, str)
        and isinstance(tags, list)
        and all(isinstance(tag, str) for tag in tags)
        and all(map(_is_label, labels, _ALWAYS_THERE))
        and all(label is None or isinstance(label, str) for label in (subject, summary))
        and type(occurred) is int
        and all(time is None or type(time) is int for time in (since, until))
        and all(type(count) is int for count in votes or ())
    )
    if not is_whole:
        raise CorruptRow(f"memory {key!r}")
    packed = pack({**row, "consolidated_into": summary}) if row else None
    return Facts(
        key, words, tuple(tags), tuple(labels), occurred, since, until, archived, subject, summary,
        (votes[0], votes[1]) if votes and any(votes) else None, packed,
    )  # fmt: skip


# Every memory has a kind and a type, and what has a default other than none.
_ALWAYS_THERE: Final = tuple(DEFAULTS.get(name, "") is not None for name in LABEL_FILTERS)


def _is_label(value: object, is_always_there: bool) -> bool:
    return isinstance(value, str) or (value is None and not is_always_there)
