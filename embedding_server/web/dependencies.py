"""What routes are given: the parts of the app that answer, and the check of a model's name."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from embedding_server.encoder import ModelCard
from embedding_server.errors import UnknownModel
from embedding_server.instruments import Instruments
from embedding_server.scheduling.admission import Admission
from embedding_server.serving.served_model import ServedModel
from embedding_server.settings import Settings

# Some clients leave the name of the provider in front of the model's.
PROVIDER = "openai/"


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
