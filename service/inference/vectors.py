"""Vectors that fit the store: the embedder behind a gate that no other model's vectors pass."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from service.errors import (
    EmbedderRefused,
    EmbedderUnavailable,
    FingerprintMismatch,
    ServiceError,
    VectorFormMismatch,
    VectorsUnfit,
)
from service.inference.embedder import Embedder, EmbeddingModel
from service.records import Vector
from service.store.database import BUILDING_PATIENCE, Database
from service.store.queries import load_query
from service.store.vector_forms import ENGINE_OF_FORM, MIXED, VectorForm

log = logging.getLogger(__name__)

HAS_VECTORS: Final = load_query(__package__, "has_vectors")
FORGET_VECTOR_INDEX: Final = load_query(__package__, "forget_vector_index")


class Vectors:
    """Embeds for one store, once the model is known and its fingerprint is the store's.

    `form` is how the search engine needs them stored. `problem` is why vectors cannot be had
    now; None when all is well.
    """

    def __init__(self, db: Database, embedder: Embedder, schema: str, form: VectorForm) -> None:
        self.form: Final = form
        self._db = db
        self._embedder = embedder
        self._schema = schema
        self._preparing = asyncio.Lock()
        self.model: EmbeddingModel | None = None
        self.problem: ServiceError | None = EmbedderUnavailable(
            "The embedding server was not asked yet."
        )

    @property
    def fingerprint(self) -> str:
        """The fingerprint that new vectors carry; empty before the model is known."""
        return self.model.fingerprint if self.model else ""

    async def prepare(self) -> EmbeddingModel:
        """Learn the model, compare it and the form with the store's, define the vector index.

        Raises VectorFormMismatch, FingerprintMismatch, EmbedderUnavailable, EmbedderRefused or
        StoreUnavailable, and keeps that as `problem`. Once it has succeeded it returns at once.
        """
        async with self._preparing:
            if self.model and self.problem is None:
                return self.model
            try:
                facts = await self._db.meta("embedding")
                form = await self._form_to_be(facts)
                model = await self._embedder.describe()
                _compare(facts, model)
                await self._take(model, form)
            except ServiceError as error:
                self.problem = error
                raise
            self.model, self.problem = model, None
            log.info("embedding model %s, %d dimensions", model.name, model.dimensions)
            return model

    async def reach(self) -> None:
        """Raise EmbedderUnavailable or EmbedderRefused unless the model can be asked."""
        await self._embedder.describe()

    async def check(self) -> EmbeddingModel:
        """Ask the server whether it is there; raises what `prepare` raises."""
        if self.problem is None and self.model:
            await self._embedder.check()
            return self.model
        return await self.prepare()

    async def embed_query(self, text: str) -> Vector:
        """Return a question's vector; raises what `prepare` and the embedder raise."""
        await self._ready()
        return await self._embedder.embed_query(text)

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of texts to store; raises what `prepare` and the embedder raise."""
        await self._ready()
        return await self._embedder.embed_documents(texts)

    async def embed_each(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return the vectors of texts to store, None for a text that the server refuses.

        A batch that is refused is halved until its refused texts are found: one of 64 costs 14
        requests of at most 8 texts, where the batches alone are 8. Raises what `embed_documents`
        raises; EmbedderRefused only if not one text is taken.
        """
        size = self._embedder.address.batch_size
        vectors: list[Vector | None] = []
        refusal: EmbedderRefused | None = None
        for start in range(0, len(texts), size):
            made, refused = await self._embed_halving(texts[start : start + size])
            vectors += made
            refusal = refusal or refused
        if refusal is not None and all(vector is None for vector in vectors):
            raise refusal
        return vectors

    async def _embed_halving(
        self, texts: Sequence[str]
    ) -> tuple[list[Vector | None], EmbedderRefused | None]:
        """Return a vector or None for each text, and the first refusal if there was one."""
        try:
            return [*await self.embed_documents(texts)], None
        except EmbedderRefused as error:
            refusal = error
        if len(texts) == 1:
            log.debug("a text gets no vector: %s", refusal.detail)
            return [None], refusal
        half = len(texts) // 2
        first, _ = await self._embed_halving(texts[:half])
        last, _ = await self._embed_halving(texts[half:])
        return first + last, refusal

    async def begin_switch(self, facts: Mapping[str, Any]) -> None:
        """Mark the store as mixed and forget the index, so that rows of both forms can lie there.

        `facts` is what meta:embedding says. The mark comes first: whatever is interrupted after
        it, the next start knows.
        """
        await self._db.set_meta("embedding", {**facts, "form": MIXED})
        await self._db.run(FORGET_VECTOR_INDEX)

    async def end_switch(self, facts: Mapping[str, Any]) -> None:
        """Build the index if the form needs one, and mark the store as wholly of this form."""
        if self.form == "array":
            dimensions = facts["dimensions"]
            await self._db.define_index(self._schema, "vectors", BUILDING_PATIENCE, dimensions)
        await self._db.set_meta("embedding", {**facts, "form": self.form})

    async def _ready(self) -> None:
        if self.problem is not None:
            # A mismatch stays until someone acts; an absent server is asked again.
            if isinstance(self.problem, VectorsUnfit):
                raise self.problem
            await self.prepare()

    async def _form_to_be(self, facts: Mapping[str, Any]) -> str:
        """Return the form of the store once new vectors join those that it holds."""
        if stored_form(facts) == self.form or not await self._db.run(HAS_VECTORS):
            return self.form
        if self.form == "array":
            msg = (
                f"The store holds vectors as bytes, which the engine `{ENGINE_OF_FORM['array']}` "
                "cannot search: run `graph-memory switch-engine` while the service is stopped."
            )
            raise VectorFormMismatch(msg)
        return MIXED

    async def _take(self, model: EmbeddingModel, form: str) -> None:
        """Make the store ready for vectors of this model; the mark is there before the vectors."""
        if self.form == "array":
            await self._db.define_index(self._schema, "vectors", dimensions=model.dimensions)
        facts = {"fingerprint": model.fingerprint, "dimensions": model.dimensions, "form": form}
        await self._db.set_meta("embedding", facts)
        if self.form == "bytes":
            await self._db.run(FORGET_VECTOR_INDEX)
        if form == MIXED:
            log.info(
                "the store holds vectors as arrays, which load much slower than bytes: run "
                "`graph-memory switch-engine` while the service is stopped"
            )


def stored_form(facts: Mapping[str, Any]) -> str:
    """Return the form that meta:embedding tells; stores from before there were two say nothing."""
    form: str = facts.get("form", "array")
    return form


def _compare(facts: Mapping[str, Any], model: EmbeddingModel) -> None:
    stored = facts.get("fingerprint")
    if stored not in {None, model.fingerprint}:
        msg = (
            f"The store's vectors were made by {stored}, the embedding server offers "
            f"{model.fingerprint}. Start the old model again, or run `graph-memory reembed` "
            "while the service is stopped to have every memory embedded anew."
        )
        raise FingerprintMismatch(msg)
