"""The door of /projects: where an agent worked, and the scope that its memories have there."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from service.errors import WriteConflict
from service.field_types import WHOLE, OwnAgent
from service.projects.moving import ProjectNotFound, move
from service.projects.project_fields import Named, identity_named
from service.projects.registry import list_projects
from service.web.cursors import CursorForm
from service.web.declared import links, problems
from service.web.fields import PageLimit, QueryAgent, Strict, body_example, own_agent
from service.web.parts import TheDatabase, ThePipeline
from service.web.room import Room

router = Room("continuity", prefix="/projects")

# The scope of the last project of a page.
PLACE: Final = CursorForm("p", (str,))


@dataclass(frozen=True, slots=True)
class Project:
    """A project: `scope` is that of its memories, `origins` and `roots` are where it was seen."""

    scope: str
    name: str | None
    origins: list[str]
    roots: list[str]
    created_at: datetime
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """Projects in the order of their scopes; `next_cursor` is null on the last page."""

    projects: list[Project]
    next_cursor: str | None


@router.get(
    "", operation_id="list_projects", responses=links(200, list_projects={"cursor": "/next_cursor"})
)
async def get_projects(
    db: TheDatabase,
    agent: QueryAgent,
    limit: PageLimit = 50,
    cursor: Annotated[str, Field(max_length=1000), *PLACE.type_rules()] | None = None,
) -> ProjectPage:
    """List the projects that an agent's sessions, handoffs and decisions named."""
    after = PLACE.decode(cursor)[0] if cursor else ""
    rows = await list_projects(db, agent, after, limit + 1)
    projects = [
        Project(**{"name": None, **row, "origins": sorted(row["origins"]),
                   "roots": sorted(row["roots"])})
        for row in rows[:limit]
    ]  # fmt: skip
    has_more = len(rows) > limit
    return ProjectPage(projects, PLACE.encode(projects[-1].scope) if has_more else None)


class MoveRequest(Strict):
    """A project, and the one that it becomes."""

    model_config = body_example(
        project="github.com/ann/app", into={"origin": "git@github.com:ann/crane.git"}
    )

    agent: OwnAgent = own_agent()
    project: Named
    into: Named = Field(description="The project that it becomes: another one, or a new one.")
    limit: Annotated[int, Field(ge=1, le=100_000), WHOLE] = Field(
        2000, description="About how many memories to move at once; a few more may be."
    )


@dataclass(frozen=True, slots=True)
class ProjectMoved:
    """What was moved: `scope` was the project's, `into` is that of its memories now.

    With some `left` the same request goes on.
    """

    scope: str
    into: str
    memories: int
    left: int


@router.post(
    "/move", operation_id="move_project", responses=problems(ProjectNotFound, WriteConflict)
)
async def post_move(pipeline: ThePipeline, request: MoveRequest) -> ProjectMoved:
    """Make a project another one's, or give it a new remote, folder or name: its memories move.

    Its handoffs, decisions and all other memories, what is in focus, standing intents and fixes;
    where memory is switched off for it, it is so for what it becomes.
    Whoever names it as before means the other one from then on. Interrupted, or with some `left`,
    the same request goes on where it was. Into an earlier name of its own it is renamed back.
    """
    done = await move(
        pipeline, request.agent, identity_named(request.project), identity_named(request.into),
        request.limit,
    )  # fmt: skip
    return ProjectMoved(done.scope, done.into, done.memories, done.left)
