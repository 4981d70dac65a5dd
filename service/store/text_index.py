"""The store's own full-text index: there for the database engine, which ranks by it."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from service.errors import TextIndexMissing
from service.store.database import BUILDING_PATIENCE, Database, record
from service.store.queries import load_query
from service.text.titles import text_of
from service.text.words import index_words

HAS_TEXT_INDEX: Final = load_query(__package__, "has_text_index")
HAS_MEMORIES: Final = load_query(__package__, "has_memories")
FORGET_TEXT_INDEX: Final = load_query(__package__, "forget_text_index")
TEXT_PAGE: Final = load_query(__package__, "text_page")
WRITE_WORDS: Final = load_query(__package__, "write_words")

_PAGE_MEMORIES: Final = 500


async def fit_text_index(db: Database, schema: str, engine: str) -> None:
    """Take the index away where nobody asks it; make it in a store without memories.

    Raises TextIndexMissing where building it would take long.
    """
    has_index = await db.run(HAS_TEXT_INDEX)
    if engine == "resident":
        # A start that writes nothing succeeds on a full disk too, and what is stored can be read.
        if has_index:
            await db.run(FORGET_TEXT_INDEX)
        return
    if has_index:
        return
    if await db.run(HAS_MEMORIES):
        msg = (
            f"The store has no full-text index, which the engine `{engine}` needs: run "
            "`graph-memory switch-engine` while the service is stopped."
        )
        raise TextIndexMissing(msg)
    await db.define_index(schema, "words")


async def switch_text_index(db: Database, schema: str, engine: str) -> bool:
    """Build the index or take it away, however long that takes; returns whether it had to."""
    if await db.run(HAS_TEXT_INDEX) == (engine == "database"):
        return False
    if engine == "database":
        await _write_words(db)
        await db.define_index(schema, "words", BUILDING_PATIENCE)
    else:
        await db.run(FORGET_TEXT_INDEX)
    return True


async def _write_words(db: Database) -> None:
    """Give every memory the words that the resident engine does not keep in the store."""
    after = ""
    while page := await db.run(TEXT_PAGE, after=after, limit=_PAGE_MEMORIES):
        await db.run(WRITE_WORDS, memories=await asyncio.to_thread(list, map(_with_words, page)))
        after = page[-1]["id"]


def _with_words(row: Mapping[str, Any]) -> dict[str, Any]:
    text = text_of(row["heading_path"], row["title"], row["content"])
    return {"id": record("memory", row["id"]), "words": index_words(text)}
