"""The door of /fixes: whether this error was mended before, and how."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from service.field_types import OwnAgent, Text
from service.fixes.fixes import find_fix
from service.projects.place import scope_named
from service.projects.project_fields import InBody
from service.projects.switched_off import SwitchedOff, refuse_switched_off
from service.web.declared import problems
from service.web.fields import Strict, body_example, own_agent
from service.web.parts import TheDatabase
from service.web.room import Room

router = Room("continuity", prefix="/fixes")


class LookupRequest(Strict):
    """A command that failed, and what it printed."""

    model_config = body_example(
        command="npm test", output="Error: Cannot find module 'left-pad'\n    at Module._resolve"
    )

    command: Annotated[Text, StringConstraints(max_length=20_000)] | None = None
    output: Annotated[Text, StringConstraints(max_length=1_000_000)] = Field(
        description="What it printed; the end of it says most."
    )
    agent: OwnAgent = own_agent()
    project: InBody = None


@dataclass(frozen=True, slots=True)
class FixFields:
    """What was done about the same error before, and when the same command passed after that.

    Its words hold what a tool printed: they are of origin `untrusted`.
    """

    id: str
    text: str
    command: str
    proven_at: datetime
    session: str | None


@dataclass(frozen=True, slots=True)
class FixAnswer:
    """Whether there is a fix that was proven, and the fix."""

    found: bool
    fix: FixFields | None


@router.post("/lookup", operation_id="lookup_fix", responses=problems(SwitchedOff))
async def post_lookup(db: TheDatabase, request: LookupRequest) -> FixAnswer:
    """Find what was done about the same error before, by what it says but for paths and numbers."""
    scope = await scope_named(db, request.agent, request.project)
    await refuse_switched_off(db, request.agent, scope, None)
    fix = await find_fix(db, request.agent, scope, request.output, request.command)
    if fix is None:
        return FixAnswer(found=False, fix=None)
    fields = FixFields(fix.id, fix.text, fix.command, fix.proven_at, fix.session)
    return FixAnswer(found=True, fix=fields)
