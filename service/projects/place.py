"""Where a request is from or of: the agent, and the project, by its scope."""

from pydantic import Field

from service.field_types import Label, OwnAgent
from service.projects.moving import bring_along
from service.projects.project_fields import InBody, InQuery, identity_of
from service.projects.registry import find_scope, register
from service.projects.switched_off import refuse_switched_off
from service.store.database import Database
from service.web.fields import IN_A_QUERY, Strict, own_agent


class PlaceFields(Strict):
    """Who writes, and where; without a project it is the agent's own, of no scope."""

    agent: OwnAgent = own_agent()
    project: InBody = None
    session: Label | None = Field(None, description="The session that it is said in.")

    async def registered(self, db: Database) -> str | None:
        """Return the scope of the project, which is known from now on; None where none is named.

        Raises SwitchedOff.
        """
        identity = identity_of(self.project)
        scope = await register(db, self.agent, identity) if identity else None
        await refuse_switched_off(db, self.agent, scope, self.session)
        return scope

    async def brought_along(self, db: Database, scope: str | None) -> str | None:
        """Move what was written under the scope just now if its project was moved meanwhile.

        Returns the scope that it stands under; of memories the pipeline takes care.
        """
        return await bring_along(db, self.agent, identity_of(self.project), scope)


class PlaceParameters(Strict):
    """Whose texts are read, and of which project; nothing is noted of it."""

    model_config = IN_A_QUERY

    agent: OwnAgent = own_agent()
    project: InQuery = None

    async def found(self, db: Database, session: str | None = None) -> str | None:
        """Return the scope of the project, None where none is named; raises SwitchedOff."""
        identity = identity_of(self.project)
        scope = await find_scope(db, self.agent, identity) if identity else None
        await refuse_switched_off(db, self.agent, scope, session)
        return scope
