"""What headers may come in at a door, as a table, and a line to ask over byte by byte."""

import itertools
import re
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

Headers = Sequence[tuple[str, str]]

# `*` stands for the port. None: no such header.
HOSTS: Final[Mapping[str | None, bool]] = {
    "127.0.0.1:*": True, "localhost:*": True, "LOCALHOST": True, "[::1]:*": True, "127.8.8.8": True,
    "evil.example": False, "evil.example:*": False, "127.0.0.1.evil.example": False,
    "localhost.evil.example": False, "localhost.": False, ".".join("0000"): False, "[::]": False,
    "127.0.0.1@evil.example": False, "127.0.0.1:* ,evil": False, "192.168.1.9:*": False,
    "169.254.169.254": False, "": False, None: False,
}  # fmt: skip
ORIGINS: Final[Mapping[str | None, bool]] = {
    None: True, "http://127.0.0.1:*": True, "http://evil.example": False, "null": False,
    "http://localhost:3000": False, "http://127.0.0.1": False, "https://evil.example:*": False,
    "file://": False, "http://127.0.0.1:*.evil.example": False,
}  # fmt: skip
SITES: Final[Mapping[str | None, bool]] = {
    None: True, "none": True, "same-origin": True, "same-site": False, "cross-site": False,
    "CROSS-SITE": False,
}  # fmt: skip
BODY = b'{"no such field": 1}'
# By the type of a body: whether it is taken; "-" is no body at all.
TYPES: Final[Mapping[str | None, bool]] = {
    "-": True, "application/json": True, "application/json; charset=utf-8": True,
    "application/merge-patch+json": True, "Application/JSON": True, None: False,
    "text/plain": False, "text/plain;application/json": False, "text/json": False,
    "application/x-www-form-urlencoded": False, "multipart/form-data; boundary=x": False,
    "application/json; charset=utf-16": False, "application/jsonp": False,
}  # fmt: skip
GOOD = ("127.0.0.1:*", None, None, "-")
REFUSED = {400, 401, 403, 415, 421}


class Line:
    """One connection that is kept: requests byte by byte, answers by their status."""

    def __init__(self, url: str) -> None:
        self.port = int(url.rpartition(":")[2])
        self._socket = self._connected()

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _first_bytes(self, sent: bytes) -> bytes:
        """Send; once more on a new connection, where the last answer ended the old one.

        A server that ends it resets it, and may do so amid the head of its answer.
        """
        with suppress(ConnectionError):
            if head := self._head_of(sent):
                return head
        self._socket.close()
        self._socket = self._connected()
        return self._head_of(sent)

    def _head_of(self, sent: bytes) -> bytes:
        """Send, and return what comes, at least all of the head; nothing of an ended connection."""
        self._socket.sendall(sent)
        head = b""
        while b"\r\n\r\n" not in head:
            part = self._socket.recv(65536)
            assert part or not head, head
            if not part:
                break
            head += part
        return head

    def _connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def ask(self, method: str, path: str, headers: Headers, body: bytes = b"") -> int:
        """Send a request as it is told, and return the status of its answer."""
        told = [f"{name}: {value.replace('*', str(self.port))}" for name, value in headers]
        lines = [f"{method} {path} HTTP/1.1", *told]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        sent = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
        head = self._first_bytes(sent)
        assert head
        head, _, rest = head.partition(b"\r\n\r\n")
        size = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        left = (int(size[1]) if size and method != "HEAD" else 0) - len(rest)
        while left > 0:
            left -= len(self._socket.recv(65536))
        return int(head.split(b" ", 2)[1])


def headers_of(host: str | None, origin: str | None, site: str | None, kind: str | None) -> Headers:
    told = [("Host", host), ("Origin", origin), ("Sec-Fetch-Site", site)]
    told.append(("Content-Type", None if kind == "-" else kind))
    return [(name, value) for name, value in told if value is not None]


def expected(host: str | None, origin: str | None, site: str | None, kind: str | None) -> int:
    """Return the refusal that these headers must meet; 0 for none."""
    if not HOSTS[host]:
        return 421
    # The own origin is that of the host which was asked.
    is_own = origin is not None and origin == f"http://{host}"
    if not (ORIGINS[origin] and (origin is None or is_own)):
        return 403
    if not is_own and not SITES[site]:
        return 403
    return 0 if TYPES[kind] else 415


def pairs() -> list[tuple[str | None, str | None, str | None, str | None]]:
    """Return every pair of two headers' values, the others being as they should."""
    axes: tuple[list[str | None], ...] = (list(HOSTS), list(ORIGINS), list(SITES), list(TYPES))
    every = set()
    for one, other in itertools.combinations(range(4), 2):
        for first, second in itertools.product(axes[one], axes[other]):
            chosen = list(GOOD)
            chosen[one], chosen[other] = first, second
            every.add(tuple(chosen))
    return sorted(every, key=str)  # type: ignore[arg-type]
