"""GET /v1/models: the one model that is served."""

import time

from fastapi import APIRouter

from embedding_server.access import ReadyModel
from embedding_server.encoders.encoder import ModelCard
from embedding_server.errors import UnknownModel
from embedding_server.protocol import Model, ModelList

router = APIRouter(tags=["models"])

# OpenAI's field tells when a model was made. No file says so; the start of the process is stable.
STARTED_AT = int(time.time())


@router.get("/models", summary="List the served model")
async def get_models(model: ReadyModel) -> ModelList:
    """Answer with a list of one."""
    return ModelList(data=[_describe(model.card)])


@router.get("/models/{name:path}", summary="Describe the served model")
async def get_model(name: str, model: ReadyModel) -> Model:
    """Answer with the model of this name; names may contain slashes."""
    if not model.card.answers_to(name):
        raise UnknownModel(f"The model '{name}' does not exist here.", param="model")
    return _describe(model.card)


def _describe(card: ModelCard) -> Model:
    return Model(
        id=card.name,
        created=STARTED_AT,
        dimensions=card.dimensions,
        min_dimensions=card.min_dimensions,
        max_model_len=card.max_tokens,
        query_prompt=card.prompts.query,
    )
