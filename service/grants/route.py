"""The door of /grants: an agent lets another read its memories, and takes that back."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import Response
from pydantic import Field

from service.access.caller import Caller
from service.access.errors import (
    Forbidden,
    GrantNotFound,
    OwnMemories,
    TooManyRequests,
    Unauthorized,
)
from service.field_types import AgentName, EndMoment, Label
from service.store.database import record
from service.store.queries import load_query
from service.web.authentication import TheCaller
from service.web.cursors import CursorForm
from service.web.declared import links, problems
from service.web.fields import PageLimit, Strict, body_example
from service.web.parts import TheDatabase
from service.web.room import Room

router = Room("grants", prefix="/grants")

LIST: Final = load_query(__package__, "list")
PUT: Final = load_query(__package__, "put")
DELETE: Final = load_query(__package__, "delete")
# The id of the last grant of a page.
PLACE: Final = CursorForm("g", (str,))
_PROBLEMS: Final = problems(Unauthorized, Forbidden, TooManyRequests)


class GrantRequest(Strict):
    """What an agent lets another read."""

    model_config = body_example(reader="main/researcher", owner="main", expires_at="2027-01-31")

    reader: AgentName = Field(description="Who may read.")
    owner: AgentName = Field(description="Whose memories.")
    scope: Label | None = Field(
        None, description="Only memories of this scope, for searches that ask for it. Unset: all."
    )
    expires_at: EndMoment | None = Field(None, description="When it ends; unset: never.")


@dataclass(frozen=True, slots=True)
class Grant:
    """`reader` may read the memories of `owner`; one that is past its time counts no more."""

    id: str
    reader: str
    owner: str
    scope: str | None
    created_at: datetime | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class GrantPage:
    """Grants in the order of their ids; `next_cursor` is null on the last page."""

    grants: list[Grant]
    next_cursor: str | None


@router.get(
    "", operation_id="list_grants",
    responses=_PROBLEMS | links(200, list_grants={"cursor": "/next_cursor"}),
)  # fmt: skip
async def get_grants(
    db: TheDatabase,
    caller: TheCaller,
    limit: PageLimit = 50,
    cursor: Annotated[str, Field(max_length=1000), *PLACE.type_rules()] | None = None,
) -> GrantPage:
    """List who may read whose memories, as far as one of both is the caller's."""
    after = PLACE.decode(cursor)[0] if cursor else ""
    own = [
        grant
        for grant, _ in await _grants(db)
        if grant.id > after and caller.only_own((grant.reader, grant.owner))
    ]
    has_more = len(own) > limit
    return GrantPage(own[:limit], PLACE.encode(own[limit - 1].id) if has_more else None)


@router.post(
    "", status_code=201, operation_id="give_grant",
    responses=_PROBLEMS | problems(OwnMemories) | links(201, revoke_grant={"id": "/id"}),
)  # fmt: skip
async def post_grant(db: TheDatabase, caller: TheCaller, request: GrantRequest) -> Grant:
    """Let an agent read another's memories, never write them; the same again sets its end anew.

    It reaches no further: what the owner may read of others stays with the owner.
    """
    caller.check_agent(request.owner)
    if request.reader == request.owner:
        raise OwnMemories("An agent reads its own memories anyway: name another reader.")
    key = [request.reader, request.owner, *([request.scope] if request.scope else [])]
    [first] = await db.run(
        PUT, id=record("grant", key), reader=request.reader, owner=request.owner,
        scope=request.scope, created_at=datetime.now(UTC), expires_at=request.expires_at,
    )  # fmt: skip
    return Grant(_id(key), request.reader, request.owner, request.scope, first, request.expires_at)


@router.delete(
    "/{id}", status_code=204, operation_id="revoke_grant",
    responses=_PROBLEMS | problems(GrantNotFound),
)  # fmt: skip
async def delete_grant(db: TheDatabase, caller: TheCaller, id: str) -> Response:  # noqa: A002 - the contract's name
    """Take a grant back, at once."""
    for grant, key in await _grants(db):
        if grant.id == id and _is_known(caller, grant):
            caller.check_agent(grant.owner)
            await db.run(DELETE, id=record("grant", key))
            return Response(status_code=204)
    raise GrantNotFound(f"There is no grant {id!r}: GET /grants lists those there are.")


def _is_known(caller: Caller, grant: Grant) -> bool:
    return bool(caller.only_own((grant.reader, grant.owner)))


async def _grants(db: TheDatabase) -> list[tuple[Grant, list[Any]]]:
    """Return all grants with the keys of their rows, in the order of their ids."""
    rows = [(row, list(row["id"])) for row in await db.run(LIST)]
    grants = [
        (
            Grant(
                _id(key), row["reader"], row["owner"], row.get("scope"), row.get("created_at"),
                row.get("expires_at"),
            ),
            key,
        )
        for row, key in rows
    ]  # fmt: skip
    return sorted(grants, key=lambda grant: grant[0].id)


def _id(key: list[Any]) -> str:
    """Name a grant by its row's key, which may hold what cannot stand in a path."""
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
