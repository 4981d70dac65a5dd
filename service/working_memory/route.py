"""The door of /working-memory: what is in focus now."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Final

from fastapi import Query, Response

from service.access.caller import caller
from service.errors import WriteConflict
from service.field_types import Label, MemoryText
from service.projects.place import PlaceFields, PlaceParameters
from service.projects.switched_off import SwitchedOff
from service.store.database import Database
from service.web.declared import problems
from service.web.fields import body_example
from service.web.parts import TheDatabase, ThePipeline
from service.web.room import Room
from service.working_memory.texts import Place, append, clear, put, read

router = Room("continuity", prefix="/working-memory")

_PROBLEMS: Final = problems(WriteConflict, SwitchedOff)


class WorkingMemoryRequest(PlaceFields):
    """A text, and whose focus it is: the agent's, the project's, or one session's in it."""

    model_config = body_example(
        text="Current focus: stabilise the deployment pipeline.", session="s-0142"
    )

    text: MemoryText


class WorkingMemoryParameters(PlaceParameters):
    """Whose focus."""

    session: Label | None = None

    async def place(self, db: Database) -> Place:
        """Return where it stands; raises SwitchedOff."""
        return Place(self.agent, await self.found(db, self.session), self.session)


@dataclass(frozen=True, slots=True)
class WorkingMemoryFields:
    """What is in focus; `text` and the rest of it are null where nothing is."""

    text: str | None
    chars: int
    scope: str | None
    session: str | None
    origin: str | None
    trust_tier: str | None
    updated_at: datetime | None
    warnings: list[str]


@router.get("", operation_id="read_working_memory", responses=problems(SwitchedOff))
async def get_working_memory(
    db: TheDatabase, parameters: Annotated[WorkingMemoryParameters, Query()]
) -> WorkingMemoryFields:
    """Read what is in focus."""
    return await _told(db, await parameters.place(db))


@router.put("", operation_id="set_working_memory", responses=_PROBLEMS)
async def put_working_memory(
    db: TheDatabase, pipeline: ThePipeline, request: WorkingMemoryRequest
) -> WorkingMemoryFields:
    """Set what is in focus, in place of what was."""
    async with request.written(db) as where:
        place = Place(request.agent, where.scope, request.session)
        warnings = await put(db, pipeline.sanitiser, place, request.text, caller())
    return await _told(db, replace(place, scope=where.scope), warnings)


@router.patch("", operation_id="update_working_memory", responses=_PROBLEMS)
async def patch_working_memory(
    db: TheDatabase, pipeline: ThePipeline, request: WorkingMemoryRequest
) -> WorkingMemoryFields:
    """Add to what is in focus, under a heading with the time (UTC)."""
    async with request.written(db) as where:
        place = Place(request.agent, where.scope, request.session)
        warnings = await append(db, pipeline.sanitiser, place, request.text, caller())
    return await _told(db, replace(place, scope=where.scope), warnings)


@router.delete("", status_code=204, operation_id="clear_working_memory", responses=_PROBLEMS)
async def delete_working_memory(
    db: TheDatabase, parameters: Annotated[WorkingMemoryParameters, Query()]
) -> Response:
    """Clear what is in focus; where nothing is, nothing happens."""
    await clear(db, await parameters.place(db))
    return Response(status_code=204)


async def _told(db: Database, place: Place, warnings: tuple[str, ...] = ()) -> WorkingMemoryFields:
    found = await read(db, place)
    if found is None:
        return WorkingMemoryFields(
            None, 0, place.scope, place.session, None, None, None, list(warnings)
        )
    return WorkingMemoryFields(
        found.text, len(found.text), place.scope, place.session, found.origin, found.trust_tier,
        found.updated_at, list(warnings),
    )  # fmt: skip
