"""What a route may ask for: a part that the lifespan opened, by its type.

A route declares the parts that it needs, `db: TheDatabase` or `Annotated[Scans,
part(Scans)]`; a room that brings a part of its own needs no line here.
"""

from typing import Annotated, Any

from fastapi import Depends, Request

from service.inference.vectors import Vectors
from service.settings import Settings
from service.store.database import Database
from service.writing.pipeline import Pipeline


def part(kind: type) -> Any:
    """Return the dependency that gives the part of this type; None where none was opened."""

    # Not a plain function: FastAPI would ask a thread for it, at every request.
    async def opened(request: Request) -> Any:
        return request.app.state.parts.get(kind)

    return Depends(opened)


TheDatabase = Annotated[Database, part(Database)]
TheSettings = Annotated[Settings, part(Settings)]
TheVectors = Annotated[Vectors, part(Vectors)]
ThePipeline = Annotated[Pipeline, part(Pipeline)]
