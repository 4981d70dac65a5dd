"""The door of /sessions: what a session was given, by what, and whether it still has it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field

from service.field_types import Label
from service.sessions.asking import TheGiven
from service.store.queries import load_query
from service.text.titles import title_of
from service.web.cursors import CursorForm
from service.web.declared import links
from service.web.fields import PageLimit, QueryAgent
from service.web.parts import TheDatabase
from service.web.room import Room

router = Room("continuity", prefix="/sessions")

GIVEN_TO: Final = load_query(__package__, "given_to")
# When the last memory of a page was given, and its id.
PLACE: Final = CursorForm("s", (datetime, str))


@dataclass(frozen=True, slots=True)
class GivenMemory:
    """A memory that a session was given: by which operation and `why`, last `at`, so many `times`.

    `used_at` is when its id or a run of its words was seen in what the session's agent said, null
    as long as it was not; who sends no transcript to /observe is not known to use anything.
    `tokens` is what it takes of a prompt, by estimate. `is_known` says whether the session has it
    whole, so that `new_only` leaves it out: not where it was cut or given by its title, and not
    once its client said that its context was cleared. `title` is null of what is gone
    or not the agent's own.
    """

    id: str
    title: str | None
    operation: str
    why: str | None
    used_at: datetime | None
    tokens: int
    times: int
    first_at: datetime
    at: datetime
    is_known: bool

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "GivenMemory":
        """Read a row of given_to.surql."""
        title, content = row.pop("title", None), row.pop("content", None)
        named = None if content is None else title_of(title or "", content)
        return cls(**{"why": None, "used_at": None, **row}, title=named)


@dataclass(frozen=True, slots=True)
class SessionGiven:
    """What a session was given, the last first; `tokens` are those of this page.

    `next_cursor` is null on the last page. A session that was given nothing is as unknown as none.
    """

    session: str
    agent: str
    given: list[GivenMemory]
    tokens: int
    next_cursor: str | None


@router.get(
    "/{id:path}", operation_id="read_session",
    responses=links(200, read_session={"id": "/session", "cursor": "/next_cursor"}),
)  # fmt: skip
async def get_session(
    db: TheDatabase,
    given: TheGiven,
    id: Label,  # noqa: A002 - the contract's name
    agent: QueryAgent,
    limit: PageLimit = 50,
    cursor: Annotated[str, Field(max_length=1000), *PLACE.type_rules()] | None = None,
) -> SessionGiven:
    """Tell what a session was given by searches, recalls and its context: ids, no texts."""
    await given.settle()
    before, before_id = PLACE.decode(cursor) if cursor else (None, None)
    rows = await db.run(
        GIVEN_TO, agent=agent, in_session=id, before=before, before_id=before_id, limit=limit + 1
    )
    page = [GivenMemory.from_row(row) for row in rows[:limit]]
    has_more = len(rows) > limit
    return SessionGiven(
        id, agent, page, sum(one.tokens for one in page),
        PLACE.encode(page[-1].at, page[-1].id) if has_more else None,
    )  # fmt: skip
