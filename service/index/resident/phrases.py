"""Phrases, word for word: the index in RAM knows which words stand in a memory, not their order."""

from collections.abc import Sequence
from typing import Final

from service.store.database import Database, record
from service.store.queries import load_query

HOLD_PHRASE: Final = load_query(__package__, "hold_phrase")


async def hold_phrase(db: Database, keys: Sequence[str], phrase: str) -> set[str]:
    """Return those of the memories whose words hold a phrase; raises StoreUnavailable."""
    ids = [record("memory", key) for key in keys]
    return set(await db.run(HOLD_PHRASE, ids=ids, phrase=f" {phrase} "))
