"""The doors of /reflect and /hot-memory: a look back, and what is kept near at hand."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

from fastapi import Body, Query
from pydantic import Field

from service.errors import WriteConflict
from service.field_types import WHOLE, Flag, OwnAgent
from service.projects.place import PlaceParameters, scope_named
from service.projects.project_fields import InBody
from service.projects.switched_off import SwitchedOff, refuse_switched_off
from service.reflect.reflecting import HotEntry, Period, Reflection, apply, read_hot, reflect
from service.reflect.report import hot_text, report_of
from service.search.searcher import Searcher
from service.stages import Stages
from service.text.tokens import estimate_prompt_tokens
from service.web.declared import problems
from service.web.fields import Strict, body_example, own_agent
from service.web.parts import part
from service.web.room import Room
from service.worth import Worth

router = Room("continuity")

TheSearcher = Annotated[Searcher, part(Searcher)]

_PROBLEMS: Final = problems(SwitchedOff, WriteConflict)


class ReflectRequest(Strict):
    """Whose time is looked back on, and how much room the hot memory has."""

    model_config = body_example(project={"name": "app"}, days=7, dry_run=True)

    agent: OwnAgent = own_agent()
    project: InBody = Field(
        None, description="The project, with what is the agent's own. Unset: that alone is hot."
    )
    days: Annotated[int, Field(ge=1, le=365), WHOLE] = Field(7, description="How far back.")
    max_tokens: Annotated[int, Field(ge=0, le=100_000), WHOLE] = Field(
        1500, description="Most tokens of the hot memory, by estimate. Least valuable out first."
    )
    dry_run: Flag = Field(
        True, description="Only tell what belongs into the hot memory; false makes it so."
    )


@dataclass(frozen=True, slots=True)
class RecurringErrorFields:
    """An error that came up in several sessions; `fix` is the memory that tells what mended it."""

    text: str
    command: str | None
    sessions: int
    first_at: datetime
    last_at: datetime
    fix: str | None


@dataclass(frozen=True, slots=True)
class RepeatedFields:
    """What a person said in several sessions."""

    id: str
    text: str
    sessions: int


@dataclass(frozen=True, slots=True)
class RisingFields:
    """A concept that more memories mention: of these days, and of as many days before, on average.

    The average is over four such periods.
    """

    id: str
    name: str
    memories: int
    before: float


@dataclass(frozen=True, slots=True)
class ContradictionFields:
    """Two decisions that both hold, of which one turns against what the other one says."""

    newer: str
    newer_text: str
    older: str
    older_text: str


@dataclass(frozen=True, slots=True)
class PromotionFields:
    """A memory that belongs into the hot memory and is not in it, with the evidence."""

    id: str
    text: str
    why: str
    worth: Worth


@dataclass(frozen=True, slots=True)
class DemotionFields:
    """A memory that leaves the hot memory; `text` is null of what is archived, gone, untrusted."""

    id: str
    text: str | None
    score: float


@dataclass(frozen=True, slots=True)
class ReflectionFields:
    """What the look back found. With `dry_run` nothing was changed."""

    since: datetime
    until: datetime
    scope: str | None
    errors: list[RecurringErrorFields]
    repeated: list[RepeatedFields]
    concepts: list[RisingFields]
    contradictions: list[ContradictionFields]
    promotions: list[PromotionFields]
    demotions: list[DemotionFields]
    dry_run: bool
    report: str
    took_ms: float


@dataclass(frozen=True, slots=True)
class HotFields:
    """A memory that is near at hand, and why."""

    id: str
    text: str
    why: str
    score: float
    promoted_at: datetime


@dataclass(frozen=True, slots=True)
class HotMemory:
    """What is near at hand, the worthiest first; `text` is markdown, as MEMORY.md has it."""

    scope: str | None
    text: str
    memories: list[HotFields]
    tokens: int


_BY_DEFAULT: Final[Any] = Body(default_factory=ReflectRequest)


@router.post("/reflect", operation_id="reflect", responses=_PROBLEMS)
async def post_reflect(
    searcher: TheSearcher, request: ReflectRequest = _BY_DEFAULT
) -> ReflectionFields:
    """Look back: recurring errors, repeated rules, growing concepts, contradicting decisions.

    Proposes what belongs into the hot memory, with the evidence, and makes it so on request. The
    hot memory is bounded: the least valuable leaves first. Nothing untrusted comes in.
    """
    stages = Stages()
    scope = await scope_named(searcher.db, request.agent, request.project)
    await refuse_switched_off(searcher.db, request.agent, scope, None)
    until = datetime.now(UTC)
    period = Period(request.agent, scope, until - timedelta(days=request.days), until)
    found = await reflect(searcher.engine, searcher.db, period, request.max_tokens)
    if not request.dry_run:
        await apply(searcher.db, period, found)
    return _told(found, period, dry_run=request.dry_run, took_ms=stages.took_ms())


@router.get("/hot-memory", operation_id="hot_memory", responses=problems(SwitchedOff))
async def get_hot_memory(
    searcher: TheSearcher, parameters: Annotated[PlaceParameters, Query()]
) -> HotMemory:
    """Read what an agent keeps near at hand, as text and by memory."""
    scope = await parameters.found(searcher.db)
    hot = await read_hot(searcher.engine, searcher.db, parameters.agent, scope)
    text = hot_text(hot)
    return HotMemory(
        scope, text, [_hot(one) for one in hot if one.memory], estimate_prompt_tokens(text)
    )


def _hot(one: HotEntry) -> HotFields:
    text = one.memory.content if one.memory else ""
    return HotFields(one.id, text, one.why, one.score, one.promoted_at)


def _told(found: Reflection, period: Period, *, dry_run: bool, took_ms: float) -> ReflectionFields:
    return ReflectionFields(
        since=period.since,
        until=period.until,
        scope=period.scope,
        errors=[
            RecurringErrorFields(
                one.error.text, one.error.command, one.error.sessions, one.error.first_at,
                one.error.last_at, one.fix,
            )
            for one in found.errors
        ],
        repeated=[RepeatedFields(one.id, one.content, count) for one, count in found.repeated],
        concepts=[
            RisingFields(one.slug, name, one.recent, one.before) for name, one in found.concepts
        ],
        contradictions=[
            ContradictionFields(one.newer.id, one.newer.content, one.older.id, one.older.content)
            for one in found.contradictions
        ],
        promotions=[
            PromotionFields(one.memory.id, one.memory.content, one.why, one.worth)
            for one in found.promoted
        ],
        demotions=[
            DemotionFields(one.id, one.memory.content if one.memory else None, one.score)
            for one in found.demoted
        ],
        dry_run=dry_run,
        report=report_of(found),
        took_ms=took_ms,
    )  # fmt: skip
