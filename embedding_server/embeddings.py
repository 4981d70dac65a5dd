"""POST /v1/embeddings: texts in, vectors out."""

from base64 import b64encode
from dataclasses import dataclass

import orjson
from fastapi import APIRouter, Response

from embedding_server.access import ReadyModel
from embedding_server.encoders.encoder import ModelCard
from embedding_server.errors import EmbeddingFailed, InputTooLong, InvalidRequest, UnknownModel
from embedding_server.protocol import EmbeddingList, EmbeddingRequest
from embedding_server.serving import ServedModel
from embedding_server.vectors import Vectors, find_unusable, shorten

router = APIRouter(tags=["embeddings"])


@dataclass(frozen=True, slots=True)
class Tokenized:
    """The texts of a request as token ids, none too long, and which of them were cut."""

    tokens: list[list[int]]
    truncated: list[int]


@router.post(
    "/embeddings",
    response_model=None,
    responses={200: {"model": EmbeddingList}},
    summary="Make a vector of each text",
)
async def post_embeddings(asked: EmbeddingRequest, model: ReadyModel) -> Response:
    """Answer with one unit-length vector for each text, in the order of the texts."""
    card = model.card
    if not card.answers_to(asked.model):
        raise UnknownModel(
            f"The model '{asked.model}' does not exist here; this server serves '{card.name}'.",
            param="model",
        )
    dimensions = _choose_dimensions(asked.dimensions, card)
    tokenized = await _tokenize(asked, model, card)
    raw = await model.embed(tokenized.tokens)
    vectors = shorten(raw, dimensions)
    if unusable := find_unusable(vectors):
        raise EmbeddingFailed(
            f"The vector of input[{unusable[0]}] has no direction in {dimensions} dimensions.",
            param="input",
        )
    body = render_embeddings(vectors, tokenized, card.name, asked.encoding_format == "base64")
    return Response(body, media_type="application/json")


def render_embeddings(vectors: Vectors, tokenized: Tokenized, model: str, is_base64: bool) -> bytes:
    """Return the JSON of an answer; the numbers never become Python objects."""
    little_endian = vectors.astype("<f4", copy=False)
    used = sum(len(tokens) for tokens in tokenized.tokens)
    answer: dict[str, object] = {
        "object": "list",
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": b64encode(vector.tobytes()).decode() if is_base64 else vector,
            }
            for index, vector in enumerate(little_endian)
        ],
        "model": model,
        "usage": {"prompt_tokens": used, "total_tokens": used},
    }
    if tokenized.truncated:
        answer["truncated"] = tokenized.truncated
    return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)


def _choose_dimensions(wanted: int | None, card: ModelCard) -> int:
    if wanted is None:
        return card.dimensions
    if card.min_dimensions <= wanted <= card.dimensions:
        return wanted
    allowed = f"{card.min_dimensions} to {card.dimensions}"
    if card.min_dimensions == card.dimensions:
        allowed = f"only {card.dimensions}"
    raise InvalidRequest(
        f"'dimensions' is {wanted}, but {card.name} gives {allowed}.", param="dimensions"
    )


async def _tokenize(asked: EmbeddingRequest, model: ServedModel, card: ModelCard) -> Tokenized:
    prompt = card.prompts.choose(asked.input_type, asked.instruction)
    texts = [prompt + text for text in asked.texts]
    tokens = await model.tokenize(texts)
    too_long = [row for row, ids in enumerate(tokens) if len(ids) > card.max_tokens]
    if not too_long:
        return Tokenized(tokens, truncated=[])
    if not asked.truncate:
        first = too_long[0]
        raise InputTooLong(
            f"'input[{first}]' has {len(tokens[first])} tokens with prompt and special tokens; "
            f'{card.name} takes at most {card.max_tokens}. Shorten it, or send "truncate": true.',
            param="input",
        )
    cut = await model.tokenize([texts[row] for row in too_long], card.max_tokens)
    for row, ids in zip(too_long, cut, strict=True):
        tokens[row] = ids
    return Tokenized(tokens, truncated=too_long)
