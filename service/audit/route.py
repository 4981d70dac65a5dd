"""The door of /audit: who did what, when and from where, for admins; it can only be read."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Query
from pydantic import Field

from service.access.audit import Outcome
from service.access.errors import Forbidden, TooManyRequests, Unauthorized
from service.audit.newest import Key, newest
from service.field_types import WHOLE, Label, Moment, OwnAgent, Until
from service.web.authentication import TheCaller
from service.web.cursors import CursorForm
from service.web.declared import links, problems
from service.web.fields import IN_A_QUERY, Strict
from service.web.parts import TheDatabase
from service.web.room import Room

router = Room("audit", prefix="/audit")

# The key of the last line of a page: its microseconds and the rest; of older versions 0 and it.
PLACE: Final = CursorForm("u", (int, str))


class AuditParameters(Strict):
    """What to list; every given filter must hold."""

    model_config = IN_A_QUERY

    since: Moment | None = Field(None, description="From this moment on.")
    until: Until | None = Field(None, description="Up to this moment; a bare day is included.")
    # Not `key`: the door refuses URLs that seem to hold one.
    key_id: Label | None = Field(None, description="Of this key.", examples=["0f3a9c21d7be"])
    agent: OwnAgent | None = Field(None, description="Whose memories.", examples=["main"])
    operation: Label | None = Field(
        None, examples=["delete_memory"],
        description="The operation's id as in /openapi.json; `deleted` and `removed` are memories "
        "that went for good, each a line of its own.",
    )  # fmt: skip
    outcome: Outcome | None = Field(None, description="How it ended.", examples=["denied"])
    limit: Annotated[int, Field(ge=1, le=1000), WHOLE] = 50
    cursor: Annotated[str, Field(max_length=1000), *PLACE.type_rules()] | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """`count` requests of one kind, the last of them at `at`; no texts, no names of documents.

    `outcome` is `done`, `denied` (401, 403, 421, 429, and 400, 415 or 501 of the
    door), `refused` (other 4xx) or `failed`. `key` and
    `name` are of the key that was shown, of a 401 the one it claimed to be; `local` is a program of
    this machine without keys. `ids` are those of memories, jobs, plans, runs, keys and grants;
    anything else, such as a document's path, is there as a piece of its SHA-256. `address` is null
    where it is not known, as of a command that opened the store itself.
    """

    at: datetime
    operation: str | None
    outcome: Outcome
    status: int | None
    key: str | None
    name: str | None
    agent: str | None
    ids: list[str]
    address: str | None
    count: int


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Lines of the audit, the newest first; `next_cursor` is null on the last page."""

    entries: list[AuditEntry]
    next_cursor: str | None


@router.get(
    "", operation_id="list_audit",
    responses=problems(Unauthorized, Forbidden, TooManyRequests)
    | links(200, list_audit={"cursor": "/next_cursor"}),
)  # fmt: skip
async def get_audit(
    db: TheDatabase, caller: TheCaller, parameters: Annotated[AuditParameters, Query()]
) -> AuditPage:
    """List what was changed and who was denied: an admin for some agents sees their lines alone.

    A line is there within a second. Lines are added, and go with `MEMORY_AUDIT_DAYS`; nothing
    else changes or removes one.
    """
    filters = parameters.model_dump(exclude={"limit", "cursor", "outcome"})
    filters["outcomes"] = _stored(parameters.outcome)
    filters["agents"] = None if caller.agents is None else list(caller.agents)
    before = _before(parameters.cursor)
    rows = await newest(db, filters, caller.key, before, parameters.limit + 1)
    page = rows[: parameters.limit]
    has_more = len(rows) > parameters.limit
    return AuditPage(
        [_entry(row) for row in page],
        PLACE.encode(*_place(page[-1])) if has_more else None,
    )


_NAMES: Final = tuple(AuditEntry.__dataclass_fields__)


def _entry(row: dict[str, Any]) -> AuditEntry:
    values: dict[str, Any] = {name: row.get(name) for name in _NAMES}
    return AuditEntry(**values)


def _place(row: dict[str, Any]) -> tuple[int, str]:
    key = row["id"]
    return (key[0], key[1]) if isinstance(key, list) else (0, key)


def _before(cursor: str | None) -> Key | None:
    """Return the key behind which a page begins."""
    if cursor is None:
        return None
    moment, rest = PLACE.decode(cursor)
    return [moment, rest] if moment else rest


def _stored(outcome: Outcome | None) -> list[str | None] | None:
    """Return what lines with an outcome hold: of older versions all were done, and hold none."""
    if outcome is None:
        return None
    return [outcome, None] if outcome == "done" else [outcome]
