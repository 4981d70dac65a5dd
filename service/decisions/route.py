"""The door of /decisions: what was decided is logged, and listed with what took its place."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Literal

from fastapi import Query
from pydantic import Field

from service.access.caller import caller
from service.decisions.decisions import decide, superseded_by
from service.decisions.holding import DECISION
from service.errors import MemoryNotFound, QuotaFull
from service.field_types import WHOLE, Label, MemoryText, Moment, Tags, Title
from service.memories.screening import Pushed
from service.moments import micros_of
from service.projects.place import PlaceFields, PlaceParameters
from service.projects.project_fields import InQuery
from service.projects.switched_off import SwitchedOff
from service.records import AHEAD_OF_ALL, Filters, Memory, Place
from service.text.titles import title_of, title_warnings
from service.web.cursors import CursorForm
from service.web.declared import links, problems
from service.web.fields import body_example
from service.web.parts import TheDatabase, ThePipeline
from service.web.room import Room

router = Room("continuity", prefix="/decisions")

# When the last decision of a page was made, and its id.
PLACE: Final = CursorForm("d", (datetime, str))


class DecisionRequest(PlaceFields):
    """A decision, and the one whose place it takes."""

    model_config = body_example(
        text="Use an append-only log for governance.", tags=["architecture"],
        project={"origin": "git@github.com:ann/app.git"},
    )  # fmt: skip

    text: MemoryText
    title: Title | None = None
    tags: Tags = Field([], description="Labels to list it by; they are concepts too.")
    supersedes: Label | None = Field(
        None, description="The id of the decision whose place it takes: that one holds no longer."
    )


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a decision; `scope` is that of its project."""

    id: str
    action: Literal["created", "duplicate", "updated"]
    scope: str | None
    supersedes: str | None
    warnings: list[str]


class DecisionParameters(PlaceParameters):
    """Which decisions to list, the newest first."""

    project: InQuery = Field(None, description="Of this project alone. Unset: all.")
    tag: Label | None = Field(None, description="With this tag alone.")
    since: Moment | None = Field(None, description="Made from then on.")
    last: Annotated[int, Field(ge=1, le=1000, description="Most to return."), WHOLE] = 10
    limit: Annotated[int, Field(ge=1, le=1000), WHOLE] | None = Field(
        None, description="`last` as other lists have it; of both this one counts."
    )
    cursor: Annotated[str, Field(max_length=1000), *PLACE.type_rules()] | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision; `superseded_by` are the ids of those that took its place."""

    id: str
    title: str
    text: str
    tags: list[str]
    at: datetime
    scope: str | None
    session: str | None
    origin: str
    trust_tier: str
    superseded_by: list[str]

    @classmethod
    def of(cls, memory: Memory, superseded_by: list[str]) -> "Decision":
        """Return what is told of a decision."""
        return cls(
            memory.id, title_of(memory.title, memory.content), memory.content, list(memory.tags),
            memory.occurred_at, memory.scope, memory.session, memory.origin, memory.trust_tier,
            superseded_by,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """Decisions, the newest first; `next_cursor` is null on the last page."""

    decisions: list[Decision]
    next_cursor: str | None


@router.post(
    "", status_code=201, operation_id="log_decision",
    responses=problems(MemoryNotFound, QuotaFull, SwitchedOff)
    | links(201, read_memory={"id": "/id"}),
)  # fmt: skip
async def post_decision(
    db: TheDatabase, pipeline: ThePipeline, request: DecisionRequest
) -> Decided:
    """Log a decision: a memory like others, found by searches and linked to what it names."""
    sender = caller()
    async with request.written(db) as where:
        pushed = Pushed.by(
            sender, text=request.text, agent=request.agent, title=request.title, kind="decision",
            tags=tuple(request.tags), scope=where.scope, session=request.session,
        )  # fmt: skip
        key, synced = await decide(pipeline, pushed, request.supersedes)
    warnings = [*title_warnings(request.title), *synced.told[0], *synced.warnings]
    superseded = request.supersedes
    if superseded == key:
        superseded = None
        warnings.append("supersedes: it is this decision itself, which holds on.")
    return Decided(key, synced.actions[0], where.scope, superseded, warnings)  # type: ignore[arg-type]


@router.get(
    "", operation_id="list_decisions",
    responses=problems(SwitchedOff) | links(200, list_decisions={"cursor": "/next_cursor"}),
)  # fmt: skip
async def get_decisions(
    db: TheDatabase, pipeline: ThePipeline, parameters: Annotated[DecisionParameters, Query()]
) -> DecisionPage:
    """List what was decided, the newest first, also what holds no longer."""
    before = AHEAD_OF_ALL
    if parameters.cursor:
        moment, key = PLACE.decode(parameters.cursor)
        before = Place(micros_of(moment), key)
    tags = None if parameters.tag is None else (parameters.tag,)
    asked = Filters(
        (parameters.agent,), await parameters.found(db), kinds=(DECISION,), tags=tags,
        since=parameters.since, with_ended=True,
    )  # fmt: skip
    most = parameters.limit or parameters.last
    found = await pipeline.engine.fetch_newest(asked, before, most + 1)
    shown = found[:most]
    others = await superseded_by(db, [one.id for one in shown])
    page = [Decision.of(one, others[one.id]) for one in shown]
    has_more = len(found) > most
    return DecisionPage(page, PLACE.encode(page[-1].at, page[-1].id) if has_more else None)
