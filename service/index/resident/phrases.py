"""Phrases, word for word: the index in RAM knows which words stand in a memory, not their order."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from service.index.resident.facts import words_of
from service.store.database import Database, record
from service.store.queries import load_query

WORDS_OF_MEMORIES: Final = load_query(__package__, "words_of_memories")


async def hold_phrase(db: Database, keys: Sequence[str], phrase: str) -> set[str]:
    """Return those of the memories whose words hold a phrase; raises StoreUnavailable."""
    ids = [record("memory", key) for key in keys]
    rows = await db.run(WORDS_OF_MEMORIES, ids=ids)
    return await asyncio.to_thread(_holding, rows, f" {phrase} ")


def _holding(rows: Sequence[Sequence[Any]], phrase: str) -> set[str]:
    texts = ((key, words if isinstance(words, str) else words_of(words)) for key, words in rows)
    return {key for key, words in texts if phrase in f" {words} "}
