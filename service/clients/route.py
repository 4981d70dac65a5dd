"""The door of /clients: which programs call, and which went silent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from service.clients.seen import list_seen
from service.web.cursors import CursorForm
from service.web.declared import links
from service.web.fields import PageLimit, QueryAgent
from service.web.parts import TheDatabase
from service.web.room import Room

router = Room("hooks", prefix="/clients")

# The name of the last program of a page.
PLACE: Final = CursorForm("h", (str,))


@dataclass(frozen=True, slots=True)
class ClientFields:
    """A program: when its hooks came last, what was captured of it, what it was told.

    `sub_agent_hooks` of its `hooks` came of sub-agents. `sessions` were captured in part at least.
    `warning` says what is wrong: its sessions go on, and nothing of them arrives.
    """

    client: str
    hooks: int
    sub_agent_hooks: int
    last_hook_at: datetime | None
    last_event: str | None
    last_session: str | None
    sessions: int
    last_capture_at: datetime | None
    injections: int
    last_injection_at: datetime | None
    warning: str | None


@dataclass(frozen=True, slots=True)
class ClientPage:
    """The programs of an agent, by name; `next_cursor` is null on the last page."""

    clients: list[ClientFields]
    next_cursor: str | None


@router.get(
    "", operation_id="list_clients", responses=links(200, list_clients={"cursor": "/next_cursor"})
)
async def get_clients(
    db: TheDatabase,
    agent: QueryAgent,
    limit: PageLimit = 50,
    cursor: Annotated[str, Field(max_length=1000), *PLACE.type_rules()] | None = None,
) -> ClientPage:
    """List the programs whose hooks or transcripts came, and warn of those that went silent."""
    after = PLACE.decode(cursor)[0] if cursor else ""
    names = ClientFields.__dataclass_fields__
    # There are as many as kinds of programs, so that each page can look at all of them.
    seen = [one for one in await list_seen(db, agent) if one.client > after]
    page = [ClientFields(**{name: getattr(one, name) for name in names}) for one in seen[:limit]]
    return ClientPage(page, PLACE.encode(page[-1].client) if len(seen) > limit else None)
