"""Opening and closing what lives as long as the process: store, embedder, pipeline."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service.database import Database, StoreAddress
from service.dependencies import Parts
from service.embedder import Embedder, EmbedderAddress
from service.ingest.jobs import JobRunner
from service.ingest.sync import Pipeline
from service.settings import Settings
from service.vectors import Vectors


@asynccontextmanager
async def open_parts(settings: Settings) -> AsyncIterator[Parts]:
    """Open the store and the embedder's client, and close them at the end.

    Raises CannotStart for a store that cannot be used, StoreUnavailable for a server that is away.
    """
    schema = await asyncio.to_thread(settings.schema_file.read_text, encoding="utf-8")
    password = settings.database_password
    db = Database(
        StoreAddress(
            settings.store_url,
            settings.database_user,
            password.get_secret_value() if password else None,
            settings.database_namespace,
            settings.database_name,
            settings.database_timeout_seconds,
        )
    )
    embedder = Embedder(embedder_address(settings))
    try:
        await db.open(schema)
        vectors = Vectors(db, embedder, schema)
        pipeline = Pipeline(db, vectors, settings.section_tokens, settings.places)
        yield Parts(settings, db, vectors, pipeline, JobRunner(db, pipeline, settings))
    finally:
        await embedder.close()
        await db.close()


def embedder_address(settings: Settings) -> EmbedderAddress:
    """Return what the embedder's client must know."""
    key = settings.embedding_api_key
    return EmbedderAddress(
        settings.embedding_url,
        settings.embedding_model,
        key.get_secret_value() if key else None,
        settings.embedding_dimensions,
        settings.embedding_instruction,
        settings.embedding_batch_size,
        settings.embedding_timeout_seconds,
    )
