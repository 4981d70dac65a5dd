"""Where a request is from or of: the agent, and the project, by its scope."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import Field

from service.field_types import Label, OwnAgent
from service.projects.moving import bring_along
from service.projects.project_fields import InBody, InQuery, ProjectFields, identity_of
from service.projects.registry import find_scope, register
from service.projects.switched_off import refuse_switched_off
from service.store.database import Database
from service.web.fields import IN_A_QUERY, Strict, own_agent


@dataclass(slots=True)
class Where:
    """The scope that something is written under: behind the write, where its project is then."""

    scope: str | None


async def scope_named(db: Database, agent: str, project: ProjectFields | str | None) -> str | None:
    """Return the scope of a project, known or not; None of none. Nothing is written."""
    identity = identity_of(project)
    return await find_scope(db, agent, identity) if identity else None


@asynccontextmanager
async def written_under(
    db: Database, agent: str, project: ProjectFields | str | None
) -> AsyncIterator[Where]:
    """Have something written under a project's scope, which is known from now on; None of none.

    What is no memory goes along if the project is moved meanwhile: of memories the pipeline takes
    care.
    """
    identity = identity_of(project)
    where = Where(await register(db, agent, identity) if identity else None)
    yield where
    if identity and where.scope is not None:
        where.scope = await bring_along(db, agent, identity, where.scope)


class PlaceFields(Strict):
    """Who writes, and where; without a project it is the agent's own, of no scope."""

    agent: OwnAgent = own_agent()
    project: InBody = None
    session: Label | None = Field(None, description="The session that it is said in.")

    @asynccontextmanager
    async def written(self, db: Database) -> AsyncIterator[Where]:
        """Have it written under the project's scope, as `written_under`; raises SwitchedOff."""
        async with written_under(db, self.agent, self.project) as where:
            await refuse_switched_off(db, self.agent, where.scope, self.session)
            yield where


class PlaceParameters(Strict):
    """Whose texts are read, and of which project; nothing is noted of it."""

    model_config = IN_A_QUERY

    agent: OwnAgent = own_agent()
    project: InQuery = None

    async def found(self, db: Database, session: str | None = None) -> str | None:
        """Return the scope of the project, None where none is named; raises SwitchedOff."""
        scope = await scope_named(db, self.agent, self.project)
        await refuse_switched_off(db, self.agent, scope, session)
        return scope
