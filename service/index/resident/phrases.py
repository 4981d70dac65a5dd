"""What the index in RAM does not know of words: their order, and what it has not taken in yet."""

import asyncio
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Any, Final

from service.index.resident.agent_index import AgentIndex
from service.index.resident.facts import SEARCHED, words_of
from service.index.resident.residency import Residency
from service.records import Scored
from service.store.database import Database, record
from service.store.queries import load_query
from service.store.written_records import Row
from service.text.terms import TERMS

WORDS_OF_MEMORIES: Final = load_query(__package__, "words_of_memories")

# Texts are read from the store: 100 by id take about 4 ms.
_SLICE: Final = 100


async def keep_phrase(
    db: Database, ranking: Sequence[Scored], phrase: str, limit: int
) -> list[Scored]:
    """Return the first `limit` of a ranking whose words hold a phrase; raises StoreUnavailable."""
    kept: list[Scored] = []
    for start in range(0, len(ranking), _SLICE):
        part = ranking[start : start + _SLICE]
        rows = await db.run(WORDS_OF_MEMORIES, ids=[record("memory", hit.id) for hit in part])
        holding = await asyncio.to_thread(_holding, rows, f" {phrase} ")
        kept += [hit for hit in part if hit.id in holding]
        if len(kept) >= limit:
            break
    return kept[:limit]


def hold_after(
    index: AgentIndex, phrases: Iterable[str], after: str, limit: int
) -> dict[str, set[str]]:
    """Return by phrase the first `limit` ids behind `after` of those that hold its words.

    The lock is let go between two phrases, and for the ids: a row keeps its memory.
    """
    held = {}
    for words in phrases:
        with index.lock:
            rows, _ = index.text.search_all(words, index.columns.present)
        keys = (key for row in rows.tolist() if (key := index.keys[row]) > after)
        held[words] = {*nsmallest(limit, keys)}
    return held


async def waiting_rows(residency: Residency, agent: str) -> list[Row]:
    """Return the rows of memories that are written and perhaps not in the agent's index yet.

    Where nobody tells them they are taken in first; raises StoreUnavailable.
    """
    rows = None if agent in residency.doubts else residency.follower.feed.waiting()
    if rows is None:
        await residency.catch_up(agent)
    return [row for row in rows or () if row["agent"] == agent]


def add_holding(rows: Iterable[Row], held: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return `held` with the ids of rows that hold all words of a phrase, as search_all."""
    wanted = {phrase: {TERMS[word] for word in phrase.split()} for phrase in held}
    for row in rows:
        words = words_of([row[name] for name in SEARCHED]) or ""
        terms = set(map(TERMS.__getitem__, words.split()))
        for phrase, needed in wanted.items():
            if needed and needed <= terms:
                held[phrase].add(row["id"].id)
    return held


def _holding(rows: Sequence[Sequence[Any]], phrase: str) -> set[str]:
    texts = ((key, words if isinstance(words, str) else words_of(words)) for key, words in rows)
    return {key for key, words in texts if phrase in f" {words} "}
