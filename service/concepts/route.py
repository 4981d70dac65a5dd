"""The door of /concepts."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from service.concepts.listing import Wanted, read_page
from service.errors import AgentUnknown, ConceptNotFound
from service.index.resident.concept_pages import ConceptPlace
from service.index.resident.residency import Residency
from service.store.agents import refuse_unknown
from service.store.database import record
from service.store.queries import load_query
from service.web.cursors import CursorForm
from service.web.declared import links, problems
from service.web.fields import PageLimit, QueryAgent
from service.web.parts import TheDatabase, ThePipeline, part
from service.web.room import Room

router = Room("concepts", prefix="/concepts")

CONCEPT = load_query(__package__, "concept")
MERGED_INTO = load_query(__package__, "merged_into")
_MOST_RELATED = 50
# In how many memories the last concept of a page stands, and its id.
PLACE = CursorForm("c", (int, str))
ConceptCursor = Annotated[str, Field(max_length=2000), *PLACE.type_rules()]


@dataclass(frozen=True, slots=True)
class ConceptFields:
    """Something memories talk about; `memories` counts those that mention it.

    `kind` is a declared concept's own kind, or how a learned one was met: tag, link, title,
    heading or proper (a proper noun that two memories used). Among the `aliases` are the names of
    concepts that were the same thing under another spelling and were merged into this one.
    """

    id: str
    name: str
    aliases: list[str]
    kind: str
    memories: int
    is_declared: bool


@dataclass(frozen=True, slots=True)
class ConceptPage:
    """One page of concepts, those in the most memories first."""

    concepts: list[ConceptFields]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class RelatedConcept:
    """A concept that stands beside this one in `weight` memories, or was declared related."""

    id: str
    weight: int
    is_declared: bool


@dataclass(frozen=True, slots=True)
class MergedConcept:
    """What was a concept of its own, and the run that merged it into this one."""

    id: str
    name: str
    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptDetail(ConceptFields):
    """A concept with its neighbours, and what was merged into it."""

    merged: list[MergedConcept]
    related_to: list[RelatedConcept]
    is_a: list[str]
    narrower: list[str]


@router.get(
    "", operation_id="list_concepts",
    responses=problems(AgentUnknown)
    | links(200, read_concept={"id": "/concepts/0/id"}, list_concepts={"cursor": "/next_cursor"}),
)  # fmt: skip
async def get_concepts(
    db: TheDatabase,
    residency: Annotated[Residency | None, part(Residency)],
    agent: QueryAgent,
    q: Annotated[str | None, Query(max_length=200, description="Part of a name.")] = None,
    limit: PageLimit = 50,
    cursor: ConceptCursor | None = None,
) -> ConceptPage:
    """List what an agent's memories talk about."""
    after: ConceptPlace | None = None
    if cursor:
        memories, slug = PLACE.decode(cursor)
        after = memories, slug
    rows, next_place = await read_page(db, residency, Wanted(agent, q or None, after, limit))
    if not rows and not cursor:
        await refuse_unknown(db, agent)
    page = [ConceptFields(**_fields(row)) for row in rows]
    return ConceptPage(page, PLACE.encode(*next_place) if next_place else None)


@router.get("/{id}", operation_id="read_concept", responses=problems(ConceptNotFound))
async def get_concept(
    pipeline: ThePipeline,
    id: str,  # noqa: A002 - the contract's name
    agent: QueryAgent,
) -> ConceptDetail:
    """Read one concept with the concepts around it.

    The id of a concept that was merged leads to the one that it was merged into.
    """
    db = pipeline.db
    row = await db.run(CONCEPT, id=record("concept", [agent, id]))
    if row is None:
        for owner, slug in await db.run(MERGED_INTO, slug=id):
            if owner == agent:
                row = await db.run(CONCEPT, id=record("concept", [agent, slug]))
    if row is None:
        raise ConceptNotFound(f"Agent {agent!r} has no concept {id!r}.")
    slug = row["id"][1]
    related = [
        RelatedConcept(edge.target if edge.source == slug else edge.source, *edge[2:])
        for edge in await pipeline.engine.related_edges(agent, [slug])
    ]
    return ConceptDetail(
        **_fields(row),
        merged=[MergedConcept(one["slug"], one["name"], one["run"]) for one in row["merged"]],
        related_to=sorted(related, key=lambda r: (-r.weight, r.id))[:_MOST_RELATED],
        is_a=sorted(key[1] for key in row["is_a"]),
        narrower=sorted(key[1] for key in row["narrower"]),
    )


def _fields(row: dict[str, Any]) -> dict[str, Any]:
    same = {name: row[name] for name in ("name", "kind", "memories", "is_declared")}
    aliases = dict.fromkeys([*row["aliases"], *(one["name"] for one in row["merged"])])
    return {"id": row["id"][1], "aliases": list(aliases), **same}
