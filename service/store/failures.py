"""What the database reports when it fails, under the names of our own errors; pure."""

import re
from collections.abc import Mapping
from typing import Any, Final

from service.errors import (
    InvalidRequest,
    QueryFailed,
    StaleRead,
    StoreInUse,
    StoreRefused,
    StoreUnavailable,
    WriteConflict,
)
from service.store.address import StoreAddress
from service.store.disk import full, may_be_torn, says_full

_UNFIT_VALUE: Final = re.compile(r"Found .* for field|Couldn't coerce value")

# What the engine (core 3.2.4) says of a part that is cut off or missing; nobody's text is in it.
_DAMAGED: Final = re.compile(r"problem with the key-value store: .*(?:VLog|corruption|SSTable)")

# What a writing query throws when the store is no longer as it was read.
_STALE: Final = "stale read"


def failure_to_connect(address: StoreAddress, error: Exception) -> Exception:
    """Name why no connection came about."""
    folder = address.folder
    if folder is None:
        return StoreUnavailable(
            f"No database answers at {address.url} ({error}): start it, or set "
            f"{address.setting} to where it is."
        )
    if "already locked" in str(error):
        return StoreInUse(
            f"Another process holds the store in {folder}: stop it, or give another "
            f"{address.setting}."
        )
    if says_full(str(error)):
        return full(folder, str(error))
    return StoreRefused(
        f"The store in {folder} cannot be opened ({error}). Where it is damaged, put a whole copy "
        f"in its place, or give another {address.setting}."
    )


def named_failure(failures: list[dict[str, Any]]) -> Exception:
    """Choose the cause among failed statements and name it.

    In a failed transaction every statement reports a failure; the cause is the first that says
    more than that it was not executed. The kinds are the server's own (`details.kind`).
    """
    kinds = [(f.get("details") or {}).get("kind") for f in failures]
    texts = [str(f.get("result") or f.get("message") or f) for f in failures]
    if "TransactionConflict" in kinds or any("can be retried" in t for t in texts):
        return WriteConflict("Other writers changed the same memories; send it again.")
    if any(f"An error occurred: {_STALE}" == t for t in texts):
        return StaleRead()
    causes = [t for t, kind in zip(texts, kinds, strict=True) if kind != "NotExecuted"] or texts
    if _UNFIT_VALUE.match(causes[0]):
        return InvalidRequest("The store refused a value", said=causes[0])
    if _DAMAGED.search(causes[0]):
        msg = "The store is damaged and wants a whole copy in its place"
        return QueryFailed(msg, said=causes[0])
    hint = "; a commit failed, look at the database's disk" if may_be_torn(causes[0]) else ""
    return QueryFailed("The database refused a query", said=f"{causes[0]}{hint}")


def is_anonymous(answer: Mapping[str, Any]) -> bool:
    """Return whether the server refused to answer because nobody has signed in."""
    error = answer.get("error") or {}
    return error.get("kind") == "NotAllowed" and "Anonymous" in str(error.get("message"))
