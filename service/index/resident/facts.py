"""What the index knows of one memory, read from the store's rows; a row that makes no sense raises.

Times are whole microseconds since 1970, UTC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class CorruptRow(Exception):
    """A row of the store lacks what every memory has."""


@dataclass(frozen=True, slots=True)
class Facts:
    """One memory as far as words and filters go; `valid_from` and `valid_until` None are open."""

    key: str
    words: str
    scope: str | None
    kind: str
    type: str
    tags: tuple[str, ...]
    session: str | None
    trust_tier: str
    occurred_at: int
    valid_from: int | None
    valid_until: int | None
    is_archived: bool
    subject: str | None = None
    consolidated_into: str | None = None


def microseconds(moment: datetime) -> int:
    """Return a moment as microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(microseconds: int) -> datetime:
    """Return the moment so many microseconds after 1970, UTC."""
    return _EPOCH + microseconds * _MICROSECOND


def facts_of_row(key: object, row: Mapping[str, Any]) -> Facts:
    """Read a whole row of table `memory`, as the change feed carries it; raises CorruptRow."""
    times = [row.get(name) for name in ("occurred_at", "valid_from", "valid_until")]
    occurred_at, valid_from, valid_until = (
        microseconds(time) if isinstance(time, datetime) else time for time in times
    )
    return facts_of(
        [
            key,
            row.get("words"),
            row.get("scope"),
            row.get("kind"),
            row.get("type"),
            row.get("tags"),
            row.get("session"),
            row.get("trust_tier"),
            occurred_at,
            valid_from,
            valid_until,
            row.get("archived_at") is not None,
            row.get("subject"),
            row.get("consolidated_into"),
        ]
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


def facts_of(values: Sequence[Any]) -> Facts:
    """Read the values of a page in the order of the fields; raises CorruptRow.

    Moments are microseconds, or texts in ISO 8601.
    """
    key, words, scope, kind, type_, tags, session, trust, *rest = values
    *times, archived, subject, summary = rest
    occurred, since, until = map(_read_moment, times)
    is_whole = (
        isinstance(key, str)
        and isinstance(words, str)
        and isinstance(kind, str)
        and isinstance(type_, str)
        and isinstance(tags, list)
        and all(isinstance(tag, str) for tag in tags)
        and isinstance(trust, str)
        and all(
            label is None or isinstance(label, str) for label in (scope, session, subject, summary)
        )
        and type(occurred) is int
        and all(time is None or type(time) is int for time in (since, until))
    )
    if not is_whole:
        raise CorruptRow(f"memory {key!r}")
    return Facts(
        key,
        words,
        scope,
        kind,
        type_,
        tuple(tags),
        session,
        trust,
        occurred,
        since,
        until,
        archived,
        subject,
        summary,
    )
