"""The door of /keys: who may come in, for admins."""

from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from fastapi import Response
from pydantic import Field

from service.access.caller import SCOPES, Scope
from service.access.errors import (
    Forbidden,
    KeyEnded,
    KeyNotFound,
    KeyPast,
    TooManyRequests,
    Unauthorized,
)
from service.access.keys import Key, Secret
from service.access.quota import Quota
from service.field_types import WHOLE, AgentName, EndMoment, Label
from service.store.keyring import Keyring
from service.web.authentication import TheCaller
from service.web.cursors import CursorForm
from service.web.declared import links, problems
from service.web.fields import PageLimit, Strict, body_example
from service.web.parts import part
from service.web.room import Room

router = Room("keys", prefix="/keys")

TheKeyring = Annotated[Keyring, part(Keyring)]
# When the last key of a page was made, and its id.
PLACE: Final = CursorForm("k", (datetime, str))
_BOUNDS: Final = tuple(one.name for one in fields(Quota))
_PROBLEMS: Final = problems(Unauthorized, Forbidden, TooManyRequests)


Count = Annotated[int, Field(ge=1, le=1_000_000_000_000), WHOLE]
_ANY: Final = "unset: any number."


class KeyRequest(Strict):
    """A key to make, good for as little as possible."""

    model_config = body_example(
        name="claude-code on the laptop", agents=["main"], scopes=["read", "write"],
        expires_at="2027-01-31",
    )  # fmt: skip

    name: Label = Field(description="Whose it is and what for.")
    scopes: list[Scope] = Field(
        ["read", "write"], min_length=1, max_length=len(SCOPES), description="What it is good for."
    )
    agents: list[AgentName] | None = Field(
        None, min_length=1, max_length=100,
        description="For whose memories; requests that name no agent mean the first. Unset: all.",
    )  # fmt: skip
    expires_at: EndMoment | None = Field(None, description="When it ends; unset: never.")
    memory_scopes: list[Label] | None = Field(
        None, min_length=1, max_length=100,
        description="Only for memories of these scopes, and for what tells of no others. Unset: "
        "of all scopes.",
    )  # fmt: skip
    rate: Count | None = Field(None, description=f"Requests a minute it allows; {_ANY}")
    byte_rate: Count | None = Field(None, description=f"Bytes of bodies a minute; {_ANY}")
    max_memories: Count | None = Field(None, description=f"Memories it stores at most; {_ANY}")
    max_documents: Count | None = Field(None, description=f"Documents it stores at most; {_ANY}")
    max_jobs: Count | None = Field(
        None, description=f"Scans and consolidations that wait or run at once; {_ANY}"
    )
    origin: Literal["owner", "agent", "untrusted"] = Field(
        "agent",
        description="Whose words are sent with it: the owner's own, an agent's, or somebody "
        "else's, such as pages that a program fetches.",
    )


@dataclass(frozen=True, slots=True)
class KeyFields:
    """A key as it is told: its secret is nowhere. `agents` is null where it is for all of them."""

    id: str
    name: str
    scopes: list[str]
    agents: list[str] | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    origin: str
    memory_scopes: list[str] | None
    rate: int | None
    byte_rate: int | None
    max_memories: int | None
    max_documents: int | None
    max_jobs: int | None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key with its secret, `key`, which is shown this once."""

    id: str
    key: str
    name: str
    scopes: list[str]
    agents: list[str] | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class KeyPage:
    """Keys, the newest first; `next_cursor` is null on the last page."""

    keys: list[KeyFields]
    next_cursor: str | None


@router.get(
    "",
    operation_id="list_keys",
    responses=_PROBLEMS | links(200, list_keys={"cursor": "/next_cursor"}),
)
async def get_keys(
    keyring: TheKeyring,
    caller: TheCaller,
    limit: PageLimit = 50,
    cursor: Annotated[str, Field(max_length=1000), *PLACE.type_rules()] | None = None,
) -> KeyPage:
    """List the keys, revoked ones too; of those for some agents alone an admin sees their own."""
    await keyring.refresh()
    before = PLACE.decode(cursor) if cursor else None
    own = [
        key
        for key in keyring.keys
        if caller.covers((), key.agents)
        and (before is None or (key.created_at, key.id) < tuple(before))
    ]
    page = own[:limit]
    has_more = len(own) > limit
    return KeyPage(
        [_fields(key) for key in page],
        PLACE.encode(page[-1].created_at, page[-1].id) if has_more else None,
    )


@router.post(
    "", status_code=201, operation_id="create_key",
    responses=_PROBLEMS
    | problems(KeyPast)
    | links(201, rotate_key={"id": "/id"}, revoke_key={"id": "/id"}),
)  # fmt: skip
async def post_key(keyring: TheKeyring, caller: TheCaller, request: KeyRequest) -> NewKey:
    """Make a key; nobody makes one that is good for more than their own. It is shown once."""
    scopes = [scope for scope in SCOPES if scope in request.scopes]
    if not caller.covers(scopes, request.agents):
        msg = "A key cannot be good for more than the one that it is made with."
        raise Forbidden(msg)
    if request.expires_at is not None and request.expires_at <= datetime.now(UTC):
        # As the first one it would shut out everybody, its maker too.
        raise KeyPast("expires_at lies in the past: no request would be let in by this key.")
    made = await keyring.create(
        request.name, scopes, request.agents, request.expires_at, origin=request.origin,
        memory_scopes=request.memory_scopes,
        **{name: getattr(request, name) for name in _BOUNDS},
    )  # fmt: skip
    return _new(*made)


@router.post(
    "/{id}/rotate", operation_id="rotate_key",
    responses=_PROBLEMS | problems(KeyNotFound, KeyEnded),
)  # fmt: skip
async def post_rotate(keyring: TheKeyring, caller: TheCaller, id: str) -> NewKey:  # noqa: A002 - the contract's name
    """Give a key another secret; the old one ends at once."""
    _check(keyring, caller, id)
    return _new(*await keyring.rotate(id))


@router.delete(
    "/{id}", status_code=204, operation_id="revoke_key",
    responses=_PROBLEMS | problems(KeyNotFound),
)  # fmt: skip
async def delete_key(keyring: TheKeyring, caller: TheCaller, id: str) -> Response:  # noqa: A002
    """End a key at once and for good, also for work that was asked for with it and waits."""
    _check(keyring, caller, id)
    await keyring.revoke(id)
    return Response(status_code=204)


def _check(keyring: Keyring, caller: TheCaller, key: str) -> None:
    """Raise KeyNotFound, and Forbidden for a key that is good for more than the caller's own."""
    one = keyring.named(key)
    if not caller.covers(one.scopes, one.agents):
        raise Forbidden("This key is good for more than yours: ask an admin who may as much.")


def _fields(key: Key) -> KeyFields:
    return KeyFields(
        key.id, key.name, list(key.scopes), _agents(key), key.created_at, key.expires_at,
        key.last_used_at, key.revoked_at, key.origin,
        None if key.memory_scopes is None else list(key.memory_scopes),
        **{name: getattr(key, name) for name in _BOUNDS},
    )  # fmt: skip


def _new(key: Key, secret: Secret) -> NewKey:
    return NewKey(key.id, str(secret), key.name, list(key.scopes), _agents(key), key.expires_at)


def _agents(key: Key) -> list[str] | None:
    return None if key.agents is None else list(key.agents)
