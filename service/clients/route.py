"""The door of /clients: which programs call, and which went silent."""

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter

from service.clients.seen import list_seen
from service.web.fields import QueryAgent
from service.web.parts import TheDatabase

router = APIRouter(prefix="/clients", tags=["hooks"])


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
class Clients:
    """The programs of an agent, by name; as many as there are kinds of them."""

    clients: list[ClientFields]


@router.get("", operation_id="list_clients")
async def get_clients(db: TheDatabase, agent: QueryAgent) -> Clients:
    """List the programs whose hooks or transcripts came, and warn of those that went silent."""
    names = ClientFields.__dataclass_fields__
    seen = await list_seen(db, agent)
    return Clients([ClientFields(**{name: getattr(one, name) for name in names}) for one in seen])
