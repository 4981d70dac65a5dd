"""/openapi.json: the description of the API, with the bounds of the model that is served."""

from copy import deepcopy
from typing import Any, Final

from embedding_server.encoder import ModelCard
from embedding_server.errors import ModelUnavailable
from embedding_server.prompts import INSTRUCTED
from embedding_server.serving.served_model import ServedModel

_NULL: Final = {"type": "null"}


def describe_model(description: dict[str, Any], model: ServedModel) -> dict[str, Any]:
    """Return the description with what this model takes, as soon as it is loaded."""
    try:
        card = model.card
    except ModelUnavailable:
        return description
    bounded = deepcopy(description)
    _bound(bounded["components"]["schemas"]["EmbeddingRequest"], card)
    return bounded


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
