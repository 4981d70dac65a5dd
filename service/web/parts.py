"""What a route may ask for: the parts that the lifespan opened, by type."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from service.index.engine import Engine
from service.index.resident.residency import Residency
from service.inference.reranker import Reranker
from service.inference.vectors import Vectors
from service.ingest.jobs import JobRunner
from service.settings import Settings
from service.store.database import Database
from service.writing.pipeline import Pipeline


@dataclass(slots=True)
class Parts:
    """Everything that lives as long as the service, opened and closed by the lifespan.

    `residency` keeps the resident indexes; None where the database engine answers. `reranker` is
    None where no rerank server is configured.
    """

    settings: Settings
    db: Database
    vectors: Vectors
    engine: Engine
    residency: Residency | None
    pipeline: Pipeline
    jobs: JobRunner
    reranker: Reranker | None


# Not a plain function: FastAPI would ask a thread for it, at every request.
async def parts(request: Request) -> Parts:
    """Return the parts of the running service."""
    found: Parts = request.app.state.parts
    return found


TheParts = Annotated[Parts, Depends(parts)]
