"""The API key: whoever has not sent it is refused before a byte of the body is read."""

from hmac import compare_digest

from fastapi import Request
from pydantic import SecretStr
from starlette.types import ASGIApp, Receive, Scope, Send

from embedding_server.errors import KeyRefused
from embedding_server.web.error_responses import render_error

OPEN_PATH = "/health"


class ApiKeyGuard:
    """Answers 401 to whoever has not sent the key, before a byte of the body is read."""

    def __init__(self, app: ASGIApp, key: SecretStr) -> None:
        self.app = app
        self.key = key.get_secret_value().encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through if it asks for the health or has the key."""
        if scope["type"] == "http" and scope["path"] != OPEN_PATH:
            refused = self._check(Request(scope).headers.get("authorization", ""))
            if refused is not None:
                await render_error(refused)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check(self, authorization: str) -> KeyRefused | None:
        scheme, _, given = authorization.partition(" ")
        if scheme.lower() != "bearer" or not given:
            return KeyRefused(
                "You didn't provide an API key; send it as Authorization: Bearer KEY."
            )
        # Compared in constant time: the answer's delay must not tell how much of a guess was
        # right. Headers arrive decoded as Latin-1; encoding them so gives back what was sent.
        if not compare_digest(given.strip(" ").encode("latin-1"), self.key):
            return KeyRefused("Incorrect API key provided.")
        return None
