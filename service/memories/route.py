"""The door of /memories."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Query, Response
from pydantic import ValidationError

from service.access.caller import caller
from service.access.errors import Forbidden
from service.errors import (
    AgentNotReadable,
    AgentUnknown,
    InvalidRequest,
    MemoryNotFound,
    QuotaFull,
    ToldElsewhere,
    WriteConflict,
)
from service.field_types import (
    AgentName,
    TrustTier,
)
from service.memories.changing import change_memory
from service.memories.lineage import Lineage, lineage_of
from service.memories.neighbours import mentions_of, neighbours_of, sources_in
from service.memories.requests import (
    PLACE,
    BatchRequest,
    ChangeRequest,
    FeedbackRequest,
    ListParameters,
    StoreRequest,
)
from service.memories.screening import Pushed
from service.memories.shapes import (
    BatchError,
    BatchStored,
    Feedback,
    HistoryEntry,
    MemoryDetail,
    MemoryPage,
    Stored,
)
from service.memories.storing import REFUSED, find, remove, store, store_one
from service.memories.voting import vote
from service.moments import micros_of
from service.projects.registry import Registered
from service.projects.switched_off import SwitchedOff
from service.records import AHEAD_OF_ALL, Filters, Memory, Place
from service.sessions.evidence import evidence_of
from service.store.agents import readable_agents, refuse_unknown
from service.store.database import Database, record
from service.store.queries import load_query
from service.text.titles import title_warnings
from service.web.authentication import TheCaller
from service.web.declared import links, problems
from service.web.fields import (
    MemoryFields,
    QueryAgent,
    memory_fields,
)
from service.web.parts import TheDatabase, ThePipeline
from service.web.problems import advice
from service.web.room import Room
from service.worth import Evidence, Told, worth_of

router = Room("memories", prefix="/memories")

SURROUNDINGS = load_query(__package__, "surroundings")
MENTIONED = load_query(__package__, "mentioned")

_TRUST: Final[list[TrustTier]] = ["trusted", "untrusted"]
_NOBODY_ELSE: Final[list[str]] = []


_BY_ID: Final = {"id": "/id"}


@router.post(
    "", status_code=201, operation_id="store_memory",
    responses=problems(QuotaFull, SwitchedOff)
    | links(201, read_memory=_BY_ID, change_memory=_BY_ID, delete_memory=_BY_ID),
)  # fmt: skip
async def post_memory(db: TheDatabase, pipeline: ThePipeline, request: StoreRequest) -> Stored:
    """Store one memory; it is searchable when this answers."""
    key, synced = await store_one(pipeline, await request.pushed(Registered(db)))
    warnings = [*title_warnings(request.title), *synced.told[0], *synced.warnings]
    [action] = synced.actions
    # Of what was there already nothing was linked now.
    is_known = action == "duplicate"
    concepts = await db.run(MENTIONED, id=record("memory", key)) if is_known else synced.concepts
    return Stored(key, action, sorted(concepts), warnings)  # type: ignore[arg-type]


@router.post("/batch", operation_id="store_memories", responses=problems(QuotaFull, SwitchedOff))
async def post_batch(db: TheDatabase, pipeline: ThePipeline, request: BatchRequest) -> BatchStored:
    """Store up to 1,000 memories at once; those of one session are chained in time order."""
    good: dict[int, Pushed] = {}
    projects = Registered(db)
    errors, warnings = [], []
    for index, item in enumerate(request.memories):
        try:
            pushed = good[index] = await StoreRequest.model_validate(item).pushed(projects)
            warnings += [f"memories/{index}/{one}" for one in title_warnings(pushed.title)]
        except (Forbidden, InvalidRequest) as error:
            errors.append(BatchError(index, error.detail))
        except ValidationError as error:
            errors.append(BatchError(index, _first_error(error)))
    ids: list[str | None] = [None] * len(request.memories)
    if not good:
        return BatchStored(0, 0, 0, ids, errors, [])
    keys, synced = await store(pipeline, list(good.values()))
    for index, key, action, told in zip(good, keys, synced.actions, synced.told, strict=True):
        if action == REFUSED:
            errors.append(BatchError(index, *told))
            continue
        ids[index] = key
        warnings += [f"memories/{index}/{one}" for one in told]
    count, warnings = synced.actions.count, [*warnings, *synced.warnings]
    # What the store refuses is told after what was refused before it came there.
    errors.sort(key=lambda one: one.index)
    return BatchStored(
        count("created"), count("updated"), count("duplicate"), ids, errors, warnings
    )


_FIRST_LISTED: Final = {"id": "/memories/0/id", "agent": "/memories/0/agent"}


@router.get(
    "", operation_id="list_memories",
    responses=problems(AgentUnknown, AgentNotReadable)
    | links(200, read_memory=_FIRST_LISTED, list_memories={"cursor": "/next_cursor"}),
)  # fmt: skip
async def get_memories(
    db: TheDatabase, pipeline: ThePipeline, parameters: Annotated[ListParameters, Query()]
) -> MemoryPage:
    """List memories, newest first, with the filters of /search."""
    agents = await parameters.readable(db)
    before = AHEAD_OF_ALL
    if parameters.cursor:
        moment, key = PLACE.decode(parameters.cursor)
        before = Place(micros_of(moment), key)
    found = await pipeline.engine.fetch_newest(
        parameters.filters(agents), before, parameters.limit + 1
    )
    if not found and not parameters.cursor:
        await refuse_unknown(db, *agents)
    memories = found[: parameters.limit]
    has_more = len(found) > parameters.limit
    last = memories[-1] if memories else None
    return MemoryPage(
        [MemoryFields(**memory_fields(memory)) for memory in memories],
        PLACE.encode(last.occurred_at, last.id) if has_more and last else None,
    )


@router.get(
    "/{id}", operation_id="read_memory", responses=problems(MemoryNotFound, AgentNotReadable)
)
async def get_memory(
    db: TheDatabase,
    id: str,  # noqa: A002 - the contract's name
    agent: QueryAgent,
    trust: Annotated[
        list[TrustTier], Query(description="Only neighbours of these trust tiers.")
    ] = _TRUST,
    *,
    include_archived: Annotated[bool, Query(description="Archived neighbours too.")] = False,
    read_from: Annotated[
        list[AgentName], Query(max_length=20, description="Other agents that granted it, as well.")
    ] = _NOBODY_ELSE,
) -> MemoryDetail:
    """Read one memory with its concepts and what came just before and after it.

    What came before and after is told as far as a search would find it.
    """
    memory = await _readable(db, agent, read_from, id)
    # Of what is around it, who may not read all is told what is of the memory's own scope.
    reads_all = memory.agent == agent and caller().memory_scopes is None
    scope = None if reads_all else memory.scope
    filters = Filters(
        agents=(memory.agent,), trust=tuple(trust), include_archived=include_archived, scope=scope
    )
    around = await db.run(SURROUNDINGS, id=record("memory", id), **filters.params()) or {}
    sessions = (await evidence_of(db, memory.agent, [memory.id])).get(memory.id, Evidence())
    history = [HistoryEntry(memory.created_at, "created")]
    if memory.updated_at != memory.created_at:
        history.append(HistoryEntry(memory.updated_at, "updated"))
    if memory.archived_at:
        action = "consolidated" if memory.consolidated_into else "archived"
        history.append(HistoryEntry(memory.archived_at, action))
    return MemoryDetail(
        **memory_fields(memory),
        source_kind=memory.source_kind,
        given=sessions.given,
        used=sessions.used,
        helpful=memory.helpful,
        unhelpful=memory.unhelpful,
        worth=worth_of(memory.content, Told.of(memory), sessions, datetime.now(UTC)),
        concepts=mentions_of(around.get("concepts"), is_counted=reads_all),
        before=neighbours_of(around.get("before")),
        after=neighbours_of(around.get("after")),
        derived_from=sources_in(around.get("derived_from")),
        history=sorted(history, key=lambda entry: entry.at),
    )


@router.get("/{id}/lineage", operation_id="read_lineage", responses=problems(MemoryNotFound))
async def get_lineage(
    db: TheDatabase,
    caller: TheCaller,
    id: str,  # noqa: A002
    agent: QueryAgent,
) -> Lineage:
    """Say where a memory comes from, which summaries are made of it, and who was given it."""
    memory = await find(db, [agent], id)
    return await lineage_of(db, memory, caller if "admin" in caller.scopes else None)


@router.patch(
    "/{id}", operation_id="change_memory",
    responses=problems(MemoryNotFound, ToldElsewhere, WriteConflict, SwitchedOff),
)  # fmt: skip
async def patch_memory(
    db: TheDatabase,
    pipeline: ThePipeline,
    caller: TheCaller,
    id: str,  # noqa: A002
    request: ChangeRequest,
    agent: QueryAgent,
) -> MemoryDetail:
    """Change some fields of a memory; a new text is embedded and linked anew.

    A title of more than 200 characters is cut, and the whole of it put in front of the text; of a
    memory that was read from a document it is refused.
    """
    memory = await find(db, [agent], id)
    changes = {name: getattr(request, name) for name in request.model_fields_set}
    told = await change_memory(pipeline, memory, changes, caller)
    detail = await get_memory(db, id, agent, _TRUST, read_from=_NOBODY_ELSE)
    return replace(detail, warnings=[*title_warnings(request.title), *told])


@router.post(
    "/{id}/feedback", operation_id="give_feedback",
    responses=problems(MemoryNotFound, WriteConflict)
    | links(200, read_memory=_BY_ID, give_feedback=_BY_ID),
)  # fmt: skip
async def post_feedback(
    db: TheDatabase,
    caller: TheCaller,
    id: str,  # noqa: A002
    request: FeedbackRequest,
    agent: QueryAgent,
) -> Feedback:
    """Say whether a memory helped: by 10 % at most it comes earlier in answers, or later.

    A key has one vote on each memory.
    """
    return await vote(db, caller, agent, id, helpful=request.helpful)


@router.delete(
    "/{id}", status_code=204, operation_id="delete_memory",
    responses=problems(MemoryNotFound, WriteConflict),
)  # fmt: skip
async def delete_memory(pipeline: ThePipeline, id: str, agent: QueryAgent) -> Response:  # noqa: A002
    """Delete a memory for good, with its vector and links; the deletion is audited."""
    await remove(pipeline, agent, id)
    return Response(status_code=204)


async def _readable(db: Database, agent: str, read_from: list[str], key: str) -> Memory:
    """Return a memory that the agent owns or was granted to read.

    No refusal tells whether another's is there.
    """
    try:
        memory = await find(db, [agent, *read_from], key)
        await readable_agents(db, agent, [memory.agent], memory.scope)
    except (MemoryNotFound, AgentNotReadable):
        await readable_agents(db, agent, read_from)
        raise
    return memory


def _first_error(error: ValidationError) -> str:
    first = error.errors()[0]
    place = "/".join(map(str, first["loc"])) or "memory"
    return f"{place}: {advice(first)}"
