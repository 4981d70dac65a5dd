"""The door of /handoff: what a session leaves to the next one, and what was left before."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

from fastapi import Query
from pydantic import Field

from service.access.caller import caller
from service.errors import QuotaFull
from service.field_types import WHOLE, MemoryText
from service.memories.screening import Pushed, screen_each
from service.memories.storing import store_one
from service.moments import micros_of
from service.projects.place import PlaceFields, PlaceParameters
from service.projects.project_fields import InQuery
from service.projects.switched_off import SwitchedOff, refuse_switched_off
from service.records import AHEAD_OF_ALL, TRUST_TIERS, Filters, Memory, Place
from service.search.searcher import Searcher
from service.threads import read_texts
from service.web.cursors import CursorForm
from service.web.declared import links, problems
from service.web.fields import body_example
from service.web.parts import TheDatabase, ThePipeline, part
from service.web.room import Room
from service.writing.pipeline import Pipeline

router = Room("continuity", prefix="/handoff")

TheSearcher = Annotated[Searcher, part(Searcher)]

# So long a client tries that had no answer; who says the same later says it of then.
_TRIES: Final = timedelta(hours=1)
# Of the history on one page: a handoff may be long.
_MOST: Final = 100
# When the last handoff of a page was left, and its id.
PLACE: Final = CursorForm("f", (datetime, str))


class HandoffRequest(PlaceFields):
    """What the next session should know: what was done, what comes next."""

    model_config = body_example(
        text="Release checklist done. Next: run the regression on the payment flow.",
        project={"origin": "git@github.com:ann/app.git"}, session="s-0142",
    )  # fmt: skip

    text: MemoryText


class HandoffParameters(PlaceParameters):
    """Whose handoff, and how many before it."""

    project: InQuery = Field(None, description="Of this project. Unset: the agent's own, of none.")
    history: Annotated[int, Field(ge=0, le=_MOST, description="How many before it too."), WHOLE] = 0
    limit: Annotated[int, Field(ge=1, le=_MOST), WHOLE] | None = Field(
        None, description="`history` as other lists have it; of both this one counts."
    )
    cursor: Annotated[str, Field(max_length=1000), *PLACE.type_rules()] | None = Field(
        None, description=f"Where the history goes on; with it alone, {_MOST} more are told."
    )


@dataclass(frozen=True, slots=True)
class HandoffStored:
    """A handoff that was stored; `scope` is that of its project."""

    id: str
    scope: str | None
    chars: int
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Handoff:
    """What a session left."""

    id: str
    text: str
    at: datetime
    session: str | None
    origin: str
    trust_tier: str

    @classmethod
    def of(cls, memory: Memory) -> "Handoff":
        """Return what is told of a handoff."""
        return cls(
            memory.id, memory.content, memory.occurred_at, memory.session, memory.origin,
            memory.trust_tier,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LastHandoff:
    """The last handoff, all of it null where there is none; `history` are those before it.

    They go on at `next_cursor`, which is null where there are no more.
    """

    id: str | None
    text: str | None
    at: datetime | None
    session: str | None
    origin: str | None
    trust_tier: str | None
    scope: str | None
    history: list[Handoff]
    next_cursor: str | None


@router.post(
    "", status_code=201, operation_id="write_handoff",
    responses=problems(QuotaFull, SwitchedOff) | links(201, read_memory={"id": "/id"}),
)  # fmt: skip
async def post_handoff(
    db: TheDatabase, pipeline: ThePipeline, request: HandoffRequest
) -> HandoffStored:
    """Leave a handoff to the next session of the project; those before it stay as its history.

    The last one sent again within an hour, by the same client and of the same session, is that one.
    """
    async with request.written(db) as where, pipeline.sending.of(request.agent):
        # With its moment it is never a duplicate of an older one.
        pushed = Pushed.by(
            caller(), text=request.text, agent=request.agent, kind="handoff", scope=where.scope,
            session=request.session, occurred_at=datetime.now(UTC),
        )  # fmt: skip
        if (known := await _known(pipeline, pushed)) is not None:
            key, warnings = known.id, list(known.screened)
        else:
            key, synced = await store_one(pipeline, pushed)
            warnings = [*synced.told[0], *synced.warnings]
    return HandoffStored(key, where.scope, len(request.text.strip()), warnings)


async def _known(pipeline: Pipeline, pushed: Pushed) -> Memory | None:
    """Return the last handoff where its client sends it again: it had no answer."""
    await refuse_switched_off(pipeline.db, pushed.agent, pushed.scope, pushed.session)
    [sent] = await read_texts(len(pushed.text), screen_each, pipeline.sanitiser, [pushed])
    asked = Filters(
        (pushed.agent,), pushed.scope, kinds=("handoff",), project=pushed.scope or "",
        trust=TRUST_TIERS,
    )  # fmt: skip
    keys = await pipeline.engine.latest(asked, 1)
    for last in (await pipeline.engine.fetch(keys, asked)).values():
        is_new = last.created_at > datetime.now(UTC) - _TRIES
        if isinstance(sent, Pushed) and is_new and _says(last) == _says(sent):
            return last
    return None


def _says(one: Memory | Pushed) -> tuple[Any, ...]:
    text = one.text.strip() if isinstance(one, Pushed) else one.content
    return text, one.session, one.scope, one.tags, one.origin, one.client, one.key


@router.get(
    "", operation_id="read_handoff",
    responses=problems(SwitchedOff) | links(200, read_handoff={"cursor": "/next_cursor"}),
)  # fmt: skip
async def get_handoff(
    db: TheDatabase, searcher: TheSearcher, parameters: Annotated[HandoffParameters, Query()]
) -> LastHandoff:
    """Read what the last session of a project left; none is told that is quarantined."""
    scope, engine = await parameters.found(db), searcher.engine
    asked = Filters((parameters.agent,), scope, kinds=("handoff",), project=scope or "")
    newest = await engine.fetch_newest(asked, AHEAD_OF_ALL, 1)
    if not newest:
        return LastHandoff(None, None, None, None, None, None, scope, [], None)
    last = Handoff.of(newest[0])
    moment, key = PLACE.decode(parameters.cursor) if parameters.cursor else (last.at, last.id)
    most = parameters.limit or parameters.history or (_MOST if parameters.cursor else 0)
    older = await engine.fetch_newest(asked, Place(micros_of(moment), key), most + 1)
    history = [Handoff.of(one) for one in older[:most]]
    end = history[-1] if history else last
    following = PLACE.encode(end.at, end.id) if len(older) > most else None
    return LastHandoff(
        last.id, last.text, last.at, last.session, last.origin, last.trust_tier, scope, history,
        following,
    )  # fmt: skip
