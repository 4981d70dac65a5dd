"""The key of a program whose sessions are remembered: whether it needs one, its making, its end."""

import platform
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from service.client.endpoints import AsyncGraphMemory
from service.client.errors import ClientError, Problem
from service.commands.connect import connect, url_of
from service.commands.connections import Connection
from service.commands.terminal import console
from service.errors import InvalidRequest, ServiceError
from service.settings import Settings

LEAST: Final = ("read", "write")
_PAGE_KEYS: Final = 1000
_REFUSALS: Final = frozenset({401, 403})


async def needs_key(connection: Connection, agents: Sequence[str | None]) -> bool:
    """Return whether the service asks for a key that the connection has not, for all agents.

    Raises InvalidRequest where no service answers.
    """
    try:
        async with AsyncGraphMemory(connection.url, key=connection.key) as memory:
            for agent in agents:
                await memory.list_clients(agent=agent)
    except Problem as problem:
        if problem.status not in _REFUSALS:
            raise
        return True
    except ClientError as error:
        raise InvalidRequest(error.detail) from error
    return False


async def with_key(
    settings: Settings, name: str, connection: Connection, agents: list[str]
) -> Connection:
    """Return the connection with a new key that is good for these agents' memories alone.

    It is made where the connection leads: a service elsewhere is asked with MEMORY_API_KEY.
    """
    try:
        async with _keyring(settings, connection.url) as memory:
            made = await memory.create_key(key_name(name), scopes=list(LEAST), agents=agents)
    except (ServiceError, ClientError) as error:
        msg = f"A key is needed, and none could be made: {error.detail}"
        if connection.url != url_of(settings):
            msg += f" Set MEMORY_API_KEY to a key of {connection.url} that is good for admin."
        raise InvalidRequest(msg) from error
    return replace(connection, key=made["key"], key_id=made["id"])


async def end_key(settings: Settings, url: str, key: str | None, name: str | None) -> bool:
    """End a key, or those of a name, where `url` leads; returns whether they have ended.

    Where it may not, that is said and the rest goes on.
    """
    try:
        async with _keyring(settings, url) as memory:
            keys = [key] if key else []
            if name is not None:
                keys = [one async for one in _keys_of(memory, name)]
            for one in keys:
                await memory.revoke_key(one)
    except (ServiceError, ClientError) as error:
        told = f"The key could not be ended: {error.detail} `graph-memory keys revoke` does it."
        console.print(told, highlight=False, markup=False)
        return False
    return True


@asynccontextmanager
async def _keyring(settings: Settings, url: str) -> AsyncIterator[AsyncGraphMemory]:
    """Yield a client of the service that an address leads to, with the settings' own key."""
    if url == url_of(settings):
        async with connect(settings) as memory:
            yield memory
        return
    key = settings.api_key.get_secret_value() if settings.api_key else None
    async with AsyncGraphMemory(url, key=key) as memory:
        yield memory


async def _keys_of(memory: AsyncGraphMemory, name: str) -> AsyncIterator[str]:
    """Yield the ids of all keys of a name that are still good."""
    cursor: str | None = None
    while True:
        page = await memory.list_keys(limit=_PAGE_KEYS, cursor=cursor)
        for one in page["keys"]:
            if one["name"] == name and not one["revoked_at"]:
                yield one["id"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def key_name(program: str) -> str:
    """Return what a program's key is called on this machine."""
    return f"{program} on {platform.node()}"[:100]
