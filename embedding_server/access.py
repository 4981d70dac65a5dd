"""What a route may ask for: the served model, and whether the client may use it."""

from hmac import compare_digest
from typing import Annotated

from fastapi import Depends, Request

from embedding_server.errors import KeyRefused
from embedding_server.serving import ServedModel
from embedding_server.settings import Settings


def check_key(request: Request) -> None:
    """Raise KeyRefused unless the client sent the configured key, if one is configured."""
    settings: Settings = request.app.state.settings
    if settings.api_key is None:
        return
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not given:
        raise KeyRefused("You didn't provide an API key; send it as Authorization: Bearer KEY.")
    # Compared in constant time: the answer's delay must not tell how much of a guess was right.
    wanted = settings.api_key.get_secret_value().encode()
    # Headers arrive decoded as Latin-1; encoding them so gives back the bytes that were sent.
    if not compare_digest(given.strip(" ").encode("latin-1"), wanted):
        raise KeyRefused("Incorrect API key provided.")


def find_model(request: Request) -> ServedModel:
    """Return the served model, loaded or not."""
    model: ServedModel = request.app.state.model
    return model


def find_ready_model(request: Request) -> ServedModel:
    """Return the served model. Raises ModelUnavailable while it cannot answer."""
    model = find_model(request)
    model.check()
    return model


AnyModel = Annotated[ServedModel, Depends(find_model)]
ReadyModel = Annotated[ServedModel, Depends(find_ready_model)]
