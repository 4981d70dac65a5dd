"""The door of /consolidate."""

import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Self

from fastapi import Body
from pydantic import Field, JsonValue, model_validator

from service.consolidate.consolidating import SHOWN, Consolidation, consolidate
from service.consolidate.executed import DONE
from service.consolidate.jobs import Consolidations, Wish
from service.consolidate.planning import Target
from service.consolidate.shapes import Consolidated, ConsolidationStatus, TakenBack
from service.consolidate.undoing import undo_concept, undo_run, undo_summary
from service.errors import (
    AgentUnknown,
    ConceptNotFound,
    JobNotFound,
    MemoryNotFound,
    PlanNotFound,
    PlanStale,
    RunNotFound,
    WriteConflict,
)
from service.field_types import WHOLE, Label, OwnAgent, Reference
from service.store.agents import refuse_unknown
from service.web.accepted import JobAccepted, accepted
from service.web.cursors import rules_of
from service.web.declared import Responses, links, problems
from service.web.fields import Strict, body_example, own_agent, ruled
from service.web.parts import TheDatabase, ThePipeline, part
from service.web.room import Room

router = Room("operations", prefix="/consolidate")

TheConsolidations = Annotated[Consolidations, part(Consolidations)]

_UNDO_BY: Final = ("run", "summary", "concept")
_BY_PLAN: Final = frozenset({"older_than_days", "scope"})
# In the description: a field that must not be there, and one that says nothing.
_ABSENT: Final[dict[str, JsonValue]] = dict.fromkeys(sorted(_BY_PLAN), False)
_NULL: Final[JsonValue] = {"type": "null"}
ShownCursor = Annotated[str, Field(max_length=1000), *rules_of(SHOWN, DONE)]


class ConsolidateRequest(Strict):
    """What to consolidate; a dry run unless said otherwise."""

    model_config = ruled(
        body_example(older_than_days=3, dry_run=True),
        anyOf=[
            {"properties": {"plan": _NULL, "cursor": _NULL}},
            {"properties": {"plan": {"type": "string"}, "cursor": _NULL, **_ABSENT}},
            {
                "properties": {
                    "cursor": {"type": "string"}, "plan": _NULL, "dry_run": {"const": True},
                    **_ABSENT,
                }
            },
        ],
        allOf=[{"anyOf": [
            {"properties": {"wait": {"const": True}}},
            {"required": ["dry_run"], "properties": {"dry_run": {"const": False}}},
        ]}],
    )  # fmt: skip

    agent: OwnAgent = own_agent()
    scope: Label | None = Field(None, description="Only memories with exactly this scope.")
    older_than_days: float = Field(
        3, ge=0, le=36_500, description="Logs and observations older than this (occurred_at)."
    )
    dry_run: bool = Field(True, description="true shows the plan, false carries it out.")
    plan: Reference | None = Field(
        None,
        description="A plan that was shown: carried out exactly as it is, or refused with what "
        "changed since.",
    )
    wait: bool = Field(
        True,
        description="false answers at once, with a job to look at; of what is carried out alone.",
    )
    limit: Annotated[int, Field(ge=1, le=1000), WHOLE] = Field(
        100, description="Groups to show, 1 to 1,000."
    )
    cursor: ShownCursor | None = Field(
        None,
        description="`next_cursor` of a dry run or of a run: its next groups. Nothing is done; "
        "those of a run are told as they are stored now.",
    )

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        given = sorted(self.model_fields_set & _BY_PLAN)
        if given and (self.plan or self.cursor):
            msg = f"leave out {' and '.join(given)}: the plan says that itself"
            raise ValueError(msg)
        if self.cursor and (self.plan or not self.dry_run):
            msg = "a cursor only shows the next groups: leave out plan, and keep dry_run true"
            raise ValueError(msg)
        if self.dry_run and not self.wait:
            msg = "a dry run is its answer: wait for it, or send dry_run false"
            raise ValueError(msg)
        return self

    def wish(self) -> Wish:
        """Return what a job is to do."""
        return Wish(self.agent, self.older_than_days, self.scope, self.plan)

    def consolidation(self) -> Consolidation:
        """Return what this asks for, as of now."""
        before = datetime.now(UTC) - timedelta(days=self.older_than_days)
        target = Target(self.agent, self.scope, before)
        return Consolidation(target, self.plan, self.dry_run, self.limit, self.cursor)


class UndoRequest(Strict):
    """What to take back: a run, one summary, or the merging of a concept."""

    model_config = ruled(
        body_example(run="5f0c7c8b8a4f4e0f9a1f0e7d2b3c4d5e", pin=False),
        oneOf=[{"required": [one], "properties": {one: {"type": "string"}}} for one in _UNDO_BY],
    )

    agent: OwnAgent = own_agent()
    run: Reference | None = Field(None, description="`run` of a consolidation.")
    summary: Reference | None = Field(None, description="The id of one summary.")
    concept: Reference | None = Field(
        None, description="The id of a concept: what was merged into it is parted for good."
    )
    pin: bool = Field(
        False, description="true pins the memories that come back: the next run leaves them."
    )

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if sum(getattr(self, name) is not None for name in _UNDO_BY) != 1:
            msg = "give one of run, summary and concept"
            raise ValueError(msg)
        return self


_DRY_RUN: Final[Any] = Body(default_factory=ConsolidateRequest)
_STATUS_EXAMPLE: Final[Responses] = {
    200: {"content": {"application/json": {"example": {
        "id": "5f0c7c8b8a4f4e0f9a1f0e7d2b3c4d5e", "state": "running", "detail": None,
        "agent": "main", "stage": "groups", "plan": "60f592b5c98fe05aa49f94e6f4ad23d1",
        "run": "5f0c7c8b8a4f4e0f9a1f0e7d2b3c4d5e", "groups": 2506, "done": 1180, "concepts": 3,
        "counts": {
            "memories": 4712, "groups": 1180, "created": 1180, "revised": 0, "waiting": 0,
            "silent": 0, "alone": 26, "concepts": 3, "characters_before": 843112,
            "characters_after": 727540,
        },
        "next_cursor": None, "warnings": [], "took_ms": 6204.8,
    }}}},
}  # fmt: skip


@router.post(
    "", operation_id="consolidate", response_model=Consolidated,
    responses={
        202: {"model": JobAccepted, **links(202, read_consolidation={"id": "/job"})[202]},
        **problems(AgentUnknown, PlanNotFound, PlanStale, RunNotFound),
    },
)  # fmt: skip
async def post_consolidate(
    db: TheDatabase,
    pipeline: ThePipeline,
    consolidations: TheConsolidations,
    request: ConsolidateRequest = _DRY_RUN,
) -> Any:
    """Compact old logs: each group of them becomes one summary, the logs are archived.

    No text is written anew: a summary holds the most telling sentences of its sources, every
    decision among them. The logs stay readable, and `include_archived` still finds them.
    With `"wait": false` a job does it, also if the process dies in between: 202 tells its id.
    """
    await refuse_unknown(db, request.agent)
    if not request.wait:
        return accepted(await consolidations.submit(request.wish()), "/consolidate")
    return await consolidate(pipeline, request.consolidation())


@router.get(
    "/jobs/{id}",
    operation_id="read_consolidation",
    responses=_STATUS_EXAMPLE | problems(JobNotFound),
)
async def get_consolidation(
    consolidations: TheConsolidations,
    id: str,  # noqa: A002 - the contract's name
) -> ConsolidationStatus:
    """Look at a consolidation that a job does: its state, its stage and its counts so far."""
    return await consolidations.read(id)


@router.post(
    "/undo", operation_id="undo_consolidation",
    responses=problems(RunNotFound, MemoryNotFound, ConceptNotFound, WriteConflict),
)  # fmt: skip
async def post_undo(pipeline: ThePipeline, request: UndoRequest) -> TakenBack:
    """Take a consolidation back: its memories return as they were, its summaries go.

    A summary that other runs made a part of stays, without what this one added. Concepts that are
    parted are not merged again.
    """
    started = time.perf_counter()
    if request.run is not None:
        undone = await undo_run(pipeline, request.agent, request.run, pin=request.pin)
    elif request.concept is not None:
        undone = await undo_concept(pipeline, request.agent, request.concept)
    else:
        key = request.summary or ""
        undone = await undo_summary(pipeline, request.agent, key, pin=request.pin)
    took_ms = round((time.perf_counter() - started) * 1000, 1)
    return TakenBack(**asdict(undone), took_ms=took_ms)
