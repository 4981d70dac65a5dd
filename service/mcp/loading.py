"""Loads what speaks MCP when it is first spoken: 0.4 s and 20 MB that nobody else has to pay."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.client.passing import App, Remote
    from service.client.sessions import PlaceOptions
    from service.mcp import over_http
    from service.mcp.offered.offer import Offer


def load_http(app: "App", offers: "tuple[Offer, ...]", most_bytes: int) -> "over_http.HttpServer":
    """Return the server for /mcp."""
    loaded: type[over_http.HttpServer] = import_module("service.mcp.over_http").HttpServer
    return loaded(app, offers, most_bytes)


async def serve_stdio(remote: "Remote", offers: "tuple[Offer, ...]", place: "PlaceOptions") -> None:
    """Serve over stdin and stdout."""
    serve = import_module("service.mcp.over_stdio").serve
    await serve(remote, offers, place)
