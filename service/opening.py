"""Opening and closing what lives as long as the process: store, clients, pipeline."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Final

from service.access.quota import Quota
from service.consolidate.jobs import CONSOLIDATION, Consolidations, consolidating
from service.consolidate.revising import revise
from service.decisions.holding import hold
from service.errors import CannotStart, ServiceError
from service.index.database.engine import DatabaseEngine
from service.index.engine import Engine
from service.index.resident.engine import ResidentEngine
from service.index.resident.residency import Residency
from service.index.resident.snapshots import remove_files
from service.inference.embedder import Embedder
from service.inference.fitting import Fitting
from service.inference.language_fit import LanguageFit
from service.inference.model import EmbedderAddress
from service.inference.reranker import Reranker, RerankerAddress
from service.inference.vectors import Vectors
from service.ingest.jobs import SCAN, Scans, scanning
from service.ingest.sources import Sources
from service.jobs.jobs import JobRunner
from service.links.change import Step
from service.links.dictionaries import Dictionaries
from service.observe.observing import Observer
from service.observe.taking_back import take_back
from service.projects.moving import join_moved
from service.readers.readers import Readers
from service.redaction import loggable
from service.sanitise.sanitiser import Sanitiser
from service.search.searcher import Searcher, turns_of
from service.sessions.given import Given
from service.settings import Settings
from service.store.address import StoreAddress
from service.store.audit_log import AuditLog
from service.store.database import Database
from service.store.database_indexes import fit_indexes
from service.store.keyring import Keyring
from service.store.private_files import PrivateFiles
from service.store.schema import is_schema
from service.store.snapshot_log import forget_snapshot
from service.store.vector_forms import FORM_OF_ENGINE
from service.writing.leaving import hand_on
from service.writing.pipeline import Pipeline
from service.writing.quotas import Quotas

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that lives as long as the service, opened and closed by the lifespan.

    `residency` keeps the resident indexes; None where the database engine answers. `readers` are
    None where this process ranks alone.
    """

    settings: Settings
    db: Database
    vectors: Vectors
    residency: Residency | None
    pipeline: Pipeline
    jobs: JobRunner
    scans: Scans
    consolidations: Consolidations
    searcher: Searcher
    language_fit: LanguageFit
    keyring: Keyring
    private_files: PrivateFiles
    audit: AuditLog
    given: Given
    observer: Observer
    readers: Readers | None
    sources: Sources

    def by_type(self) -> dict[type, Any]:
        """Return each part under its type, as routes ask for it."""
        every = (getattr(self, field.name) for field in fields(self))
        return {type(one): one for one in every if one is not None}


# Of MEMORY_INDEX_MEMORY_MB, dictionaries take a quarter at most and indexes what they leave.
_DICTIONARY_BYTES_PER_MB: Final = 250_000


@asynccontextmanager
async def open_parts(settings: Settings, *, fits_engine: bool = True) -> AsyncIterator[Parts]:
    """Open the store and the clients of other servers, and close them at the end.

    Without `fits_engine` the store may still lack what the search engine needs. Raises CannotStart
    for a store that cannot be used, StoreUnavailable for a server that is away.
    """
    schema = await read_schema(settings)
    db = Database(_store_address(settings))
    private_files = PrivateFiles()
    await asyncio.to_thread(private_files.keep, settings.data_dir, db.address.folder)
    embedder = Embedder(embedder_address(settings))
    reranker = _reranker(settings)
    residency: Residency | None = None
    readers: Readers | None = None
    keyring = Keyring(db)
    audit = AuditLog(db, settings.audit, settings.audit_days)
    given = Given(db)
    vectors = Vectors(embedder, Fitting(db, schema, FORM_OF_ENGINE[settings.search_engine]))
    try:
        await db.open(schema)
        await keyring.read()
        if fits_engine:
            await fit_indexes(db, schema, settings.search_engine)
        dictionaries = Dictionaries(settings.index_memory_mb * _DICTIONARY_BYTES_PER_MB)
        residency = _residency(settings, db, dictionaries)
        if residency is None:
            await _leave_no_snapshots(settings, db)
        engine = (
            ResidentEngine(residency, settings.index_threads) if residency else DatabaseEngine(db)
        )
        pipeline = open_pipeline(
            db, vectors, engine, settings.section_tokens, settings.places, dictionaries
        )
        _bound(pipeline, settings, keyring)
        sources = Sources(settings.sources)
        scans = scanning(pipeline, settings, sources)
        work = {SCAN: scans, CONSOLIDATION: consolidating(pipeline)}
        jobs = JobRunner(db, keyring, work, settings.max_jobs)
        turns = turns_of(is_resident=residency is not None)
        readers = Readers(residency, settings) if residency and settings.readers != 0 else None
        searcher = Searcher(db, vectors, settings, engine, reranker, turns, readers)
        yield Parts(
            settings, db, vectors, residency, pipeline, jobs, Scans(jobs, settings),
            Consolidations(jobs), searcher, LanguageFit(db, vectors), keyring, private_files,
            audit, given, Observer(pipeline), readers, sources,
        )  # fmt: skip
    finally:
        await given.settle()
        await keyring.note()
        await audit.close()
        if readers:
            await readers.close()
        if residency:
            await residency.close()
        await vectors.close()
        await embedder.close()
        if reranker:
            await reranker.close()
        await db.close()


def _bound(pipeline: Pipeline, settings: Settings, keyring: Keyring) -> None:
    """Tell the pipeline how much it takes, and what of a text."""
    pipeline.max_sections = settings.max_document_sections
    whole = Quota(max_memories=settings.max_memories, max_documents=settings.max_documents)
    pipeline.quotas = Quotas(whole, keyring.quota_of)
    pipeline.sanitiser = Sanitiser(settings.secrets, settings.instructions)


def open_pipeline(
    db: Database,
    vectors: Vectors,
    engine: Engine,
    section_tokens: int,
    places: Mapping[str, str],
    dictionaries: Dictionaries,
) -> Pipeline:
    """Return the pipeline with the steps of the rooms that have a part in every change."""
    # Pushes are where their project was moved meanwhile.
    # Handoffs and summaries say nothing that was taken back, and decisions whose place it had hold
    # again: all that changes in the same transaction.
    revising = partial(revise, budget_tokens=section_tokens)
    steps: list[Step] = [join_moved, hand_on, take_back, hold, revising]
    return Pipeline(db, vectors, engine, section_tokens, places, steps, dictionaries)


def _store_address(settings: Settings) -> StoreAddress:
    password = settings.database_password
    return StoreAddress(
        settings.store_url,
        settings.database_user,
        password.get_secret_value() if password else None,
        settings.database_namespace,
        settings.database_name,
        settings.database_timeout_seconds,
        settings.disk_reserve_mb * 1_000_000,
        "MEMORY_DATABASE_URL" if settings.database_url else "MEMORY_DATA_DIR",
    )


def _residency(settings: Settings, db: Database, dictionaries: Dictionaries) -> Residency | None:
    """Return the keeper of the resident indexes; None for the engine that needs none."""
    if settings.search_engine != "resident":
        return None
    budget = settings.index_memory_mb * 1_000_000
    residency = Residency(
        db, budget, settings.index_scanned_dimensions, lambda: dictionaries.bytes,
        settings.index_agents, _snapshot_folder(settings),
    )  # fmt: skip
    db.after_write = residency.follower.after_write
    return residency


async def _leave_no_snapshots(settings: Settings, db: Database) -> None:
    """Remove what the other engine kept: nobody would take out of it what is deleted now."""
    try:
        await asyncio.to_thread(remove_files, _snapshot_folder(settings))
        await forget_snapshot(db)
    except (OSError, ServiceError) as error:
        log.warning("snapshots of the resident engine are left behind: %s", loggable(error))


def _snapshot_folder(settings: Settings) -> Path:
    return settings.data_dir / "snapshots"


async def read_schema(settings: Settings) -> str:
    """Return the text of schema.surql; raises CannotStart for a file that is none."""
    try:
        text = await asyncio.to_thread(settings.schema_file.read_text, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = f"cannot be read: {getattr(error, 'strerror', 'it is no text in UTF-8')}"
    else:
        if is_schema(text):
            return text
        why = "holds no schema: leave the setting out, or begin with a copy of schema.surql"
    raise CannotStart(f"MEMORY_SCHEMA_FILE: {settings.schema_file} {why}.")


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
        settings.embedding_query_seconds,
        settings.embedding_write_seconds,
        settings.embedding_check_seconds,
    )


def _reranker(settings: Settings) -> Reranker | None:
    """Return the rerank server's client; None where none is configured."""
    if settings.rerank_url is None:
        return None
    key = settings.rerank_api_key
    return Reranker(
        RerankerAddress(
            settings.rerank_url,
            settings.rerank_model,
            key.get_secret_value() if key else None,
            settings.rerank_timeout_seconds,
        )
    )
