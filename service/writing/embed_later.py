"""Memories that were stored while no embedder answered: embedded as soon as one does."""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from service.errors import (
    EmbedderForbids,
    EmbedderRefused,
    InvalidRequest,
    Unavailable,
    VectorFormMismatch,
    VectorsUnfit,
)
from service.inference.vectors import Vectors
from service.plurals import how_many
from service.records import Vector
from service.store.database import record
from service.store.queries import load_query
from service.store.vector_forms import stored_vector
from service.text.titles import text_of
from service.writing.pipeline import Pipeline

log = logging.getLogger(__name__)

PENDING: Final = load_query(__package__, "pending")
AGENTS_PENDING: Final = load_query(__package__, "agents_pending")
EMBED_PENDING: Final = load_query(__package__, "embed_pending")

Row = Mapping[str, Any]

_PAGE: Final = 64
# After an outage many agents wait: the embedder is asked for so many pages at once.
_PAGES_AT_ONCE: Final = 4
_FIRST_REST_SECONDS: Final = 0.5
_LONGEST_REST_SECONDS: Final = 15.0
# What is left are texts that the server refuses: it may be set up otherwise some day.
_LONGEST_REFUSED_SECONDS: Final = 300.0
# How soon an embedder that was found to be away, or of another model, is looked at again.
_LOOK_SECONDS: Final = 0.5


@dataclass(slots=True)
class Walk:
    """How far a walk through what waits has come, and what the server refused on its way."""

    after: Sequence[str] | None = None
    embedded: int = 0
    refusal: EmbedderRefused | None = None


async def embed_pending(
    pipeline: Pipeline, agent: str | None = None, walk: Walk | None = None
) -> int:
    """Embed the next page of what waits, of one agent or of all; returns how many got vectors.

    A memory that was changed meanwhile keeps waiting: its vector would be of the old text. So does
    one whose text the server refuses: a walk passes it over once, and holds up no other by it. 0 at
    the end of a walk that embedded nothing; the refusal is raised if there was one.
    """
    walk = walk or Walk()
    while rows := await pipeline.db.run(PENDING, agent=agent, after=walk.after, limit=_PAGE):
        if count := await _embed_page(pipeline, rows, walk):
            return count
    if walk.embedded:
        walk.after, walk.embedded, walk.refusal = None, 0, None
        return await embed_pending(pipeline, agent, walk)
    if walk.refusal is not None:
        raise walk.refusal
    return 0


async def _embed_page(pipeline: Pipeline, rows: Sequence[Row], walk: Walk) -> int:
    """Embed a page and go on behind it; returns how many of it got vectors."""
    made: Sequence[tuple[Row, Vector]] = ()
    try:
        vectors = await _embed(pipeline.vectors, rows)
        rows = rows[: len(vectors)]
        pairs = zip(rows, vectors, strict=True)
        made = [(row, vector) for row, vector in pairs if vector is not None]
        await _store(pipeline, made)
    except EmbedderForbids:
        raise
    except EmbedderRefused as error:
        walk.refusal = error
    except InvalidRequest:
        # One row that a hand has spoilt must not keep the others waiting.
        made = [pair for pair in made if await _is_stored(pipeline, pair)]
    walk.after = rows[-1]["waiting"]
    walk.embedded += len(made)
    return len(made)


async def _store(pipeline: Pipeline, made: Sequence[tuple[Row, Vector]]) -> None:
    embedded = [
        {
            "memory": record("memory", row["id"]), "embedding": record("embedding", row["id"]),
            "waiting": record("unembedded", row["waiting"]), "content_hash": row["content_hash"],
            "search_headings": row["search_headings"],
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


async def _embed(vectors: Vectors, rows: Sequence[Row]) -> list[Vector | None]:
    """Return the vectors of a page, or of its first rows: what is made is stored at once."""
    texts = [
        text_of(row["heading_path"], row["title"], row["content"], row["search_headings"])
        for row in rows
    ]
    # One text may be what the server does not take (too long for it): it must not hold up others.
    return await vectors.embed_each(texts, partly=True)


async def keep_looking(vectors: Vectors) -> None:
    """Look whether an embedder that does not answer, or a swapped model, is back.

    In the background, so that no search and no write pays for finding out.
    """
    vectors.watch()
    while True:
        await asyncio.sleep(max(_LOOK_SECONDS, vectors.rest_seconds))
        if not vectors.needs_looking:
            continue
        try:
            await vectors.look()
        except (Unavailable, EmbedderRefused, VectorsUnfit) as error:
            log.debug("vectors cannot be had: %s", error.detail)


async def keep_embedding(pipeline: Pipeline) -> None:
    """Wait for the embedder, embed what waits, and again whenever something new must wait.

    Each agent's by itself: texts that take long hold up no other agent's. While another
    model answers they wait for the old one; ends when the store has another form of vectors.
    """
    embedding = _AgentsEmbedding(pipeline)
    rest_seconds, told = _FIRST_REST_SECONDS, ""
    try:
        while True:
            try:
                await pipeline.vectors.prepare()
                pipeline.has_pending.clear()
                embedding.begin(await pipeline.db.run(AGENTS_PENDING))
                rest_seconds = _FIRST_REST_SECONDS
                await pipeline.has_pending.wait()
                continue
            except VectorFormMismatch as error:
                log.error("%s", error.logged)  # noqa: TRY400 - the sentence says all there is
                return
            except (Unavailable, EmbedderRefused, VectorsUnfit) as error:
                if error.logged != told:
                    log.warning("vectors wait: %s", error.logged)
                told = error.logged
            await asyncio.sleep(rest_seconds)
            rest_seconds = min(rest_seconds * 1.5, _LONGEST_REST_SECONDS)
    finally:
        await embedding.end()


class _AgentsEmbedding:
    """The agents whose memories are being embedded, each in a task of its own."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._running: dict[str, asyncio.Task[None]] = {}
        # Agents for whom something came while their task was running: it may have missed that.
        self._again: set[str] = set()
        self._turns = asyncio.Semaphore(_PAGES_AT_ONCE)

    def begin(self, agents: Iterable[str]) -> None:
        """Begin with the agents that are not being embedded already."""
        for agent in agents:
            if agent in self._running:
                self._again.add(agent)
            else:
                task = self._running[agent] = asyncio.create_task(self._embed(agent))
                task.add_done_callback(partial(self._over, agent))

    async def end(self) -> None:
        """Stop all of them, and wait for that."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _embed(self, agent: str) -> None:
        rest_seconds = _FIRST_REST_SECONDS
        while True:
            # A walk from the beginning meets all that came before it.
            walk = Walk()
            self._again.discard(agent)
            try:
                while count := await self._embed_page(agent, walk):
                    told = how_many(count, "memory", "memories")
                    log.info("embedded %s of agent %s that had waited", told, agent)
                    rest_seconds = _FIRST_REST_SECONDS
            except (Unavailable, EmbedderForbids, VectorsUnfit) as error:
                longest_seconds = _LONGEST_REST_SECONDS
                log.debug("vectors of agent %s wait: %s", agent, error.detail)
            except EmbedderRefused as error:
                longest_seconds = _LONGEST_REFUSED_SECONDS
                log.debug("texts of agent %s get no vectors: %s", agent, error.detail)
            else:
                return
            await self._rest(agent, rest_seconds)
            rest_seconds = min(rest_seconds * 1.5, longest_seconds)

    async def _rest(self, agent: str, seconds: float) -> None:
        """Wait until the embedder is back, so long at most; where something new came, 15 s."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, _LONGEST_REST_SECONDS)):
                    await self._pipeline.vectors.came_back.wait()
                    return
            if agent in self._again:
                return

    async def _embed_page(self, agent: str, walk: Walk) -> int:
        async with self._turns:
            return await embed_pending(self._pipeline, agent, walk)

    def _over(self, agent: str, task: asyncio.Task[None]) -> None:
        del self._running[agent]
        if agent in self._again:
            self._again.remove(agent)
            self._pipeline.has_pending.set()
        if not task.cancelled() and (defect := task.exception()):
            log.error("embedding for agent %s failed", agent, exc_info=defect)
