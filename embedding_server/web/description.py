"""/openapi.json: the description of the API, with the bounds of the model that is served."""

from copy import deepcopy
from typing import Any, Final

from fastapi import FastAPI

from embedding_server.encoder import ModelCard
from embedding_server.errors import ModelUnavailable
from embedding_server.prompts import INSTRUCTED
from embedding_server.serving.served_model import ServedModel

_NULL: Final = {"type": "null"}


def describe_model(app: FastAPI, model: ServedModel) -> None:
    """Tell in the description what this model takes, as soon as it is loaded."""
    told_of_any = app.openapi

    def openapi() -> dict[str, Any]:
        description = deepcopy(told_of_any())
        try:
            card = model.card
        except ModelUnavailable:
            return description
        _bound(description["components"]["schemas"]["EmbeddingRequest"], card)
        return description

    app.openapi = openapi  # type: ignore[method-assign]


def _bound(request: dict[str, Any], card: ModelCard) -> None:
    fields = request["properties"]
    fields["dimensions"]["anyOf"][0] |= {
        "minimum": card.min_dimensions, "maximum": card.dimensions,
    }  # fmt: skip
    if INSTRUCTED.match(card.prompts.query) is None:
        fields["instruction"]["anyOf"] = [_NULL]
        return
    request["anyOf"] = [
        {"properties": {"instruction": _NULL}},
        {"properties": {"input_type": {"enum": ["query", None]}}},
    ]
