"""The door of /session-end: what of a session's passing notes is kept, and what is cleared."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import Field

from service.access.caller import caller
from service.errors import QuotaFull, WriteConflict
from service.field_types import Flag, Label, OwnAgent
from service.projects.place import Where, scope_named, written_under
from service.projects.project_fields import InBody
from service.projects.switched_off import SwitchedOff, refuse_switched_off
from service.search.searcher import Searcher
from service.session_end.ending import Part, end, weigh
from service.store.database import Database
from service.web.declared import problems
from service.web.fields import Strict, body_example, own_agent
from service.web.parts import ThePipeline, part
from service.web.room import Room
from service.working_memory.texts import Place
from service.worth import Worth

router = Room("continuity", prefix="/session-end")

TheSearcher = Annotated[Searcher, part(Searcher)]

_MOST_SHOWN: Final = 300


class SessionEndRequest(Strict):
    """Which session ends, and from which worth on its notes are kept."""

    model_config = body_example(session="s-0142", project={"name": "app"}, threshold=0.25)

    session: Label
    agent: OwnAgent = own_agent()
    project: InBody = None
    threshold: Annotated[float, Field(ge=0, le=1)] = Field(
        0.25, description="What is worth as much is kept; the rest is cleared."
    )
    dry_run: Flag = Field(False, description="Only tell what would be kept.")


@dataclass(frozen=True, slots=True)
class KeptFields:
    """What is kept, as which memory, and what it is worth.

    `id` is null in a dry run, and of a memory that was deleted meanwhile.
    """

    id: str | None
    text: str
    worth: Worth


@dataclass(frozen=True, slots=True)
class ClearedFields:
    """What is not kept, cut to 300 characters: gone of a working memory, archived if a memory."""

    id: str | None
    text: str
    worth: Worth


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """What became of a session's notes; `is_cleared` is false of one that was written meanwhile.

    And of one with more than 500 parts: what comes behind these stays, and the same request goes on
    with it.
    """

    session: str
    scope: str | None
    promoted: list[KeptFields]
    cleared: list[ClearedFields]
    is_cleared: bool
    dry_run: bool


@router.post(
    "", operation_id="end_session", responses=problems(SwitchedOff, QuotaFull, WriteConflict)
)
async def post_session_end(
    searcher: TheSearcher, pipeline: ThePipeline, request: SessionEndRequest
) -> SessionEnded:
    """End a session: what it had at hand and is worth it becomes a memory, the rest is cleared.

    Weighed are the parts of its working memory and its memories with the tag `ephemeral`. Nothing
    untrusted is promoted. A handoff is not made here: POST /handoff, or /observe with `final`.
    """
    now = datetime.now(UTC)
    async with _under(pipeline.db, request) as where:
        await refuse_switched_off(pipeline.db, request.agent, where.scope, request.session)
        place = Place(request.agent, where.scope, request.session)
        found = await weigh(searcher.engine, pipeline, place, request.threshold, now)
        ids: list[str | None] = [one.memory.id if one.memory else None for one in found.kept]
        is_cleared = False
        if not request.dry_run:
            ids, is_cleared = await end(pipeline, place, found, caller())
    kept = [KeptFields(key, one.text, one.worth) for key, one in zip(ids, found.kept, strict=True)]
    return SessionEnded(
        request.session, where.scope, kept, [_cleared(one) for one in found.cleared], is_cleared,
        request.dry_run,
    )  # fmt: skip


@asynccontextmanager
async def _under(db: Database, request: SessionEndRequest) -> AsyncIterator[Where]:
    """Have it done under the project's scope; a dry run notes nothing of the project."""
    if request.dry_run:
        yield Where(await scope_named(db, request.agent, request.project))
        return
    async with written_under(db, request.agent, request.project) as where:
        yield where


def _cleared(one: Part) -> ClearedFields:
    return ClearedFields(one.memory.id if one.memory else None, one.text[:_MOST_SHOWN], one.worth)
