"""Memories that were stored while no embedder answered: embedded as soon as one does."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from service.drafts.drafts import text_of
from service.errors import EmbedderRefused, InvalidRequest, Unavailable, VectorsUnfit
from service.inference.vectors import Vectors
from service.records import Vector
from service.store.database import record
from service.store.queries import load_query
from service.store.vector_forms import stored_vector
from service.writing.pipeline import Pipeline

log = logging.getLogger(__name__)

PENDING: Final = load_query(__package__, "pending")
EMBED_PENDING: Final = load_query(__package__, "embed_pending")

Row = Mapping[str, Any]

_PAGE: Final = 64
_FIRST_REST_SECONDS: Final = 0.5
_LONGEST_REST_SECONDS: Final = 15.0


async def embed_pending(pipeline: Pipeline) -> int:
    """Embed one page of waiting memories; returns how many got their vectors.

    A memory that was changed meanwhile keeps waiting: its vector would be of the old text. So does
    one whose text the server refuses, as long as it takes others; else the refusal is raised.
    """
    rows = await pipeline.db.run(PENDING, limit=_PAGE)
    if not rows:
        return 0
    made = await _embed(pipeline.vectors, rows)
    try:
        await _store(pipeline, made)
    except InvalidRequest:
        # One row that a hand has spoilt must not keep the others waiting.
        made = [pair for pair in made if await _is_stored(pipeline, pair)]
    return len(made)


async def _store(pipeline: Pipeline, made: Sequence[tuple[Row, Vector]]) -> None:
    embedded = [
        {
            "memory": record("memory", row["id"]), "embedding": record("embedding", row["id"]),
            "content_hash": row["content_hash"],
            "vector": stored_vector(vector, pipeline.vectors.form),
        }
        for row, vector in made
    ]  # fmt: skip
    await pipeline.db.run(
        EMBED_PENDING, embedded=embedded, fingerprint=pipeline.vectors.fingerprint
    )


async def _is_stored(pipeline: Pipeline, pair: tuple[Row, Vector]) -> bool:
    """Store one vector; a memory whose row the store refuses goes on waiting."""
    try:
        await _store(pipeline, [pair])
    except InvalidRequest as error:
        log.debug("memory %s stays without a vector: %s", pair[0]["id"], error.detail)
        return False
    return True


async def _embed(vectors: Vectors, rows: Sequence[Row]) -> list[tuple[Row, Vector]]:
    texts = [text_of(row["heading_path"], row["title"], row["content"]) for row in rows]
    # One text may be what the server does not take (too long for it): it must not hold up others.
    made = await vectors.embed_each(texts)
    pairs = zip(rows, made, strict=True)
    return [(row, vector) for row, vector in pairs if vector is not None]


async def keep_embedding(pipeline: Pipeline) -> None:
    """Wait for the embedder, embed what waits, and again whenever something new must wait."""
    rest_seconds = _FIRST_REST_SECONDS
    while True:
        try:
            await pipeline.vectors.prepare()
            while count := await embed_pending(pipeline):
                log.info("embedded %d memories that had waited", count)
            rest_seconds = _FIRST_REST_SECONDS
            pipeline.has_pending.clear()
            await pipeline.has_pending.wait()
        except VectorsUnfit as error:
            log.error("%s", error.detail)  # noqa: TRY400 - the sentence says all there is
            return
        except (Unavailable, EmbedderRefused) as error:
            log.debug("vectors wait: %s", error.detail)
        await asyncio.sleep(rest_seconds)
        rest_seconds = min(rest_seconds * 1.5, _LONGEST_REST_SECONDS)
