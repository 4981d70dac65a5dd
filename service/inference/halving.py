"""Vectors of texts of which a server refuses some, or takes too long: each such one is found."""

import logging
from collections.abc import Sequence

from service.errors import EmbedderForbids, EmbedderRefused
from service.inference.embedder import Embedder
from service.records import Vector

log = logging.getLogger(__name__)


async def embed_halving(
    embedder: Embedder, texts: Sequence[str]
) -> tuple[list[Vector | None], EmbedderRefused | None]:
    """Return a vector or None for each text, and the first refusal if there was one.

    Raises EmbedderForbids, where every text would be refused, and EmbedderUnavailable.
    """
    try:
        return [*await embedder.embed_documents(texts)], None
    except EmbedderForbids:
        raise
    except EmbedderRefused as error:
        refusal = error
    if len(texts) == 1:
        log.debug("a text gets no vector: %s", refusal.detail)
        return [None], refusal
    half = len(texts) // 2
    first, _ = await embed_halving(embedder, texts[:half])
    last, _ = await embed_halving(embedder, texts[half:])
    return first + last, refusal
