"""Vectors that fit the store: the embedder behind a gate that no other model's vectors pass."""

import asyncio
import logging
from collections.abc import Sequence

from service.database import Database
from service.embedder import Embedder, EmbeddingModel, Vector
from service.errors import EmbedderUnavailable, FingerprintMismatch, ServiceError

log = logging.getLogger(__name__)


class Vectors:
    """Embeds for one store, once the model is known and its fingerprint is the store's.

    `problem` is why vectors cannot be had now; None when all is well.
    """

    def __init__(self, db: Database, embedder: Embedder, schema: str) -> None:
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
        """Learn the model, compare its fingerprint with the store's, define the vector index.

        Raises FingerprintMismatch, EmbedderUnavailable, EmbedderRefused or StoreUnavailable,
        and keeps that as `problem`. Once it has succeeded it returns at once.
        """
        async with self._preparing:
            if self.model and self.problem is None:
                return self.model
            try:
                model = await self._embedder.describe()
                await self._compare(model)
                await self._db.define_vector_index(self._schema, model.dimensions)
                await self._db.set_meta(
                    "embedding",
                    {"fingerprint": model.fingerprint, "dimensions": model.dimensions},
                )
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

    async def _ready(self) -> None:
        if self.problem is not None:
            # A mismatch stays until someone acts; an absent server is asked again.
            if isinstance(self.problem, FingerprintMismatch):
                raise self.problem
            await self.prepare()

    async def _compare(self, model: EmbeddingModel) -> None:
        stored = (await self._db.meta("embedding")).get("fingerprint")
        if stored not in {None, model.fingerprint}:
            msg = (
                f"The store's vectors were made by {stored}, the embedding server offers "
                f"{model.fingerprint}. Start the old model again, or run `graph-memory reembed` "
                "while the service is stopped to have every memory embedded anew."
            )
            raise FingerprintMismatch(msg)
