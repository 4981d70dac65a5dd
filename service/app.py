"""The service put together: opens the parts, mounts the rooms. The only place where all meet."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Final

from fastapi import FastAPI

from service.access.addresses import is_loopback
from service.access.operations import check_operations
from service.audit import route as audit
from service.cascade import route as cascade
from service.clients import route as clients
from service.concepts import route as concepts
from service.concepts.merging import keep_finishing
from service.consolidate import route as consolidate
from service.context import route as context
from service.decisions import route as decisions
from service.documents import route as documents
from service.errors import CannotStart, ServiceError
from service.fixes import route as fixes
from service.grants import route as grants
from service.graph import route as graph
from service.handoff import route as handoff
from service.hooks import route as hooks
from service.inference.language_fit import keep_looking_at_languages
from service.ingest import route as ingest
from service.ingest.sources import Sources
from service.intents import route as intents
from service.keys import route as keys
from service.mcp import route as mcp
from service.memories import route as memories
from service.memories.silencing import silence_quarantined
from service.observe import route as observe
from service.opening import Parts, open_parts
from service.operate import health, index, metrics, stats
from service.opt_outs import route as opt_outs
from service.projects import route as projects
from service.recall import route as recall
from service.redaction import loggable
from service.reflect import route as reflect
from service.search import route as search
from service.session_context import route as session_context
from service.session_end import route as session_end
from service.sessions import route as sessions
from service.settings import Settings
from service.store.agents import DEFAULT_AGENT
from service.store.flushing import keep_flushing
from service.trust import route as trust
from service.version import VERSION
from service.web.bounds import Bounds
from service.web.description import DescribedApp
from service.web.pages import add_pages
from service.web.problems import install_problems
from service.web.room import answer_heads, mount
from service.working_memory import route as working_memory
from service.writing.concepts_file import declare_concepts
from service.writing.embed_later import keep_embedding, keep_looking
from service.writing.link_later import keep_linking
from service.writing.pipeline import read_ahead

log = logging.getLogger(__name__)

# What goes on beside requests, for as long as the app is open.
Background = Callable[[Parts], AbstractAsyncContextManager[None]]

# Whose doors are mounted, in the order of the description and of the looks for a request's route:
# what is asked most comes first.
_ROOMS: Final = (
    search,
    recall,
    memories,
    session_context,
    hooks,
    working_memory,
    handoff,
    decisions,
    observe,
    context,
    cascade,
    fixes,
    intents,
    sessions,
    session_end,
    reflect,
    projects,
    opt_outs,
    ingest,
    documents,
    concepts,
    consolidate,
    graph,
    clients,
    health,
    metrics,
    index,
    stats,
    keys,
    grants,
    trust,
    audit,
)

DESCRIPTION = """Memory for AI agents: markdown notes, tool results and transcripts go in; the few
memories that matter come out, with the path that led to them. No LLM call anywhere.

Times are ISO 8601 with a zone, ids are opaque strings, errors are `application/problem+json`
(RFC 9457)."""


def create_app(settings: Settings, beside: Background | None = None) -> FastAPI:
    """Build the service; nothing is opened before its lifespan begins.

    `beside` is what runs beside requests: `background` if not given, or `only_jobs`.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_parts(settings) as parts:
            app.state.parts = parts.by_type() | {Bounds: app.state.bounds}
            async with (beside or background)(parts):
                yield

    app = DescribedApp(
        title="graph-memory",
        version=VERSION,
        description=DESCRIPTION,
        lifespan=lifespan,
    )
    install_problems(app)
    app.state.bounds = Bounds.of(settings)
    app.state.bounds.install(app, settings)
    app.state.operations = mount(app, (room.router for room in _ROOMS))
    check_operations(app.state.operations)
    app.include_router(mcp.router)
    add_pages(app)
    answer_heads(app)
    return app


@asynccontextmanager
async def background(parts: Parts) -> AsyncIterator[None]:
    """Run what goes on beside requests: waiting jobs, waiting vectors, the user's concepts.

    Raises CannotStart where other machines could come in without a key.
    """
    _refuse_open_door(parts)
    await _declare(parts)
    await _look_at_folders(parts.sources)
    await _silence(parts)
    agents = (parts.settings.agent, DEFAULT_AGENT)
    tasks = [
        *_follow_changes(parts, agents),
        *_run_readers(parts),
        asyncio.create_task(_read_dictionaries(parts, agents)),
        asyncio.create_task(_supervised("jobs", parts.jobs.run)),
        asyncio.create_task(_supervised("merges", lambda: keep_finishing(parts.pipeline))),
        asyncio.create_task(_supervised("links", lambda: keep_linking(parts.pipeline))),
        asyncio.create_task(_supervised("keys", parts.keyring.keep_noting)),
        asyncio.create_task(_supervised("audit", parts.audit.keep_writing)),
        asyncio.create_task(
            _supervised("sessions", lambda: parts.given.keep_forgetting(parts.settings.audit_days))
        ),
        asyncio.create_task(_supervised("flush", lambda: keep_flushing(parts.db))),
        asyncio.create_task(_supervised("embedder", lambda: keep_looking(parts.vectors))),
        asyncio.create_task(_supervised("vectors", lambda: keep_embedding(parts.pipeline))),
        asyncio.create_task(
            _supervised("languages", lambda: keep_looking_at_languages(parts.language_fit))
        ),
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def only_jobs(parts: Parts) -> AsyncIterator[None]:
    """Run what a command in a process of its own asks for: no index is loaded, no old job done.

    Raises InvalidRequest for a mistake in the concepts file: whoever started the command sees it.
    """
    await declare_concepts(parts.pipeline, parts.settings.concepts_file, parts.settings.agent)
    jobs = asyncio.create_task(_supervised("jobs", lambda: parts.jobs.run(inherits=False)))
    try:
        yield
    finally:
        jobs.cancel()
        await asyncio.gather(jobs, return_exceptions=True)


def _follow_changes(parts: Parts, agents: Sequence[str]) -> list[asyncio.Task[None]]:
    """Load the resident indexes and keep them current; none, nothing to do."""
    residency = parts.residency
    if residency is None:
        return []
    residency.expect(agents)
    return [asyncio.create_task(_supervised("index", residency.run))]


def _run_readers(parts: Parts) -> list[asyncio.Task[None]]:
    """Keep the processes that rank beside this one; none by default."""
    readers = parts.readers
    return [asyncio.create_task(_supervised("readers", readers.run))] if readers else []


async def _read_dictionaries(parts: Parts, agents: Sequence[str]) -> None:
    """Spare the first write the reading; what goes wrong here, that write will tell.

    Searches come first: the indexes are loaded before.
    """
    with suppress(ServiceError):
        for agent in agents:
            if parts.residency:
                await parts.residency.index_of(agent)
        await read_ahead(parts.pipeline, agents)


def _refuse_open_door(parts: Parts) -> None:
    host = parts.settings.host
    if parts.keyring.is_empty and not is_loopback(host):
        msg = (
            f"MEMORY_HOST={host} is open to other machines, and no key was made yet. Make one "
            "first: graph-memory keys create --name NAME --scopes read,write,admin"
        )
        raise CannotStart(msg)


async def _declare(parts: Parts) -> None:
    """Take over the concepts file; a mistake in it is told, and the store stays as it was."""
    try:
        await declare_concepts(parts.pipeline, parts.settings.concepts_file, parts.settings.agent)
    except (ServiceError, OSError) as error:
        log.error("concepts file: %s", loggable(error))  # noqa: TRY400 - the sentence says all there is


async def _look_at_folders(sources: Sources) -> None:
    await sources.look()
    for warning in sources.warnings:
        log.warning("%s", warning)


async def _silence(parts: Parts) -> None:
    """Unlearn what quarantined memories taught older versions; what fails, the next start does."""
    try:
        await silence_quarantined(parts.pipeline)
    except ServiceError as error:
        log.error("quarantined memories: %s", error.logged)  # noqa: TRY400 - the sentence says all there is


async def _supervised(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Keep background work going: an unexpected failure is logged, and it starts again."""
    while True:
        try:
            await work()
        except Exception:  # a defect in one job must not end all later ones
            log.exception("background work %r failed; it starts again in 5 s", name)
            await asyncio.sleep(5)
        else:
            return
