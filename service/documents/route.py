"""The door of /documents."""

import asyncio
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import Field

from service.errors import DocumentNotFound
from service.field_types import WHOLE, AgentName
from service.store.agents import readable_agents
from service.store.database import record
from service.store.queries import load_query
from service.web.declared import problems
from service.web.parts import TheDatabase

_LINE_END: Final = re.compile(r"\r\n|\r|\n")

router = APIRouter(prefix="/documents", tags=["documents"])

DOCUMENT = load_query(__package__, "document")


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """Lines of a document: `from_line` to `to_line` of `total_lines`, counted from 1."""

    path: str
    text: str
    from_line: int
    to_line: int
    total_lines: int
    updated_at: datetime


@router.get("", operation_id="read_document", responses=problems(DocumentNotFound))
async def get_document(
    db: TheDatabase,
    path: Annotated[str, Query(max_length=500, examples=["memory/2026-02-13.md"])],
    from_: Annotated[
        int, Field(ge=1), WHOLE, Query(alias="from", description="First line, from 1.")
    ] = 1,
    lines: Annotated[
        Annotated[int, Field(ge=1, le=100_000), WHOLE] | None,
        Query(description="Unset: to the end."),
    ] = None,
    agent: AgentName = "main",
) -> DocumentLines:
    """Read the text of a document by line range, as it was last ingested."""
    [owner] = await readable_agents(db, agent, [])
    row = await db.run(DOCUMENT, id=record("document", [owner, path]))
    if row is None:
        msg = (
            f"No document {path!r} was ingested for agent {agent!r}. "
            "Search hits name theirs in source.uri."
        )
        raise DocumentNotFound(msg)
    every = await asyncio.to_thread(_lines, row["text"])
    chosen = every[from_ - 1 : None if lines is None else from_ - 1 + lines]
    return DocumentLines(
        path, "\n".join(chosen), from_, from_ - 1 + len(chosen), len(every), row["updated_at"]
    )


def _lines(text: str) -> list[str]:
    """Split where the chunker does, at CRLF, CR and LF alone: hits name lines counted so."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]
