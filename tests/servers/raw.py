"""A client that speaks HTTP by the byte: slowly, by halves, or not at all."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

_PATIENCE_SECONDS = 20.0


class RawClient:
    """One connection; what is sent goes out as it is."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def send(self, words: str | bytes) -> None:
        """Send bytes, or text as ASCII."""
        self._connection.sendall(words.encode("ascii") if isinstance(words, str) else words)

    def _receive(self) -> bytes:
        """Return the next bytes; empty once the server has closed."""
        try:
            return self._connection.recv(65_536)
        except ConnectionResetError:
            return b""

    def receive_until(self, end: bytes) -> bytes:
        """Return all that comes until it holds these bytes: TCP may deliver an answer in parts.

        Less, if the server closes before.
        """
        said = part = self._receive()
        while part and end not in said:
            part = self._receive()
            said += part
        return said

    def until_closed(self) -> tuple[bytes, float]:
        """Return all that comes until the server closes, and after how many seconds it does."""
        begun, parts = time.monotonic(), [self._receive()]
        while parts[-1]:
            parts.append(self._receive())
        return b"".join(parts), time.monotonic() - begun


@contextmanager
def raw_client(url: str, buffer_bytes: int | None = None) -> Iterator[RawClient]:
    """Connect; the smaller the buffer, the sooner a server notices that nobody reads."""
    address = httpx.URL(url)
    with socket.socket() as connection:
        if buffer_bytes is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        connection.settimeout(_PATIENCE_SECONDS)
        connection.connect((address.host, address.port))
        yield RawClient(connection)
