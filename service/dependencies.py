"""What a route may ask for: the parts that the lifespan opened, by type."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from service.database import Database
from service.index.residency import Residency
from service.ingest.jobs import JobRunner
from service.ingest.sync import Pipeline
from service.reranker import Reranker
from service.search.engine import Engine
from service.settings import Settings
from service.vectors import Vectors


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
