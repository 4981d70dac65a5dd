"""The door of /documents."""

import asyncio
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from service.errors import DocumentNotFound
from service.field_types import AgentName
from service.store.agents import readable_agents
from service.store.database import record
from service.store.queries import load_query
from service.web.parts import TheDatabase

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


@router.get("", operation_id="read_document")
async def get_document(
    db: TheDatabase,
    path: Annotated[str, Query(max_length=500, examples=["memory/2026-02-13.md"])],
    from_: Annotated[int, Query(alias="from", ge=1, description="First line, from 1.")] = 1,
    lines: Annotated[int | None, Query(ge=1, le=100_000, description="Unset: to the end.")] = None,
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
    lines = re.split(r"\r\n|\r|\n", text)
    return lines if lines[-1] else lines[:-1]
