"""The door of /opt-outs: memory is switched off for a project or a session, and on again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Self

from fastapi import Query, Response
from pydantic import Field, JsonValue, model_validator

from service.errors import WriteConflict
from service.field_types import Label, OwnAgent
from service.projects.place import scope_named, written_under
from service.projects.project_fields import InBody, InQuery
from service.projects.switched_off import (
    MOST,
    OptOut,
    TooManyOptOuts,
    list_off,
    switch_off,
    switch_on,
)
from service.store.database import Database
from service.web.cursors import CursorForm
from service.web.declared import links, problems
from service.web.fields import (
    IN_A_QUERY,
    PageLimit,
    QueryAgent,
    Strict,
    body_example,
    own_agent,
    ruled,
)
from service.web.parts import TheDatabase
from service.web.room import Room

router = Room("continuity", prefix="/opt-outs")

# The scope and the session of the last one of a page, one of them empty.
PLACE: Final = CursorForm("o", (str, str))

_NULL: JsonValue = {"type": "null"}
_ONE = "says not which; send either `project` or `session`"


class OptOutRequest(Strict):
    """What memory is to be switched off for: a project, or a session."""

    model_config = ruled(
        body_example(session="s-private"),
        anyOf=[
            {"required": ["project"], "properties": {"project": {"not": _NULL}, "session": _NULL}},
            {"required": ["session"], "properties": {"session": {"not": _NULL}, "project": _NULL}},
        ],
    )

    agent: OwnAgent = own_agent()
    project: InBody = None
    session: Label | None = Field(None, description="A session, by the name that its client gives.")

    @model_validator(mode="after")
    def _says_which(self) -> Self:
        if (self.project is None) == (self.session is None):
            raise ValueError(_ONE)
        return self


class OptInParameters(Strict):
    """What memory is switched on for again: a project, a session, or both."""

    model_config = IN_A_QUERY

    agent: OwnAgent = own_agent()
    project: InQuery = None
    session: Label | None = None

    @model_validator(mode="after")
    def _says_which(self) -> Self:
        if self.project is None and self.session is None:
            msg = "says not which; send `project` or `session`, as GET /opt-outs lists them"
            raise ValueError(msg)
        return self


@dataclass(frozen=True, slots=True)
class OptOutFields:
    """A project, by its scope, or a session that memory is switched off for, since when."""

    scope: str | None
    session: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OptOuts:
    """What an agent has switched off, at most 1,000; `next_cursor` is null on the last page."""

    opt_outs: list[OptOutFields]
    next_cursor: str | None


@router.post("", operation_id="opt_out", responses=problems(TooManyOptOuts, WriteConflict))
async def post_opt_out(db: TheDatabase, request: OptOutRequest) -> OptOuts:
    """Switch memory off for a project or a session: nothing is kept of it, nothing told to it.

    Whoever writes or asks for it is told so with 409: transcripts, handoffs, memories of that
    scope or session, searches, contexts. What was stored before stays, and is not told to it.
    """
    async with written_under(db, request.agent, request.project) as where:
        await switch_off(db, OptOut(request.agent, where.scope, request.session))
    return await _page(db, OptOut(request.agent), MOST)


@router.get(
    "", operation_id="list_opt_outs",
    responses=links(200, list_opt_outs={"cursor": "/next_cursor"}),
)  # fmt: skip
async def get_opt_outs(
    db: TheDatabase,
    agent: QueryAgent,
    limit: PageLimit = MOST,
    cursor: Annotated[str, Field(max_length=1000), *PLACE.type_rules()] | None = None,
) -> OptOuts:
    """List the projects and sessions that memory is switched off for, sessions first."""
    scope, session = PLACE.decode(cursor) if cursor else ("", "")
    return await _page(db, OptOut(agent, scope, session), limit)


@router.delete("", status_code=204, operation_id="opt_in", responses=problems(WriteConflict))
async def delete_opt_out(
    db: TheDatabase, parameters: Annotated[OptInParameters, Query()]
) -> Response:
    """Switch memory on again; where it is on, nothing happens."""
    scope = await scope_named(db, parameters.agent, parameters.project)
    for one in (
        OptOut(parameters.agent, scope=scope),
        OptOut(parameters.agent, session=parameters.session),
    ):
        if one.scope or one.session:
            await switch_on(db, one)
    return Response(status_code=204)


async def _page(db: Database, after: OptOut, limit: int) -> OptOuts:
    rows = await list_off(db, after, limit + 1)
    page = [OptOutFields(r.get("scope"), r.get("session"), r["created_at"]) for r in rows[:limit]]
    is_last = len(rows) <= limit
    last = None if is_last else PLACE.encode(page[-1].scope or "", page[-1].session or "")
    return OptOuts(page, last)
