"""Plain values of what the driver returns."""

from datetime import datetime
from typing import Any, Final

from service.store.driver import RecordID

_ALREADY_PLAIN: Final = frozenset({str, int, float, bool, bytes, datetime, type(None)})


def plain(value: Any) -> Any:
    """Turn what the driver returns into plain values: a record id becomes its key."""
    if type(value) in _ALREADY_PLAIN:
        return value
    if isinstance(value, RecordID):
        key = value.id
        return key if type(key) in _ALREADY_PLAIN else plain(key)
    # Most of what a row holds is plain already, and a call for each would cost more than the rest.
    if isinstance(value, dict):
        return {k: v if type(v) in _ALREADY_PLAIN else plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [v if type(v) in _ALREADY_PLAIN else plain(v) for v in value]
    return value
