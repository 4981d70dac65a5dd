"""Vectors that fit the store: the embedder behind a gate that no other model's vectors pass."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Final

from service.errors import (
    EmbedderRefused,
    EmbedderUnavailable,
    ModelSwapped,
    ServiceError,
    StoreUnavailable,
    VectorsUnfit,
)
from service.inference.embedder import Embedder
from service.inference.fitting import Fitting, check_canary, compare, stored_canary
from service.inference.going_on import GoingOn, heard
from service.inference.halving import Tried, embed_with_canary
from service.inference.model import EmbeddingModel, Made, Patience
from service.records import Vector
from service.store.vector_forms import VectorForm

log = logging.getLogger(__name__)

# After a failure, who asks whether all is well again is answered from the last look so long.
_FAILURE_SECONDS: Final = 1.0


class Vectors:
    """Embeds for one store, once the model is known and its fingerprint is the store's.

    `problem` is why vectors cannot be had now; None when all is well. A name can be kept while the
    model behind it is swapped: no vector is stored before the canary, embedded after it, is what
    the store keeps of it.
    """

    def __init__(self, embedder: Embedder, fitting: Fitting) -> None:
        self.fitting: Final = fitting
        self.address: Final = embedder.address
        self._embedder = embedder
        self._preparing: asyncio.Task[EmbeddingModel] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._going_on = GoingOn()
        self.came_back = asyncio.Event()
        self._looked_at = -inf
        self._failure: ServiceError | None = None
        self._canary: Vector | None = None
        self._checked_at = -inf
        self._checked_changes = -1
        self.model: EmbeddingModel | None = None
        self.problem: ServiceError | None = EmbedderUnavailable(
            "The embedding server was not asked yet."
        )

    @property
    def form(self) -> VectorForm:
        """How the search engine needs vectors stored."""
        return self.fitting.form

    @property
    def fingerprint(self) -> str:
        """The fingerprint that new vectors carry; empty before the model is known."""
        return self.model.fingerprint if self.model else ""

    async def close(self) -> None:
        """Stop what is under way."""
        for task in (tasks := [task for task in (self._preparing, self._looking) if task]):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._going_on.close()

    async def prepare(self) -> EmbeddingModel:
        """Learn the model, compare it and the form with the store's, define the vector index.

        Raises VectorFormMismatch, FingerprintMismatch, EmbedderUnavailable, EmbedderRefused or
        StoreUnavailable, and keeps it as `problem`. Who gives up waiting interrupts nothing.
        """
        if self.model and self.problem is None:
            return self.model
        if self._preparing is None or self._preparing.done():
            self._preparing = asyncio.create_task(self._prepare())
            self._preparing.add_done_callback(heard)
        return await asyncio.shield(self._preparing)

    async def _prepare(self) -> EmbeddingModel:
        try:
            facts = await self.fitting.facts()
            form = await self.fitting.form_to_be(facts)
            changes = self._embedder.changes
            model, canary = await self._embedder.describe()
            compare(facts, model, canary)
            await self.fitting.take(facts, model, form, canary)
        except ServiceError as error:
            self.problem = error
            raise
        first = stored_canary(facts)
        self.model, self.problem = model, None
        self._canary = canary if first is None else first
        self._checked_at, self._checked_changes = time.monotonic(), changes + 1
        log.info("embedding model %s, %d dimensions", model.name, model.dimensions)
        return model

    async def reach(self) -> None:
        """Raise EmbedderUnavailable or EmbedderRefused unless the model can be asked."""
        await self._embedder.describe()

    async def check(self) -> EmbeddingModel:
        """Return the model, or raise why its vectors cannot be had: what the last calls gave.

        Looks when the last look is older than `check_seconds`, or than one second after a failure;
        whoever asks meanwhile shares that look.
        """
        if self._must_look():
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self.look())
                self._looking.add_done_callback(heard)
            await asyncio.shield(self._looking)
        failure = self._failure or self.problem
        if failure is not None or self.model is None:
            raise failure or EmbedderUnavailable()
        return self.model

    def _must_look(self) -> bool:
        """Return whether what the last look gave may no longer be true."""
        age, most_seconds = time.monotonic() - self._looked_at, self.address.check_seconds
        if self._failure:
            return age >= min(_FAILURE_SECONDS, most_seconds)
        return age >= most_seconds or self._looked_at < self._embedder.failed_at

    async def look(self) -> None:
        """Embed the canary, as a probe, and compare it; raises what that gave, and keeps it."""
        try:
            if self.model is None or (self.problem and not isinstance(self.problem, ModelSwapped)):
                await self.prepare()
            else:
                await self._compare_canary(time.monotonic() + self.address.write_seconds)
        except ServiceError as error:
            self._failure = error
            raise
        finally:
            self._looked_at = time.monotonic()
        if self._failure is not None:
            self._failure = None
            self.came_back.set()  # wakes those who wait at this moment
            self.came_back.clear()

    @property
    def rest_seconds(self) -> float:
        """How long the embedding server is left alone after it did not answer; 0 if it is not."""
        return self._embedder.breaker.rest_seconds

    @property
    def needs_looking(self) -> bool:
        """Whether nobody asks for vectors until `look` finds that they can be had again."""
        if isinstance(self.problem, ModelSwapped):
            return time.monotonic() - self._looked_at >= self.address.check_seconds
        return self._embedder.breaker.is_open

    def watch(self) -> None:
        """Say that `look` is called from time to time: nobody else need find out."""
        self._embedder.breaker.is_watched = True

    async def embed_query(self, text: str, wait_seconds: float | None = None) -> Vector:
        """Return a question's vector within `query_seconds`; raises what the embedder raises.

        Who waits for less breaks nothing off: that the server hangs is found out all the same.
        """
        if wait_seconds is None:
            return await self._embed_in_time(text)
        return await self._going_on.wait_for(self._embed_in_time(text), wait_seconds)

    async def _embed_in_time(self, text: str) -> Vector:
        seconds = self.address.query_seconds
        try:
            async with asyncio.timeout(seconds):
                # The request ends before, so that the server is told to have hung.
                return await self._embed_query(text, time.monotonic() + 0.95 * seconds)
        except TimeoutError as error:
            told = f"{seconds:g} s (MEMORY_EMBEDDING_QUERY_SECONDS)"
            raise EmbedderUnavailable(f"No vector came within {told}.") from error

    async def _embed_query(self, text: str, until: float) -> Vector:
        await self._ready()
        if time.monotonic() - self._checked_at < self.address.check_seconds:
            vector = await self._embedder.embed_query(text, until)
            if self._embedder.changes != self._checked_changes:
                await self._compare_canary(until)
            return vector
        # Beside the question, which must not wait for it.
        checking = asyncio.create_task(self._compare_canary(until))
        try:
            vector = await self._embedder.embed_query(text, until)
            await checking
        finally:
            checking.cancel()
            await asyncio.gather(checking, return_exceptions=True)
        self._checked_changes = self._embedder.changes
        return vector

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of texts to store; raises what `prepare` and the embedder raise."""
        vectors, failure, _ = await self.embed_some(texts, Patience(self.address.timeout_seconds))
        if failure is not None:
            raise failure
        return vectors

    async def embed_some(self, texts: Sequence[str], patience: Patience) -> Made:
        """Return the vectors of the first texts that could be had in time, and why not of all.

        Of the time for all a quarter is kept for the canary. Raises nothing of the embedder's.
        """
        end = patience.begin()
        try:
            async with asyncio.timeout(end - time.monotonic() if end < inf else None):
                await self._ready()
                first = replace(patience, whole_seconds=0.75 * (end - time.monotonic()))
                changes = self._embedder.changes
                made, canary = await self._embedder.embed_with_canary(texts, first)
                if canary is not None:
                    self._compare(canary, changes)
                elif made.vectors:
                    await self._compare_canary(min(end, time.monotonic() + patience.each_seconds))
        except (EmbedderUnavailable, EmbedderRefused, VectorsUnfit, StoreUnavailable) as error:
            return Made([], error)
        except TimeoutError:
            seconds = f"{patience.whole_seconds:g} s (MEMORY_EMBEDDING_WRITE_SECONDS)"
            return Made([], EmbedderUnavailable(f"No vectors came within {seconds}."))
        return made

    async def embed_each(self, texts: Sequence[str], *, partly: bool = False) -> Tried:
        """Return the vectors of texts to store, None for a text that the server refuses.

        A batch that is refused is halved until its refused texts are found: one of 64 costs 17
        requests of at most 8 texts, else 11. Raises what `embed_documents` raises; EmbedderRefused
        only if not one text is taken. With `partly` the first ones are returned where some were
        made before that.
        """
        await self._ready()
        vectors, refusal = list[Vector | None](), None
        # With each batch goes the canary: what it gave may be stored, whatever becomes of the next.
        size = max(1, self.address.batch_size - 1)
        for start in range(0, len(texts), size):
            try:
                made, refused = await self._embed_batch(texts[start : start + size])
            except ServiceError:
                if partly and any(vector is not None for vector in vectors):
                    break
                raise
            vectors += made
            refusal = refusal or refused
        if refusal is not None and all(vector is None for vector in vectors):
            raise refusal
        return vectors

    async def _embed_batch(self, texts: Sequence[str]) -> tuple[Tried, EmbedderRefused | None]:
        changes = self._embedder.changes
        made, canary, refused = await embed_with_canary(self._embedder, texts)
        if canary is not None:
            self._compare(canary, changes)
        elif any(vector is not None for vector in made):
            await self._compare_canary(time.monotonic() + self.address.timeout_seconds)
        return made, refused

    async def _ready(self) -> None:
        """Raise what keeps vectors from being had; an absent server is asked again."""
        if isinstance(self.problem, VectorsUnfit):
            # It stays until someone acts; `look` notices when a swapped model is back.
            raise self.problem
        if self.problem is not None:
            if self._embedder.breaker.leaves_alone:
                raise self.problem
            await self.prepare()

    async def _compare_canary(self, until: float) -> None:
        """Ask for the canary and compare it; raises what the embedder raises, and ModelSwapped."""
        changes = self._embedder.changes
        self._compare(await self._embedder.embed_canary(until), changes)

    def _compare(self, canary: Vector, changes: int) -> None:
        """Raise ModelSwapped, and keep it as `problem`, unless the canary is as it was.

        Rounding alone never differs so much. `changes` are the embedder's before it was asked.
        """
        try:
            check_canary(canary, self._canary, self.fingerprint)
        except ModelSwapped as error:
            if not isinstance(self.problem, ModelSwapped):
                log.error("%s", error.logged)  # noqa: TRY400 - the sentence says all there is
            self.problem = error
            raise
        if isinstance(self.problem, ModelSwapped):
            log.info("the embedding server serves the model of the store again")
            self.problem = None
        self._checked_at, self._checked_changes = time.monotonic(), changes
