"""GET /v1/models: the one model that is served, under each of its names."""

import time

from fastapi import APIRouter

from embedding_server.encoder import ModelCard
from embedding_server.web.dependencies import PROVIDER, ReadyParts, check_name
from embedding_server.web.protocol import Model, ModelList

router = APIRouter(tags=["models"])

# OpenAI's field tells when a model was made. No file says so; the start of the process is stable.
STARTED_AT = int(time.time())


@router.get("/models", summary="List the served model")
async def get_models(parts: ReadyParts) -> ModelList:
    """Answer with the model's own name first, then the aliases that the settings give it."""
    card = parts.model.card
    names = [card.name, *sorted(parts.settings.alias_names - {card.name})]
    return ModelList(data=[_describe(card, name) for name in names])


@router.get("/models/{name:path}", summary="Describe the served model")
async def get_model(name: str, parts: ReadyParts) -> Model:
    """Answer with the model under its listed name; names may contain slashes."""
    check_name(name, parts.model.card, parts.settings)
    alias = name.removeprefix(PROVIDER)
    is_listed = alias in parts.settings.alias_names
    return _describe(parts.model.card, alias if is_listed else parts.model.card.name)


def _describe(card: ModelCard, name: str) -> Model:
    return Model(
        id=name,
        created=STARTED_AT,
        dimensions=card.dimensions,
        min_dimensions=card.min_dimensions,
        max_model_len=card.max_tokens,
        query_prompt=card.prompts.query,
    )
