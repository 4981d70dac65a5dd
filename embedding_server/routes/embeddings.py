"""POST /v1/embeddings: texts in, vectors out."""

from base64 import b64encode
from functools import partial

import orjson
from fastapi import APIRouter, Request, Response

from embedding_server.encoder import ModelCard
from embedding_server.errors import EmbeddingFailed, InvalidRequest
from embedding_server.vectors import Vectors, find_unusable, shorten
from embedding_server.web.dependencies import Parts, ReadyParts, check_name
from embedding_server.web.disconnects import finish_unless_disconnected
from embedding_server.web.inputs import PreparedTexts, Tokenized, prepare_texts, tokenize_texts
from embedding_server.web.large_bodies import LargeJsonRoute, run_by_size
from embedding_server.web.protocol import EmbeddingList, EmbeddingRequest
from embedding_server.web.request_log import note_input

router = APIRouter(tags=["embeddings"], route_class=LargeJsonRoute)


@router.post(
    "/embeddings",
    response_model=None,
    responses={200: {"model": EmbeddingList}},
    summary="Make a vector of each text",
)
async def post_embeddings(request: Request, asked: EmbeddingRequest, parts: ReadyParts) -> Response:
    """Answer with one unit-length vector for each text, in the order of the texts."""
    body = await finish_unless_disconnected(_answer(asked, parts), request.receive)
    return Response(body, media_type="application/json")


async def _answer(asked: EmbeddingRequest, parts: Parts) -> bytes:
    card, timing = parts.model.card, parts.instruments.stage_seconds
    check_name(asked.model, card, parts.settings)
    dimensions = _choose_dimensions(asked.dimensions, card)
    prepared = prepare_texts(asked, card, truncate=parts.settings.truncate)
    parts.instruments.request_texts.observe(len(prepared.texts))
    tokenized, raw = await _embed(prepared, parts)
    with timing.labels("render").time():
        is_base64 = asked.encoding_format == "base64"
        render = partial(_render, raw, dimensions, tokenized, card.name, is_base64=is_base64)
        return await run_by_size(raw.nbytes, render)


async def _embed(prepared: PreparedTexts, parts: Parts) -> tuple[Tokenized, Vectors]:
    """Return the texts' tokens and raw vectors; they count as waiting until then."""
    texts = len(prepared.texts)
    note_input(texts, tokens=0)
    with parts.admission.admit(texts) as permit:
        with parts.instruments.stage_seconds.labels("tokenize").time():
            limit = parts.settings.max_request_tokens
            tokenized = await tokenize_texts(prepared, parts.model, limit, permit)
        note_input(texts, tokenized.used)
        return tokenized, await parts.model.embed(tokenized.tokens)


def _render(
    raw: Vectors, dimensions: int, tokenized: Tokenized, model: str, *, is_base64: bool
) -> bytes:
    vectors = shorten(raw, dimensions)
    if unusable := find_unusable(vectors):
        raise EmbeddingFailed(
            f"The vector of input[{unusable[0]}] has no direction in {dimensions} dimensions.",
            param="input",
        )
    return render_embeddings(vectors, tokenized, model, is_base64=is_base64)


def render_embeddings(
    vectors: Vectors, tokenized: Tokenized, model: str, *, is_base64: bool
) -> bytes:
    """Return the JSON of an answer; the numbers never become Python objects.

    Row by row: other threads run in between, where one call would hold the interpreter for all.
    """
    little_endian = vectors.astype("<f4", copy=False)
    answer: dict[str, object] = {
        "object": "list",
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": b64encode(vector.tobytes()).decode() if is_base64 else _json(vector),
            }
            for index, vector in enumerate(little_endian)
        ],
        "model": model,
        "usage": {"prompt_tokens": tokenized.used, "total_tokens": tokenized.used},
    }
    if tokenized.truncated:
        answer["truncated"] = tokenized.truncated
    return orjson.dumps(answer)


def _json(vector: Vectors) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY))


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
