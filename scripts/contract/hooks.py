"""What Schemathesis leaves out (SCHEMATHESIS_HOOKS): wrong values that are right on the wire."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

import schemathesis

_MOST_BYTES: Final = 60_000
_LATE: Final = "2099-01-31T00:00:00Z"


@schemathesis.hook
def filter_query(context: Any, query: Mapping[str, Any] | None) -> bool:
    """Send no `tags` of true or 5: in a query they are the texts "true" and "5", which are tags.

    Nor a line that no HTTP server takes (65,536 bytes): of it the service never hears. Nor an agent
    with letters of other scripts as a wrong one: a description's class of words is ASCII.
    """
    del context
    told = query or {}
    is_short = len(urlencode(told, doseq=True, errors="replace")) < _MOST_BYTES
    is_ascii = str(told.get("agent", "")).isascii()
    return is_short and is_ascii and not isinstance(told.get("tags"), bool | int | float)


@schemathesis.hook
def filter_body(context: Any, body: Any) -> bool:
    """Send no `valid_from`: no description can say that it is not later than `valid_until`."""
    del context
    return not (isinstance(body, Mapping) and isinstance(body.get("valid_from"), str))


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Send what no description can say is needed.

    No span ends before it begins, and something is named that memory is switched on for.
    """
    del context, kwargs
    query = case.query or {}
    is_named = not query.keys().isdisjoint({"project", "session"})
    if (case.method, case.path) == ("DELETE", "/opt-outs") and not is_named:
        case.query = query | {"session": "s"}
    for told in (case.body, case.query):
        if not isinstance(told, dict):
            continue
        if _is_moment(told.get("since")) and _is_moment(told.get("until")):
            told["until"] = _LATE


def _is_moment(value: Any) -> bool:
    with suppress(TypeError, ValueError):
        datetime.fromisoformat(value)
        return True
    return False
