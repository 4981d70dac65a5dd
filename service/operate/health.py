"""The doors of /health: is the process alive, and can it do its work."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Response

from service.access.caller import caller
from service.errors import (
    EmbedderRefused,
    EmbedderUnavailable,
    ServiceError,
    VectorFormMismatch,
)
from service.index.resident.residency import Residency
from service.index.resident.state import IndexState
from service.inference.language_fit import LanguageFit
from service.inference.vectors import Vectors
from service.ingest.sources import Sources
from service.redaction import redacted
from service.search.searcher import Searcher
from service.store.agents import DEFAULT_AGENT
from service.store.database import Database
from service.store.private_files import PrivateFiles
from service.store.schema import SCHEMA_VERSION
from service.web.parts import TheDatabase, part
from service.web.room import Room

# Whoever asks must hear which part is stuck before giving up himself.
PATIENCE_SECONDS = 3
# The change feed is read every 250 ms; a flush or a large load may hold it up for some seconds.
MOST_LAG_SECONDS = 30

router = Room("operations", prefix="/health")


@dataclass(frozen=True, slots=True)
class Alive:
    """The process answers."""

    status: Literal["alive"] = "alive"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing the service needs; `detail` says what is there, or what to do."""

    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """`degraded`: words and graph answer, meaning does not; `unavailable`: nothing does.

    `reasons` keep it from being ready, `warnings` do not. `index` is what is held in RAM, with what
    is left out and how it differs from the store; null for the database engine. Where keys are,
    `status` alone is told to whoever shows none that is good for `admin`.
    """

    status: Literal["ready", "degraded", "unavailable"]
    checks: dict[str, Check]
    reasons: list[str]
    warnings: list[str]
    index: IndexState | None


@router.get("/live", operation_id="live")
async def get_live() -> Alive:
    """Say that the process answers."""
    return Alive()


async def _warnings(
    searcher: Annotated[Searcher, part(Searcher)],
    fit: Annotated[LanguageFit, part(LanguageFit)],
    files: Annotated[PrivateFiles, part(PrivateFiles)],
    sources: Annotated[Sources, part(Sources)],
) -> list[str]:
    """Return what is told though nothing keeps the service from being ready."""
    of_readers = searcher.readers.warning if searcher.readers else None
    told = (fit.warning, of_readers, *files.warnings, *sources.warnings)
    return [warning for warning in told if warning]


@router.get("/ready", operation_id="ready", responses={503: {"model": Readiness}})
async def get_ready(
    db: TheDatabase,
    searcher: Annotated[Searcher, part(Searcher)],
    residency: Annotated[Residency | None, part(Residency)],
    warnings: Annotated[list[str], Depends(_warnings)],
    response: Response,
) -> Readiness:
    """Check database, schema, embedder, fingerprint and engine; 503 with reasons if need be."""
    checks = {
        "database": await _database(db),
        "disk": _disk(db),
        "schema": Check(ok=True, detail=f"version {SCHEMA_VERSION}"),
        "embedder": await _embedder(searcher.vectors),
        "fingerprint": _fingerprint(searcher.vectors),
        "engine": _engine(searcher, residency, searcher.settings.agent),
    }
    tells_all = caller().agents is None and caller().memory_scopes is None
    index = await asyncio.to_thread(residency.state) if residency and tells_all else None
    reasons = [f"{name}: {check.detail}" for name, check in checks.items() if not check.ok]
    status: Literal["ready", "degraded", "unavailable"] = "ready"
    if reasons:
        response.status_code = 503
        response.headers["Retry-After"] = "2"
        status = "degraded" if checks["database"].ok else "unavailable"
    if "admin" not in caller().scopes:
        return Readiness(status, {}, [], [], None)
    return Readiness(status, checks, reasons, warnings, index)


async def _database(db: Database) -> Check:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await db.ping()
    except ServiceError as error:
        return Check(ok=False, detail=error.detail)
    except TimeoutError:
        return Check(ok=False, detail=f"no answer within {PATIENCE_SECONDS} s")
    return Check(ok=True, detail=redacted(db.address.url))


def _disk(db: Database) -> Check:
    try:
        db.room.check()
        return Check(ok=True, detail=db.room.told())
    except ServiceError as error:
        return Check(ok=False, detail=error.detail)
    except OSError as error:
        return Check(ok=False, detail=f"the store's folder cannot be read ({error.strerror})")


async def _embedder(vectors: Vectors) -> Check:
    """Tell what the last calls gave; a look that embeds for real is at most so many seconds old."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            model = await vectors.check()
    except TimeoutError:
        return Check(ok=False, detail=f"no answer within {PATIENCE_SECONDS} s")
    except (EmbedderUnavailable, EmbedderRefused) as error:
        rest = vectors.rest_seconds
        told = f" Looked at again in {rest:.0f} s." if rest else ""
        return Check(ok=False, detail=f"{error.detail}{told}")
    except ServiceError:
        return Check(ok=True, detail="not asked")
    return Check(ok=True, detail=f"{model.name}, {model.dimensions} dimensions")


def _fingerprint(vectors: Vectors) -> Check:
    problem = vectors.problem
    if problem is None:
        return Check(ok=True, detail=vectors.fingerprint)
    is_mismatch = not isinstance(
        problem, EmbedderUnavailable | EmbedderRefused | VectorFormMismatch
    )
    return Check(ok=not is_mismatch, detail=problem.detail if is_mismatch else "not known yet")


def _engine(searcher: Searcher, residency: Residency | None, agent: str) -> Check:
    problem = searcher.vectors.problem
    if isinstance(problem, VectorFormMismatch):
        return Check(ok=False, detail=problem.detail)
    if residency:
        agents = {agent, DEFAULT_AGENT}
        waiting = [told for one in sorted(agents) if (told := residency.waiting(one))]
        if waiting:
            return Check(ok=False, detail=" ".join(waiting))
        lag = residency.follower.lag_seconds
        if lag > MOST_LAG_SECONDS:
            return Check(ok=False, detail=f"the index lags {lag:.0f} s behind the store")
    return Check(ok=True, detail=searcher.engine.name)
