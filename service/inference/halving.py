"""Vectors of texts of which a server refuses some, or takes too long: each such one is found."""

import logging
from collections.abc import Sequence

from service.errors import EmbedderForbids, EmbedderRefused
from service.inference.embedder import Embedder
from service.inference.model import CANARY
from service.records import Vector

log = logging.getLogger(__name__)

# A vector or None for each text.
Tried = list[Vector | None]


async def embed_halving(
    embedder: Embedder, texts: Sequence[str]
) -> tuple[Tried, EmbedderRefused | None]:
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


async def embed_with_canary(
    embedder: Embedder, texts: Sequence[str]
) -> tuple[Tried, Vector | None, EmbedderRefused | None]:
    """Return what `embed_halving` does, and the canary, which goes with them; not with one alone.

    A text that is refused or hangs would be asked for twice by it.
    """
    if len(texts) == 1:
        made, refusal = await embed_halving(embedder, texts)
        return made, None, refusal
    [*made, canary], refusal = await embed_halving(embedder, [*texts, CANARY])
    return made, canary, refusal
