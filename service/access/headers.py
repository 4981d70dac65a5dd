"""What a request's headers tell of who sent it: which host it means, which page, what body; pure.

Loopback is no boundary: a page in a browser of this machine reaches it, by a name that leads here
(DNS rebinding: Host), by forms that need no leave (Origin, Sec-Fetch-Site, Content-Type), and a
proxy makes strangers local (Forwarded, X-Forwarded-*).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Self
from urllib.parse import parse_qsl

from service.access.addresses import UNIX, is_any, is_loopback
from service.access.errors import (
    CodingUnknown,
    ForeignPage,
    HeadersRefused,
    KeyInUrl,
    MisdirectedRequest,
    NotJson,
)

# Nobody sends these twice who means one thing.
_ONCE: Final = ("host", "authorization", "content-type", "origin", "sec-fetch-site")
# What proxies and tunnels say of whom they speak for.
_PROXIED: Final = re.compile(
    r"forwarded|x-forwarded.*|x-real-ip|via|.*client-ip|.*connecting-ip|x-original-.*"
)
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/@\s]+)(?::(\d{1,5}))?")
_JSON: Final = re.compile(r"application/(?:[\w.+-]+\+)?json")
_CHARSET: Final = re.compile(r";\s*charset\s*=\s*\"?([\w-]+)", re.IGNORECASE)
# Names under which other services take a key in the URL.
_KEY_NAMES: Final = frozenset(
    {"key", "api_key", "apikey", "api-key", "token", "access_token", "authorization", "auth"}
)
_OWN_KEY: Final = re.compile(r"gm_[0-9a-f]{12}_")
_PAGES: Final = frozenset({"cross-site", "same-site"})

Headers = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Named:
    """The hosts and origins that are served beside loopback, in lower case."""

    hosts: frozenset[str]
    origins: frozenset[str]

    @classmethod
    def of(cls, host: str, hosts: Iterable[str], origins: Iterable[str]) -> Self:
        """Return those that settings name; the address that is listened on is one of them."""
        # An IPv6 address stands in brackets in a URL.
        own = () if host.startswith(UNIX) or is_any(host) else (host, f"[{host}]")
        every = frozenset(one.lower() for one in (*own, *hosts))
        return cls(every, frozenset(one.lower().rstrip("/") for one in origins))


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, list[str]]:
    """Return the values of each header by its name in lower case."""
    headers: dict[str, list[str]] = {}
    for name, value in raw:
        told = value.decode("latin-1").strip(" \t")
        headers.setdefault(name.decode("latin-1").lower(), []).append(told)
    return headers


def check_headers(headers: Headers, named: Named, *, is_unix: bool = False) -> None:
    """Raise an error of the door for what may not come in: it says what is wrong.

    HeadersRefused, MisdirectedRequest, ForeignPage, CodingUnknown or NotJson. Over a Unix socket
    (`is_unix`) a host means nothing: no browser speaks over one.
    """
    for name in _ONCE:
        if len(headers.get(name, ())) > 1:
            raise HeadersRefused(f"Send the header {name} once.")
    host = "".join(headers.get("host", ())).lower()
    if not is_unix:
        _check_host(host, named)
    _check_page(headers, host, named)
    _check_coding(headers)
    _check_body(headers)


def check_url(path: str, query: str) -> None:
    """Raise KeyInUrl for a key in a URL: those stand in logs, histories and other servers' logs."""
    given = parse_qsl(query, keep_blank_values=True)
    written = "\n".join((path, query, *chain.from_iterable(given)))
    if _KEY_NAMES.intersection(name.lower() for name, _ in given) or _OWN_KEY.search(written):
        raise KeyInUrl("A key has no place in a URL. Send it as: Authorization: Bearer gm_…")


def without_keys(path: str) -> str:
    """Return a path as an answer may repeat it: from a key on, nothing of it."""
    found = _OWN_KEY.search(path)
    return f"{path[: found.start()]}gm_…" if found else path


def needs_key(headers: Headers, address: str | None, *, is_unix: bool = False) -> bool:
    """Return whether a request may come from another machine: by its address, or by a proxy."""
    if any(_PROXIED.fullmatch(name) for name in headers):
        return True
    return not is_unix and not is_loopback(address or "")


def _check_host(host: str, named: Named) -> None:
    found = _HOST.fullmatch(host)
    if found is None or not (is_loopback(found[1]) or {host, found[1]} & named.hosts):
        msg = (
            "This service does not answer under that name. Ask at 127.0.0.1, or name the host in "
            "MEMORY_ALLOWED_HOSTS."
        )
        raise MisdirectedRequest(msg)


def _check_page(headers: Headers, host: str, named: Named) -> None:
    """Refuse what a page of another origin sends, whatever it is: it could read or change."""
    origin = "".join(headers.get("origin", ())).lower()
    if origin:
        if origin in named.origins or origin in {f"http://{host}", f"https://{host}"}:
            return
        msg = "Pages of other origins may not ask. Name yours in MEMORY_ALLOWED_ORIGINS."
        raise ForeignPage(msg)
    if "".join(headers.get("sec-fetch-site", ())).lower() in _PAGES:
        msg = "A page of another site sent this. Type the address, or ask without a browser."
        raise ForeignPage(msg)


def _check_coding(headers: Headers) -> None:
    """Refuse what the server took apart only by half: `gzip, chunked` as chunks of JSON."""
    codings = headers.get("transfer-encoding", ["chunked"])
    if [one.lower() for one in codings] != ["chunked"]:
        raise CodingUnknown("Of transfer codings chunked alone is read here; send the body so.")


def _check_body(headers: Headers) -> None:
    length = "".join(headers.get("content-length", ()))
    if length in {"", "0"} and "transfer-encoding" not in headers:
        return
    told = "".join(headers.get("content-type", ()))
    kind = told.partition(";")[0].strip().lower()
    charset = _CHARSET.search(told)
    if not _JSON.fullmatch(kind) or (charset and charset[1].lower() not in {"utf-8", "utf8"}):
        raise NotJson("Send JSON in UTF-8, with Content-Type: application/json.")
    if {one.lower() for one in headers.get("content-encoding", ())} - {"identity"}:
        raise NotJson("Send the body as it is, without Content-Encoding: nothing is unpacked here.")
