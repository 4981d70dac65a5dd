"""`graph-memory mcp`: the memory as tools of MCP over stdin and stdout, for one client."""

import asyncio
from typing import Annotated

import typer

from service.client.passing import Remote
from service.client.sessions import PlaceOptions
from service.commands.connect import place_of
from service.commands.here import at_place
from service.commands.misused import Misused
from service.commands.terminal import begin
from service.mcp.loading import serve_stdio
from service.mcp.offered.table import offered
from service.settings import Settings


@at_place
def command(
    place: PlaceOptions,
    url: Annotated[
        str | None,
        typer.Option(help="Where the service is. Default: MEMORY_HOST and MEMORY_PORT."),
    ] = None,
) -> None:
    """Serve the memory as MCP tools over stdio; a client starts this. The key is MEMORY_API_KEY.

    What a call does not name is the project of the folder where the client started it.
    """
    settings = begin()
    asyncio.run(_serve(settings, url, place))


async def _serve(settings: Settings, url: str | None, place: PlaceOptions) -> None:
    offers = offered(settings.mcp_tools)
    key = settings.api_key.get_secret_value() if settings.api_key else None
    if url is not None and not url.startswith(("http://", "https://")):
        raise Misused("--url begins with http:// or https://.")
    at, transport = (url, None) if url else place_of(settings)
    remote = Remote(at, key, transport)
    try:
        await serve_stdio(remote, offers, place)
    finally:
        await remote.close()
