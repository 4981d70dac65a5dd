"""The session that asks: what a search and a recall have in common for it."""

from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from service.access.caller import caller
from service.field_types import Flag
from service.kinds import AUTOMATIC
from service.projects.place import scope_named
from service.projects.switched_off import refuse_any_switched_off
from service.records import Filters, Memory
from service.sessions.given import Given
from service.sessions.ledgers import Session
from service.store.database import Database
from service.web.fields import FilterFields
from service.web.parts import part

TheGiven = Annotated[Given, part(Given)]


class AskingFields(FilterFields):
    """The filters of a question, and the session that it is asked for."""

    new_only: Flag | None = Field(
        None,
        description="Says that `session` is the one that asks, and narrows nothing. `true` leaves "
        "out what it was given before and still says the same, a search also other copies of it. "
        "What is given to it is noted, but for a GET, which changes nothing.",
        examples=[True],
    )
    include_automatic: Flag = Field(
        False,
        description="Handoffs that nobody wrote too: each repeats what a session asked last. "
        "`kinds` with handoff and `tags` with automatic ask for them as well.",
        examples=[True],
    )

    @property
    def asking(self) -> Session | None:
        """The session that asks; None where none is known."""
        name = getattr(self, "session")  # noqa: B009 - of the table of fields
        return None if self.new_only is None or name is None else Session(self.agent, name)

    def filters(self, agents: tuple[str, ...]) -> Filters:
        """Return the filters for these readable agents; the session that asks is none of them."""
        filters = super().filters(agents)
        return filters if self.asking is None else replace(filters, session=None)

    async def narrowed(self, db: Database, agents: tuple[str, ...]) -> Filters:
        """Return the filters for these readable agents, of the project that is named alone.

        Raises SwitchedOff for it, for the session that asks, and for a scope or session that is
        asked about; Forbidden for a project that is none of the key's scopes, as nothing of it
        would be found.
        """
        named = getattr(self, "project")  # noqa: B009 - of bodies and queries
        project = await scope_named(db, self.agent, named)
        if project is not None:
            caller().check_project(project)
        filters = self.filters(agents)
        session = self.asking.name if self.asking else filters.session
        await refuse_any_switched_off(
            db, [(self.agent, project, session), (self.agent, filters.scope, None)]
        )
        asks = "handoff" in (filters.kinds or ()) or AUTOMATIC in (filters.tags or ())
        begins = bool(getattr(self, "seed_ids", ()))  # what is named by its id may be one
        without = not (asks or begins or self.include_automatic)
        return replace(filters, project=project, without_automatic=without)


@asynccontextmanager
async def known_to(given: Given, request: AskingFields) -> AsyncIterator[tuple[str, ...]]:
    """Give the ids that an answer leaves out; until the end no other answers this session."""
    if request.asking is None or not request.new_only:
        yield ()
        return
    async with given.turn(request.asking):
        yield await given.known(request.asking)


async def note_given(
    given: Given, request: AskingFields, operation: str, memories: Iterable[tuple[Memory, str]],
    cut: Collection[str] = (),
) -> str | None:  # fmt: skip
    """Note what the session that asks is given, and why; returns why it is not, for the receipt.

    Of the ids in `cut` it is given a part.
    """
    if request.asking is None:
        return "`new_only` is of a session: send `session` with it." if request.new_only else None
    in_turn = bool(request.new_only)
    if await given.note(request.asking, operation, memories, cut, in_turn=in_turn):
        return None
    return "What this session was given could not be noted: it may be given again."
