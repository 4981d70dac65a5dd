"""Moments as whole numbers: microseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def micros_of(moment: datetime) -> int:
    """Return a moment as microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(micros: int) -> datetime:
    """Return the moment so many microseconds after 1970, UTC."""
    return _EPOCH + micros * _MICROSECOND
