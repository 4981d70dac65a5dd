"""The door of /documents."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import Annotated, Any, Final, Literal

from fastapi import Query
from pydantic import Field

from service.access.origins import UNKNOWN, lower_tier, tier_of
from service.errors import DocumentNotFound
from service.field_types import WHOLE, TrustTier
from service.ingest.document_names import names_of
from service.store.agents import readable_agents
from service.store.database import record
from service.store.queries import load_query
from service.text.lines import LineRange, Placed, blanked, hidden, lines_of
from service.web.declared import problems
from service.web.fields import QueryAgent
from service.web.parts import TheDatabase
from service.web.room import Room

router = Room("documents", prefix="/documents")

DOCUMENT = load_query(__package__, "document")

_TRUST: Final[list[TrustTier]] = ["trusted", "untrusted"]


@dataclass(frozen=True, slots=True)
class WithheldLines:
    """Lines of a document that are shown empty, so that all others keep their numbers.

    `deleted`: a memory that was deleted for good was read there. `trust`: one that is of none of
    the trust tiers that were asked for.
    """

    from_line: int
    to_line: int
    reason: Literal["deleted", "trust"]


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """Lines of a document: `from_line` to `to_line` of `total_lines`, counted from 1.

    `withheld` tells which lines of the whole document are shown empty, and why; `trust_tier` is the
    lowest of all that is shown of it, and of who sent it.
    """

    path: str
    text: str
    trust_tier: str
    from_line: int
    to_line: int
    total_lines: int
    updated_at: datetime
    withheld: list[WithheldLines]


@router.get("", operation_id="read_document", responses=problems(DocumentNotFound))
async def get_document(
    db: TheDatabase,
    agent: QueryAgent,
    path: Annotated[str, Query(max_length=500, examples=["memory/2026-02-13.md"])],
    from_: Annotated[
        int, Field(ge=1), WHOLE, Query(alias="from", description="First line, from 1.")
    ] = 1,
    lines: Annotated[
        Annotated[int, Field(ge=1, le=100_000), WHOLE] | None,
        Query(description="Unset: to the end."),
    ] = None,
    trust: Annotated[
        list[TrustTier], Query(description="Only what was read into memories of these tiers.")
    ] = _TRUST,
) -> DocumentLines:
    """Read the text of a document by line range, as it was last ingested.

    Without the lines of memories that were deleted for good or are quarantined, and what stands
    with these alone, as front matter and bare headings: `withheld` says which lines these are.
    """
    [owner] = await readable_agents(db, agent, [])
    for name in names_of(path):
        key = record("document", [owner, name])
        if row := await db.run(DOCUMENT, id=key, agent=owner, uri=name):
            break
    else:
        msg = (
            f"No document {path!r} was ingested for agent {agent!r}. "
            "Search hits name theirs in source.uri."
        )
        raise DocumentNotFound(msg)
    every, untrusted = await asyncio.to_thread(_shown, row["text"], row["sections"], trust)
    tiers = [one[3] for one in row["sections"] if one[3] in trust]
    lowest = reduce(lower_tier, tiers, tier_of(row.get("origin") or UNKNOWN.origin))
    chosen = every[from_ - 1 : None if lines is None else from_ - 1 + lines]
    return DocumentLines(
        name, "\n".join(chosen), lowest, from_, from_ - 1 + len(chosen), len(every),
        row["updated_at"], [
            *(WithheldLines(first, last, "deleted") for first, last in row["withheld"]),
            *(WithheldLines(first, last, "trust") for first, last in untrusted),
        ],
    )  # fmt: skip


def _shown(
    text: str, sections: Iterable[Sequence[Any]], trust: Sequence[str]
) -> tuple[list[str], Sequence[LineRange]]:
    """Return the lines of a text, empty where they may not be shown, and which those are."""
    places = (Placed(one[0], one[1], tuple(one[2]), one[3] in trust) for one in sections)
    untrusted = hidden(text, places)
    return lines_of(blanked(text, untrusted)), untrusted
