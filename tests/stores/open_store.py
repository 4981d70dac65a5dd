"""A store with everything that writes to it, opened without HTTP."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from service.drafts.drafts import DocumentText
from service.index.database.engine import DatabaseEngine
from service.index.engine import Engine
from service.index.resident.engine import ResidentEngine
from service.index.resident.residency import Residency
from service.inference.embedder import Embedder
from service.inference.fitting import Fitting
from service.inference.model import EmbedderAddress
from service.inference.vectors import Vectors
from service.links.dictionaries import Dictionaries
from service.memories.screening import Pushed
from service.memories.storing import store
from service.opening import open_pipeline
from service.store.address import StoreAddress
from service.store.database import Database
from service.store.database_indexes import fit_indexes
from service.store.queries import Query
from service.store.schema import SCHEMA_VERSION
from service.store.vector_forms import VectorForm
from service.writing.concepts_file import declare_concepts
from service.writing.pipeline import Synced, sync_documents
from tests.servers.outer_embeddings import OuterEmbeddings, outer_embeddings
from tests.stores.graph_check import violations
from tests.stores.template import SCHEMA, lay_store

# What a program from before the digest of the definitions left: the next start applies them.
NO_DIGEST = {"version": SCHEMA_VERSION}
INDEX_BYTES = 100_000_000
_CLOSING_SECONDS = 120
START = datetime(2026, 2, 13, 9, tzinfo=UTC)


class OpenStore:
    """One store, its embedder, its engine (by the form of the vectors) and its pipeline."""

    def __init__(
        self,
        folder: Path,
        embeddings: OuterEmbeddings,
        address: StoreAddress | None = None,
        form: VectorForm = "array",
    ) -> None:
        self.folder = folder
        self.embeddings = embeddings
        self.db = Database(address or StoreAddress(f"surrealkv://{folder / 'store'}"))
        self.embedder = Embedder(EmbedderAddress(embeddings.url))
        self.vectors = Vectors(self.embedder, Fitting(self.db, SCHEMA, form))
        self.engine = self._engine(form)
        self.pipeline = open_pipeline(self.db, self.vectors, self.engine, 200, {}, Dictionaries())

    async def open(self) -> None:
        """Open the store and learn the embedding model."""
        if self.db.address.folder:
            lay_store(self.db.address.folder)
        await self.db.open(SCHEMA)
        await fit_indexes(self.db, SCHEMA, self.engine.name)
        await self.vectors.prepare()

    def _engine(self, form: VectorForm) -> Engine:
        if form == "array":
            return DatabaseEngine(self.db)
        residency = Residency(self.db, INDEX_BYTES, None)
        self.db.after_write = residency.follower.after_write
        return ResidentEngine(residency, threads=2)

    async def close(self) -> None:
        """Close the connections."""
        await self.vectors.close()
        await self.embedder.close()
        await self.db.close()

    async def read(self, uri: str, text: str, agent: str = "main", at: datetime = START) -> Synced:
        """Take in one document."""
        [synced] = await sync_documents(
            self.pipeline, [DocumentText(uri, text, agent, modified_at=at)]
        )
        return synced

    async def push(self, *texts: str, **fields: Any) -> list[str]:
        """Store one memory for each text; returns their ids."""
        pushed = [Pushed(text, occurred_at=START, **fields) for text in texts]
        ids, _ = await store(self.pipeline, pushed)
        return ids

    async def declare(self, text: str, agent: str = "main") -> None:
        """Take over a concepts file."""
        path = self.folder / "concepts.toml"
        path.write_text(text, encoding="utf-8")
        await declare_concepts(self.pipeline, path, agent)

    async def ask(self, text: str, **params: object) -> object:
        """Return the result of a query of the test's own."""
        return await self.db.run(Query("own", text, frozenset(params), writes=False), **params)

    async def memories_of(self, slug: str, agent: str = "main") -> list[str]:
        """Return the ids of the memories that mention a concept, in order."""
        text = "SELECT VALUE id FROM references WHERE concepts CONTAINS [$who, $slug]"
        found = await self.ask(text, who=agent, slug=slug)
        return sorted(found) if isinstance(found, Iterable) else []

    async def ids(self, agent: str = "main") -> list[str]:
        """Return the ids of an agent's memories, in order."""
        found = await self.ask("SELECT VALUE id FROM memory WHERE agent = $who", who=agent)
        return sorted(found) if isinstance(found, Iterable) else []

    async def complaints(self) -> list[str]:
        """Return what is wrong in the store."""
        return await violations(self.db)


@asynccontextmanager
async def open_store(folder: Path, form: VectorForm = "array") -> AsyncIterator[OpenStore]:
    """Open a store of its own in `folder`, with a foreign embedding server beside it."""
    with outer_embeddings() as embeddings:
        store = OpenStore(folder, embeddings, form=form)
        try:
            await store.open()
            yield store
        finally:
            # Where it hangs, this says at what.
            async with asyncio.timeout(_CLOSING_SECONDS):
                await store.close()
