"""Pages of an agent's concepts, those in the most memories first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from service.index.resident.concept_pages import ConceptPlace, first_concepts
from service.index.resident.residency import Residency
from service.names.slugs import slug_of
from service.store.database import Database, record
from service.store.queries import load_query

LIST = load_query(__package__, "list")
ROWS = load_query(__package__, "rows")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which page: of names that `part` is in, behind a place."""

    agent: str
    part: str | None
    after: ConceptPlace | None
    limit: int


async def read_page(
    db: Database, residency: Residency | None, wanted: Wanted
) -> tuple[list[dict[str, Any]], ConceptPlace | None]:
    """Return the rows of a page, and where the next one begins; None behind the last concept.

    The order is the index's, which holds all names and numbers; without it the store sorts all.
    """
    limit = wanted.limit
    places: list[ConceptPlace] | None = None
    if residency:
        passes = _holds(wanted.part) if wanted.part else None
        places = await first_concepts(residency, wanted.agent, passes, wanted.after, limit + 1)
    if places is None:
        rows = await _sorted_by_the_store(db, wanted)
        places = [(row["memories"], row["id"][1]) for row in rows]
    else:
        ids = [record("concept", [wanted.agent, slug]) for _, slug in places[:limit]]
        rows = await db.run(ROWS, ids=ids) if ids else []
    return rows[:limit], places[limit - 1] if len(places) > limit else None


def _holds(part: str) -> Callable[[str, str], bool]:
    """Return what tells whether a part is in a concept's name, or in its slug, as list.surql."""
    lower, slug_part = part.lower(), slug_of(part)
    return lambda name, slug: lower in name.lower() or (bool(slug_part) and slug_part in slug)


async def _sorted_by_the_store(db: Database, wanted: Wanted) -> list[dict[str, Any]]:
    memories, slug = wanted.after or (None, "")
    rows: list[dict[str, Any]] = await db.run(
        LIST,
        agent=wanted.agent,
        contains=wanted.part.lower() if wanted.part else None,
        contains_slug=slug_of(wanted.part) or None if wanted.part else None,
        memories=memories,
        after=record("concept", [wanted.agent, slug]) if wanted.after else None,
        limit=wanted.limit + 1,
    )
    return rows
