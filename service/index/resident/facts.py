"""What the index knows of one memory, read from the store's rows; a row that makes no sense raises.

Times are whole microseconds since 1970, UTC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from service.index.resident.packing import pack
from service.metadata import DEFAULTS, LABEL_FILTERS

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class CorruptRow(Exception):
    """A row of the store lacks what every memory has."""


@dataclass(frozen=True, slots=True)
class Facts:
    """One memory as far as words and filters go; `valid_from` and `valid_until` None are open.

    `labels` are the exact values that it is filtered by, in the order of LABEL_FILTERS; `packed`
    is the whole memory, for an index that holds them.
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
    packed: bytes | None = None


def microseconds(moment: datetime) -> int:
    """Return a moment as microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(microseconds: int) -> datetime:
    """Return the moment so many microseconds after 1970, UTC."""
    return _EPOCH + microseconds * _MICROSECOND


def facts_of_row(key: object, row: Mapping[str, Any], *, packs: bool = False) -> Facts:
    """Read a whole row of table `memory`, as the change feed carries it; raises CorruptRow."""
    times = [row.get(name) for name in ("occurred_at", "valid_from", "valid_until")]
    occurred_at, valid_from, valid_until = (
        microseconds(time) if isinstance(time, datetime) else time for time in times
    )
    labels = [row.get(name) for name in LABEL_FILTERS]
    return facts_of(
        [
            key,
            row.get("words"),
            row.get("tags"),
            labels,
            occurred_at,
            valid_from,
            valid_until,
            row.get("archived_at") is not None,
            row.get("subject"),
            row.get("consolidated_into"),
        ],
        row if packs else None,
    )


def _read_moment(value: Any) -> Any:
    """Return a moment in microseconds; what is none stays as it is."""
    if not isinstance(value, str):
        return value
    if value.startswith("+"):  # a year past 9999
        return microseconds(datetime.max.replace(tzinfo=UTC))
    try:
        return microseconds(datetime.fromisoformat(value))
    except (ValueError, TypeError):
        return value


def facts_of(values: Sequence[Any], row: Mapping[str, Any] | None = None) -> Facts:
    """Read the values of a page in the order of the fields; raises CorruptRow.

    Moments are microseconds, or texts in ISO 8601. `row` is given where it is to be packed.
    """
    key, words, tags, labels, *times, archived, subject, summary = values
    occurred, since, until = map(_read_moment, times)
    is_whole = (
        isinstance(key, str)
        and isinstance(words, str)
        and isinstance(tags, list)
        and all(isinstance(tag, str) for tag in tags)
        and all(map(_is_label, labels, _ALWAYS_THERE))
        and all(label is None or isinstance(label, str) for label in (subject, summary))
        and type(occurred) is int
        and all(time is None or type(time) is int for time in (since, until))
    )
    if not is_whole:
        raise CorruptRow(f"memory {key!r}")
    packed = pack({**row, "consolidated_into": summary}) if row else None
    return Facts(
        key, words, tuple(tags), tuple(labels), occurred, since, until, archived, subject, summary,
        packed,
    )  # fmt: skip


# Every memory has a kind and a type, and what has a default other than none.
_ALWAYS_THERE: Final = tuple(DEFAULTS.get(name, "") is not None for name in LABEL_FILTERS)


def _is_label(value: object, is_always_there: bool) -> bool:
    return isinstance(value, str) or (value is None and not is_always_there)
