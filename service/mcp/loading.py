"""Loads what MCP offers and what speaks it when it is first spoken: nobody else has to pay.

Speaking takes 0.4 s and 20 MB.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.client.passing import App, Remote
    from service.client.sessions import PlaceOptions
    from service.mcp import over_http
    from service.mcp.offered.offer import Offer


def load_offers(chosen: Sequence[str]) -> "tuple[Offer, ...]":
    """Return the tools that are always offered and those chosen; raises CannotStart for others."""
    offers: tuple[Offer, ...] = import_module("service.mcp.offered.table").offered(chosen)
    return offers


def load_http(app: "App", chosen: Sequence[str], most_bytes: int) -> "over_http.HttpServer":
    """Return the server for /mcp."""
    loaded: type[over_http.HttpServer] = import_module("service.mcp.over_http").HttpServer
    return loaded(app, load_offers(chosen), most_bytes)


async def serve_stdio(remote: "Remote", offers: "tuple[Offer, ...]", place: "PlaceOptions") -> None:
    """Serve over stdin and stdout."""
    serve = import_module("service.mcp.over_stdio").serve
    await serve(remote, offers, place)
