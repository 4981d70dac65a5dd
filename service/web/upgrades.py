"""Requests that offer to go on in another protocol: none is spoken, so each is one of HTTP/1.1.

`curl --http2` and Java's client offer h2c with every first request (RFC 9110, 7.8). httptools takes
what follows the headers of such a request for the other protocol, and uvicorn drops it: its body.
"""

import sys

from httptools import HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_OFFER = b"upgrade"


class PlainHttp(HttpToolsProtocol):
    """uvicorn's HTTP, in which what offers another protocol is read once more without the offer."""

    _fed = b""
    _again = b""

    def data_received(self, data: bytes) -> None:
        """Read requests; one after the other where each makes an offer."""
        rest = data
        while rest:
            self._fed, self._again = rest, b""
            super().data_received(rest)
            rest = self._again

    def _should_upgrade(self) -> bool:
        """Whether a request makes an offer: then uvicorn begins none, and asks for the upgrade."""
        return any(name == _OFFER for name, _ in self.headers)

    def handle_websocket_upgrade(self) -> None:
        """Have the request read once more, without the offer.

        By a new parser, as uvicorn makes one: after `Connection: Upgrade, close` this one is done.
        """
        stopped = sys.exception()
        assert stopped is not None  # noqa: S101 - uvicorn asks where httptools raises
        version = self.parser.get_http_version()
        lines = [f"{self.scope['method']} ".encode() + self.url + f" HTTP/{version}".encode()]
        lines += [name + b": " + value for name, value in self.headers if name != _OFFER]
        self.parser = HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._again = b"\r\n".join([*lines, b"", b""]) + self._fed[stopped.args[0] :]
