"""The door of /projects: where an agent worked, and the scope that its memories have there."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import Field

from service.field_types import WHOLE
from service.projects.registry import list_projects
from service.web.cursors import CursorForm
from service.web.declared import links
from service.web.fields import QueryAgent
from service.web.parts import TheDatabase

router = APIRouter(prefix="/projects", tags=["continuity"])

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
    limit: Annotated[int, Field(ge=1, le=1000), WHOLE, Query()] = 50,
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
