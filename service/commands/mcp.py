"""`graph-memory mcp`: the memory as tools of MCP over stdin and stdout, for one client."""

import asyncio
import signal
import sys
from typing import Annotated

import typer

from service.client.passing import Remote
from service.client.sessions import PlaceOptions
from service.commands.connect import place_of
from service.commands.given_options import web_address
from service.commands.here import at_place
from service.commands.terminal import begin, console
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
    if sys.stdin.isatty():
        console.print("A program that speaks MCP starts this; Ctrl-C ends it.", highlight=False)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # A thread waits for the next line: asked to end in order, it would wait on.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(_serve(settings, url, place))


async def _serve(settings: Settings, url: str | None, place: PlaceOptions) -> None:
    offers = offered(settings.mcp_tools)
    key = settings.api_key.get_secret_value() if settings.api_key else None
    at, transport = (web_address(url), None) if url is not None else place_of(settings)
    remote = Remote(at, key, transport)
    try:
        await serve_stdio(remote, offers, place)
    finally:
        await remote.close()
