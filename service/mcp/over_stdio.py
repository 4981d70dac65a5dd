"""The MCP server over stdin and stdout, for a service that is asked over HTTP."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server

from service.client.endpoints import AsyncGraphMemory
from service.client.passing import Remote
from service.client.sessions import PlaceOptions
from service.mcp.offered.offer import Offer
from service.mcp.over_http import client_name
from service.mcp.server import MemoryServer


async def serve(remote: Remote, offers: tuple[Offer, ...], place: PlaceOptions) -> None:
    """Serve until stdin ends; a service that is away is told by each tool, and asked again."""
    logging.getLogger("mcp").setLevel(logging.WARNING)

    @asynccontextmanager
    async def connect(context: ServerRequestContext[Any, Any]) -> AsyncIterator[AsyncGraphMemory]:
        async with remote.connect(client_name(context)) as memory:
            yield memory

    server = MemoryServer(offers, connect, place).build()
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
