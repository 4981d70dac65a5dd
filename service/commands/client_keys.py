"""The key of a program whose sessions are remembered: whether it needs one, its making, its end."""

import platform
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from service.client.endpoints import AsyncGraphMemory
from service.client.errors import ClientError, Problem
from service.commands.connect import connect
from service.commands.connections import Connection
from service.commands.terminal import console
from service.errors import InvalidRequest, ServiceError
from service.settings import Settings

LEAST: Final = ("read", "write")
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
    """Return the connection with a new key that is good for these agents' memories alone."""
    try:
        async with connect(settings) as memory:
            made = await memory.create_key(key_name(name), scopes=list(LEAST), agents=agents)
    except (ServiceError, ClientError) as error:
        msg = f"A key is needed, and none could be made: {error.detail}"
        raise InvalidRequest(msg) from error
    return replace(connection, key=made["key"], key_id=made["id"])


async def end_key(settings: Settings, key: str | None, name: str | None) -> None:
    """End a key, or those of a name; where it may not, that is said and the rest goes on."""
    try:
        async with connect(settings) as memory:
            keys = [key] if key else []
            if name is not None:
                listed = (await memory.list_keys(limit=1000))["keys"]
                keys = [
                    one["id"] for one in listed if one["name"] == name and not one["revoked_at"]
                ]
            for one in keys:
                await memory.revoke_key(one)
    except (ServiceError, ClientError) as error:
        told = f"The key could not be ended: {error.detail} `graph-memory keys revoke` does it."
        console.print(told, highlight=False, markup=False)


def key_name(program: str) -> str:
    """Return what a program's key is called on this machine."""
    return f"{program} on {platform.node()}"[:100]
