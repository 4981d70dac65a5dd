"""Who may ask, by which name, and the parts of the app that answer."""

from dataclasses import dataclass
from hmac import compare_digest
from typing import Annotated

from fastapi import Depends, Request
from pydantic import SecretStr
from starlette.types import ASGIApp, Receive, Scope, Send

from embedding_server.encoders.encoder import ModelCard
from embedding_server.errors import KeyRefused, UnknownModel
from embedding_server.instruments import Instruments
from embedding_server.scheduling.admission import Admission
from embedding_server.serving.served_model import ServedModel
from embedding_server.settings import Settings
from embedding_server.web.error_responses import render_error

OPEN_PATH = "/health"
# Some clients leave the name of the provider in front of the model's.
PROVIDER = "openai/"


class KeyGuard:
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


@dataclass(frozen=True, slots=True)
class Parts:
    """What answers a request."""

    settings: Settings
    instruments: Instruments
    admission: Admission
    model: ServedModel


# The framework would run a plain function in a thread, which costs more than the function.
async def find_model(request: Request) -> ServedModel:
    """Return the served model, loaded or not."""
    parts: Parts = request.app.state.parts
    return parts.model


async def find_ready_parts(request: Request) -> Parts:
    """Return the parts of the app. Raises ModelUnavailable while the model cannot answer."""
    parts: Parts = request.app.state.parts
    parts.model.check()
    return parts


def check_name(name: str, card: ModelCard, settings: Settings) -> None:
    """Raise UnknownModel unless the model is served by this name."""
    for known in (name, name.removeprefix(PROVIDER)):
        if card.answers_to(known) or known in settings.alias_names:
            return
    raise UnknownModel(
        f"The model '{name}' does not exist here; this server serves '{card.name}'.",
        param="model",
    )


AnyModel = Annotated[ServedModel, Depends(find_model)]
ReadyParts = Annotated[Parts, Depends(find_ready_parts)]
