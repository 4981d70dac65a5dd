"""The store's own indexes of words and edges: there for the database engine, which asks them."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from service.errors import TextIndexMissing
from service.store.database import BUILDING_PATIENCE, Database, record
from service.store.queries import load_query
from service.text.titles import text_of
from service.text.words import memory_words

DATABASE_INDEXES: Final = load_query(__package__, "database_indexes")
HAS_MEMORIES: Final = load_query(__package__, "has_memories")
FORGET_DATABASE_INDEXES: Final = load_query(__package__, "forget_database_indexes")
TEXT_PAGE: Final = load_query(__package__, "text_page")
WRITE_WORDS: Final = load_query(__package__, "write_words")
ENDS_PAGE: Final = load_query(__package__, "ends_page")
WRITE_ENDS: Final = load_query(__package__, "write_ends")

_OVER_EDGES: Final = frozenset({"by_concept", "by_out"})
_PAGE_MEMORIES: Final = 500
_PAGE_PAIRS: Final = 2000


async def fit_indexes(db: Database, schema: str, engine: str) -> None:
    """Take the indexes away where nobody asks them; make them where that does not take long.

    Raises TextIndexMissing where it would: of the words of memories that are stored already.
    """
    indexes = await db.run(DATABASE_INDEXES)
    if engine == "resident":
        # A start that writes nothing succeeds on a full disk too, and what is stored can be read.
        if indexes:
            await db.run(FORGET_DATABASE_INDEXES)
        return
    if "by_words" not in indexes:
        if await db.run(HAS_MEMORIES):
            msg = (
                f"The store has no full-text index, which the engine `{engine}` needs: run "
                "`graph-memory switch-engine` while the service is stopped."
            )
            raise TextIndexMissing(msg)
        await db.define_index(schema, "words")
    if not _OVER_EDGES.issubset(indexes):
        await _define_over_edges(db, schema)


async def switch_indexes(db: Database, schema: str, engine: str) -> bool:
    """Build the indexes or take them away, however long that takes; returns whether it had to."""
    indexes = await db.run(DATABASE_INDEXES)
    if engine == "resident":
        if indexes:
            await db.run(FORGET_DATABASE_INDEXES)
        return bool(indexes)
    if _OVER_EDGES.issubset(indexes) and "by_words" in indexes:
        return False
    if "by_words" not in indexes:
        await _write_words(db)
        await db.define_index(schema, "words", BUILDING_PATIENCE)
    await _define_over_edges(db, schema)
    return True


async def _define_over_edges(db: Database, schema: str) -> None:
    """Index the edges, once all pairs of concepts have what their index is made of.

    The index comes last: a store that has it lacks nothing, and what was killed before goes on.
    """
    after: list[str] = []
    while page := await db.run(ENDS_PAGE, after=after, limit=_PAGE_PAIRS):
        await db.run(WRITE_ENDS, pairs=[record("related_to", key) for key in page])
        after = page[-1]
    # The one over what memories mention took 2.8 s for 100,000.
    await db.define_index(schema, "edges", BUILDING_PATIENCE)


async def _write_words(db: Database) -> None:
    """Give every memory its words: the resident engine keeps none in the store.

    Those that it has may be of an older version.
    """
    after = ""
    while page := await db.run(TEXT_PAGE, after=after, limit=_PAGE_MEMORIES):
        if memories := await asyncio.to_thread(_lacking, page):
            await db.run(WRITE_WORDS, memories=memories)
        after = page[-1]["id"]


def _lacking(page: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the memories of a page that have no words, or others than theirs, with these."""
    words = (
        memory_words(
            text_of(row["heading_path"], row["title"], row["content"], row["search_headings"]),
            row["tags"],
        )
        for row in page
    )
    return [
        {"id": record("memory", row["id"]), "words": made}
        for row, made in zip(page, words, strict=True)
        if row.get("words") != made
    ]
