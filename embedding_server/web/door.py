"""The door: requests under another host's name, of another origin's page or in no JSON stay out.

Loopback is no boundary: a page in a browser of this machine reaches it, by a name that leads here
(Host), or by forms that need no leave (Origin, Sec-Fetch-Site, Content-Type); a proxy makes
strangers local (Forwarded, X-Forwarded-*).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address

from starlette.types import ASGIApp, Receive, Scope, Send

from embedding_server.errors import (
    ApiError,
    ForeignPage,
    InvalidRequest,
    KeyRefused,
    MisdirectedRequest,
    NotJson,
)
from embedding_server.settings import Settings
from embedding_server.web.api_key import OPEN_PATH
from embedding_server.web.error_responses import render_error

# Nobody sends these twice who means one thing.
ONCE = ("host", "authorization", "content-type", "origin", "sec-fetch-site")
# What proxies and tunnels say of whom they speak for.
PROXIED = re.compile(
    r"forwarded|x-forwarded.*|x-real-ip|via|.*client-ip|.*connecting-ip|x-original-.*"
)
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/@\s]+)(?::\d{1,5})?")
JSON = re.compile(r"application/(?:[\w.+-]+\+)?json")
CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w-]+)", re.IGNORECASE)

Headers = Mapping[str, Sequence[str]]


class Door:
    """Answers 400, 401, 403, 415 or 421 before a byte of the body is read."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.hosts = settings.host_names
        self.has_key = settings.api_key is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or say why not."""
        if scope["type"] == "http":
            try:
                self._check(scope)
            except ApiError as error:
                await render_error(error)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        headers = read_headers(scope["headers"])
        for name in ONCE:
            if len(headers.get(name, ())) > 1:
                raise InvalidRequest(f"Send the header {name} once.")
        host = "".join(headers.get("host", ())).lower()
        check_host(host, self.hosts)
        check_page(headers, host)
        check_body(headers)
        address = scope["client"][0] if scope.get("client") else ""
        is_local = is_loopback(address) and not any(map(PROXIED.fullmatch, headers))
        if not (self.has_key or is_local or scope["path"] == OPEN_PATH):
            raise KeyRefused("Requests from other machines need a key: set EMBEDDING_API_KEY.")


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, list[str]]:
    """Return the values of each header by its name in lower case."""
    headers: dict[str, list[str]] = {}
    for name, value in raw:
        told = value.decode("latin-1").strip(" \t")
        headers.setdefault(name.decode("latin-1").lower(), []).append(told)
    return headers


def is_loopback(host: str) -> bool:
    """Return whether this machine alone is meant; of names only localhost is."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_host(host: str, allowed: frozenset[str]) -> None:
    """Raise MisdirectedRequest unless it is loopback or allowed, with a port or without."""
    found = HOST.fullmatch(host)
    if found is None or not (is_loopback(found[1]) or {host, found[1]} & allowed):
        raise MisdirectedRequest(
            "This server does not answer under that name. Ask at 127.0.0.1, or name the host in "
            "EMBEDDING_ALLOWED_HOSTS."
        )


def check_page(headers: Headers, host: str) -> None:
    """Raise ForeignPage for what a page of another origin sends; no page has business here."""
    origin = "".join(headers.get("origin", ())).lower()
    is_own = origin in {f"http://{host}", f"https://{host}"}
    site = "".join(headers.get("sec-fetch-site", ())).lower()
    if (origin and not is_own) or (not origin and site in {"cross-site", "same-site"}):
        raise ForeignPage("Pages of other origins may not ask. Ask without a browser.")


def check_body(headers: Headers) -> None:
    """Raise NotJson for a body of another type: those a page may send unasked."""
    length = "".join(headers.get("content-length", ()))
    if length in {"", "0"} and "transfer-encoding" not in headers:
        return
    told = "".join(headers.get("content-type", ()))
    charset = CHARSET.search(told)
    is_json = JSON.fullmatch(told.partition(";")[0].strip().lower())
    if not is_json or (charset and charset[1].lower() not in {"utf-8", "utf8"}):
        raise NotJson("Send JSON in UTF-8, with Content-Type: application/json.")
