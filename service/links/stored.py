"""What the store holds of documents, memories and their links: typed calls of the queries here."""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Final, NamedTuple

import orjson

from service.drafts.chains import Link
from service.drafts.stored_memory import StoredMemory
from service.index.engine import Engine
from service.names.relations import Pair
from service.names.slugs import key_of, tokens_of
from service.records import Source
from service.store.database import Database, record
from service.store.queries import load_query
from service.text.words import STOP_WORDS, index_words, query_words

SOURCE_ROWS: Final = load_query(__package__, "source_rows")
MEMORY_ROWS: Final = load_query(__package__, "memory_rows")
MEMORY_TEXTS: Final = load_query(__package__, "memory_texts")
DOCUMENT_HASHES: Final = load_query(__package__, "document_hashes")
CONCEPT_COUNTS: Final = load_query(__package__, "concept_counts")
CANDIDATES: Final = load_query(__package__, "candidates")
LINKED_CONCEPTS: Final = load_query(__package__, "linked_concepts")
PAIR_EDGES: Final = load_query(__package__, "pair_edges")
CHAIN_SPANS: Final = load_query(__package__, "chain_spans")
CHAIN_EDGES: Final = load_query(__package__, "chain_edges")
DICTIONARY: Final = load_query(__package__, "dictionary")
EXPLAINED: Final = load_query(__package__, "explained")
MEANINGS: Final = load_query(__package__, "meanings")
CONCEPT_ROWS: Final = load_query(__package__, "concept_rows")
SHORTS_OF: Final = load_query(__package__, "shorts_of")
RELINKING: Final = load_query(__package__, "relinking")
WAITING_SLUGS: Final = load_query(__package__, "waiting_slugs")

_MOST_MENTIONING: Final = 1000
# All 40,000 concepts of 100,000 memories at once left the process 120 MB larger.
_PAGE_CONCEPTS: Final = 5000
# The engine's time for one question about abbreviations grows with the square of what it names.
_MOST_ASKED: Final = 250
# Longer tokens are not in the full-text index (service/text/words.py).
_LONGEST_CHARACTERS: Final = 100


async def memories_of_document(db: Database, agent: str, uri: str) -> dict[str, StoredMemory]:
    """Return the memories that a document gave so far, by id."""
    rows = await db.run(SOURCE_ROWS, agent=agent, uri=uri)
    return {row["id"]: StoredMemory.from_row(row) for row in rows}


async def memories_by_id(db: Database, keys: Iterable[str]) -> dict[str, StoredMemory]:
    """Return the memories that exist among `keys`, with their content."""
    ids = [record("memory", key) for key in keys]
    rows = await db.run(MEMORY_ROWS, ids=ids) if ids else []
    return {row["id"]: StoredMemory.from_row(row) for row in rows}


@dataclass(frozen=True, slots=True)
class StoredText:
    """A stored memory as it is linked: what it says, and what it gives on purpose."""

    title: str
    content: str
    heading_path: tuple[str, ...]
    tags: tuple[str, ...]
    concepts: tuple[str, ...]
    source: Source
    trust_tier: str
    teaches: bool


async def texts_by_id(db: Database, keys: Iterable[str]) -> dict[str, StoredText]:
    """Return the memories that exist among `keys` as they are linked.

    A new name may stand in 1,000 of them: whole rows take twice the time.
    """
    ids = [record("memory", key) for key in keys]
    rows = await db.run(MEMORY_TEXTS, ids=ids) if ids else []
    return {row["id"]: _text_of(row) for row in rows}


def _text_of(row: Mapping[str, Any]) -> StoredText:
    return StoredText(
        title=row["title"],
        content=row["content"],
        heading_path=tuple(row["heading_path"]),
        tags=tuple(row["tags"]),
        concepts=tuple(row["concepts"]),
        source=Source(uri=row["uri"]),
        trust_tier=row["trust_tier"],
        teaches=row["teaches"],
    )


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What is known of a document without its text; `sections` counts its memories."""

    uri: str
    text_hash: str
    folder: str | None
    sections: int


async def documents(db: Database, agent: str) -> dict[str, StoredDocument]:
    """Return every document of an agent, by uri."""
    rows = await db.run(DOCUMENT_HASHES, agent=agent)
    return {
        row["uri"]: StoredDocument(row["uri"], row["text_hash"], row.get("folder"), row["sections"])
        for row in rows
    }


async def concept_counts(
    db: Database, agent: str, slugs: Iterable[str]
) -> dict[str, tuple[int, bool]]:
    """Return (number of memories, is declared) of the concepts that exist among `slugs`."""
    ids = [record("concept", [agent, slug]) for slug in slugs]
    rows = await db.run(CONCEPT_COUNTS, ids=ids) if ids else []
    return {row["id"][1]: (row["memories"], row["is_declared"]) for row in rows}


async def candidate_memories(db: Database, agent: str, slugs: Iterable[str]) -> dict[str, str]:
    """Return the one memory that used each proper noun so far, by slug."""
    ids = [record("candidate", [agent, slug]) for slug in slugs]
    rows = await db.run(CANDIDATES, ids=ids) if ids else []
    return {row["id"][1]: row["memory"] for row in rows}


async def meanings(
    db: Database, agent: str, shorts: Collection[str], keys: Collection[str]
) -> dict[str, dict[str, str]]:
    """Return what abbreviations stand for, as long names by slug: all but what `keys` say.

    These are `shorts` and those that the memories of `keys` explain; one that nobody else explains
    has no meaning here.
    """
    own, every = set(keys), set(shorts)
    for some in _pieces(own):
        every.update(await db.run(EXPLAINED, memories=[record("memory", key) for key in some]))
    by_short: dict[str, dict[str, str]] = {short: {} for short in sorted(every)}
    for some in _pieces(every):
        found = await db.run(MEANINGS, agent=agent, shorts=some)
        others = dict.fromkeys(tuple(told) for *told, key in found if key not in own)
        for short, slug, name in others:
            by_short[short][slug] = name
    return by_short


def _pieces(names: Iterable[str]) -> list[list[str]]:
    every = sorted(names)
    return [every[start : start + _MOST_ASKED] for start in range(0, len(every), _MOST_ASKED)]


async def concept_rows(db: Database, agent: str, slugs: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the concepts that exist among `slugs`, with what was merged into them."""
    ids = [record("concept", [agent, slug]) for slug in slugs]
    rows = await db.run(CONCEPT_ROWS, ids=ids) if ids else []
    return {row["id"][1]: row for row in rows}


async def relinking(db: Database, agent: str, slug: str) -> dict[str, Any] | None:
    """Return what is left of a merge into a concept, or of a parting from it."""
    row: dict[str, Any] | None = await db.run(RELINKING, id=record("relinking", [agent, slug]))
    return row


async def waiting_slugs(db: Database, agent: str) -> set[str]:
    """Return the concepts that memories may yet be linked to, in transactions to come."""
    return set(await db.run(WAITING_SLUGS, agent=agent))


async def shorts_of(db: Database, agent: str, slugs: Iterable[str]) -> set[str]:
    """Return the abbreviations that memories explain by one of these names."""
    return set(await db.run(SHORTS_OF, agent=agent, slugs=sorted(slugs)))


class Mentioning(NamedTuple):
    """The ids of memories that may mention a name, and the names that perhaps more mention."""

    keys: set[str]
    unlinked: tuple[str, ...] = ()


async def mentioning(engine: Engine, agent: str, names: Iterable[str]) -> Mentioning:
    """Return the memories that may mention at least one of the names, 1,000 for each."""
    phrases = {name: _phrases(name) for name in names}
    if not (every := list(dict.fromkeys(chain.from_iterable(phrases.values())))):
        return Mentioning(set())
    held = await engine.holding(agent, every, _MOST_MENTIONING)
    cut = {phrase for phrase, keys in held.items() if len(keys) >= _MOST_MENTIONING}
    unlinked = tuple(name for name, those in phrases.items() if not cut.isdisjoint(those))
    return Mentioning(set().union(*held.values()), unlinked)


async def mentioning_after(
    engine: Engine, agent: str, names: Iterable[str], after: str, limit: int
) -> list[str]:
    """Return the first `limit` of all memories that may mention one of the names, by their ids."""
    phrases = dict.fromkeys(phrase for name in names for phrase in _phrases(name))
    return await engine.holding_after(agent, phrases, after, limit)


def _phrases(name: str) -> list[str]:
    """Return the words that a text must hold to mention a name, however it writes them.

    A full-text index has every whole token of two letters and more: `src/app.py` and `src app py`
    share src, app and py, `v2.3.1` and `v2 3 1` share v2.
    """
    tokens = tokens_of(name)
    words = [
        key_of([token]) if token.isascii() else index_words(token.lower())
        for token in tokens
        # ß and its like: the dictionary folds them, the index does not.
        if token.casefold() == token.lower()
    ]
    telling = [w for w in words if 1 < len(w) <= _LONGEST_CHARACTERS and w not in STOP_WORDS]
    if telling:
        return [" ".join(dict.fromkeys(telling))]
    return [phrase for phrase in (query_words(name), query_words(" ".join(tokens))) if phrase]


async def linked_concepts(db: Database, keys: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the concepts (slugs) that memories reference, by memory id."""
    linked = dict.fromkeys(keys, frozenset[str]())
    ids = [record("references", key) for key in linked]
    rows = await db.run(LINKED_CONCEPTS, ids=ids) if ids else []
    return linked | {row["id"]: frozenset(slug for _, slug in row["concepts"]) for row in rows}


class PairEdge(NamedTuple):
    """An edge between two concepts that stand in the same memories."""

    weight: int
    is_declared: bool


async def pair_edges(db: Database, agent: str, pairs: Iterable[Pair]) -> dict[Pair, PairEdge]:
    """Return the related_to edges that exist among `pairs`."""
    ids = [record("related_to", [agent, *pair]) for pair in pairs]
    rows = await db.run(PAIR_EDGES, ids=ids) if ids else []
    return {(key[1], key[2]): PairEdge(weight, is_declared) for key, weight, is_declared in rows}


async def chain_spans(
    db: Database, agent: str, spans: Mapping[str, tuple[datetime, datetime]]
) -> dict[str, set[Link]]:
    """Return chains' memories between two moments, and those of the nearest moment aside.

    All chains in one query: asked one by one, a quarter of the time of a load went here.
    """
    asked = [[chain, *span] for chain, span in spans.items()]
    rows = await db.run(CHAIN_SPANS, agent=agent, spans=asked) if asked else []
    found: dict[str, set[Link]] = {chain: set() for chain in spans}
    for row in rows:
        link = Link(row["occurred_at"], row.get("uri") or "", row["position"], row["id"])
        found[row["chain"]].add(link)
    return found


async def chain_edges(db: Database, keys: Iterable[str]) -> set[tuple[str, str]]:
    """Return the (later, earlier) edges that start at these memories."""
    ids = [record("follows", key) for key in keys]
    rows = await db.run(CHAIN_EDGES, ids=ids) if ids else []
    return {(row["id"], earlier) for row in rows for earlier in row["earlier"]}


async def dictionary_rows(db: Database, agent: str) -> list[dict[str, Any]]:
    """Return every concept of an agent as rows, those with the most memories first."""
    rows: list[dict[str, Any]] = []
    after, end = [agent], [f"{agent}\x00"]
    while True:
        found: str = await db.run(DICTIONARY, after=after, end=end, limit=_PAGE_CONCEPTS)
        page: list[dict[str, Any]] = await asyncio.to_thread(orjson.loads, found)
        rows += page
        if len(page) < _PAGE_CONCEPTS:
            break
        after = page[-1]["id"]
    return sorted(rows, key=lambda row: (-row["memories"], row["id"][1]))
