"""Evidence out of the store itself, for the engine that keeps nothing in RAM."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.index.database.values import VALUES, Row, Told
from service.index.evidence import (
    Corpus,
    Evidence,
    Floats,
    Names,
    Question,
    RowNumbers,
    Within,
    mentions_of,
    told_within,
    with_other_spellings,
)
from service.index.given import MOST_MEMORIES, are_looked_up, given
from service.names.spellings import other_slugs
from service.records import FEW_MEMORIES, Concept, ConceptId, Filters
from service.store.database import Database, record
from service.store.queries import load_query
from service.text.terms import TERMS

EVIDENCE: Final = load_query(__package__, "evidence")
DOCUMENT_FREQUENCY: Final = load_query(__package__, "document_frequency")
ENDS: Final = load_query(__package__, "ends")
SPELLINGS: Final = load_query(__package__, "spellings")
MEMORIES_OF_CONCEPTS: Final = load_query(__package__, "memories_of_concepts")
OF_ONE_NAME: Final = load_query(__package__, "of_one_name")
SIZES: Final = load_query(__package__, "sizes")

# The store answers a few questions faster at once than in turn; more only wait.
AT_ONCE: Final = 8


async def collect_evidence(
    db: Database, question: Question, filters: Filters, keys: Iterable[str], reach: int
) -> Evidence:
    """Read memories and, step by step, their neighbours in time; see Engine.collect_evidence.

    How long an average text is, is estimated by those read.
    """
    named, (rows, within) = await asyncio.gather(
        named_in(db, filters.agents, question),
        _read_around(db, question, filters, keys, reach),
    )
    frequencies = await _document_frequencies(db, filters.agents, question.words)
    documents = sum((await sizes(db, filters.agents)).values())
    values = _count(question, rows.values())
    told = Told(question, named.spellings, await _mentions(db, named))
    every = [*rows.values()]
    values |= {
        name: value(every[: told_within(name, within)], told) for name, value in VALUES.items()
    }
    lengths = values["lengths"]
    words = documents * float(lengths.mean()) if len(lengths) else 0.0
    return Evidence(
        keys=tuple(rows),
        within=within,
        before=_ways(rows, within[0], "before", reach),
        after=_ways(rows, within[0], "after", reach),
        values=values,
        corpus=Corpus(
            np.array(frequencies, np.float32),
            mentions_of(question, named.concepts),
            question.plain,
            documents,
            words,
        ),
    )


async def sizes(db: Database, agents: Sequence[str]) -> dict[str, int]:
    """Return the number of memories of each agent, as every write keeps it up to date."""
    ids = [record("meta", ["dictionary", agent]) for agent in agents]
    memories = {row["id"][1]: row["memories"] for row in await db.run(SIZES, ids=ids)}
    return {agent: memories.get(agent, 0) for agent in agents}


async def _document_frequencies(
    db: Database, agents: Sequence[str], words: Sequence[str]
) -> list[int]:
    """Return how many of the agents' memories hold each word."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(word: str) -> int:
        async with turns:
            rows = await db.run(DOCUMENT_FREQUENCY, agents=list(agents), word=word)
        return rows[0]["count"] if rows else 0

    return list(await asyncio.gather(*map(one, words)))


async def linked(
    db: Database, agents: Sequence[str], concepts_of: Mapping[str, Sequence[Concept]]
) -> dict[str, list[tuple[Concept, list[str]]]]:
    """Follow concepts to the memories they link; see Engine.linked."""
    keys = [list(key) for key in {c.id for cs in concepts_of.values() for c in cs}]
    ids = [record("concept", key) for key in keys]
    found = await db.run(ENDS, agents=list(agents), ids=ids, keys=keys) if keys else None
    rows = found["concepts"] if found else []
    ends = {tuple(row["id"]): {**row, "subjects": {}} for row in rows}
    for memory, subject, concepts in found["ends"] if found else ():
        for one in map(tuple, concepts):
            if one in ends:
                ends[one]["subjects"][memory] = subject
    return {
        key: [
            (concept, beside)
            for concept in concepts
            if concept.id in ends and (beside := _beside(key, concept, ends[concept.id]))
        ]
        for key, concepts in concepts_of.items()
    }


def _beside(key: str, concept: Concept, row: Row) -> list[str]:
    slugs = {concept.id[1], *other_slugs(row["merged"], row.get("aliases"))}
    subjects: Mapping[str, str | None] = row["subjects"]
    is_open = concept.memories <= FEW_MEMORIES or subjects.get(key) in slugs
    return [
        end for end, subject in subjects.items() if end != key and (is_open or subject in slugs)
    ]


@dataclass(frozen=True, slots=True)
class Named:
    """What a question names, by agent: all slugs of it, and concepts whose words may be lacking."""

    spellings: Mapping[str, Names]
    concepts: Mapping[Concept, frozenset[int]]


async def named_in(db: Database, agents: Sequence[str], question: Question) -> Named:
    """Return names with all slugs that stand for the same concepts, and these concepts.

    With them those of one name that a memory was given without their words.
    """
    names = question.names
    rows = await db.run(SPELLINGS, agents=list(agents), slugs=sorted(names))
    groups: dict[str, list[tuple[str, ...]]] = {agent: [] for agent in agents}
    concepts = {}
    for (agent, slug), name, memories, merged, aliases in rows:
        slugs = (slug, *other_slugs(merged, aliases))
        words = [names[one] for one in slugs if one in names]
        if agent in groups and words:
            groups[agent].append(slugs)
            concepts[Concept((agent, slug), name, memories)] = frozenset[int]().union(*words)
    spellings = {agent: with_other_spellings(names, slugs) for agent, slugs in groups.items()}
    if are_looked_up(question):
        several = {(agent, slug) for agent, every in groups.items() for slug in chain(*every)}
        concepts |= await _given(db, agents, question, several)
    return Named(spellings, concepts)


async def _given(
    db: Database, agents: Sequence[str], question: Question, several: Collection[ConceptId]
) -> dict[Concept, frozenset[int]]:
    """Return the concepts of one name that a memory was given; `several` go by more than one."""
    keys = [(agent, slug) for agent in agents for slug, words in question.names.items() if words]
    ids = [record("concept", list(key)) for key in keys if key not in several]
    told = await db.run(OF_ONE_NAME, ids=ids, most_memories=MOST_MEMORIES)
    named: dict[Concept, frozenset[int]] = {
        Concept((agent, slug), name, memories): question.names[slug]
        for (agent, slug), name, memories in told["concepts"]
    }
    texts = {
        concept: [words for mentioned, words in told["memories"] if list(concept.id) in mentioned]
        for concept in named
    }
    return given(named, {one: _counts(question, words) for one, words in texts.items()})


async def _mentions(db: Database, named: Named) -> dict[str, frozenset[int]]:
    """Return the words of the named concepts, by the memories that mention them.

    Raises what the store does.
    """
    ids = {concept.id: places for concept, places in named.concepts.items()}
    if not ids:
        return {}
    found: dict[str, frozenset[int]] = {}
    for concept, memories in (await memories_of(db, list(ids))).items():
        for key in memories:
            found[key] = found.get(key, frozenset()) | ids[concept]
    return found


async def memories_of(db: Database, concepts: Sequence[ConceptId]) -> dict[ConceptId, list[str]]:
    """Return the memories that reference each concept that exists; raises what the store does."""
    keys = [list(concept) for concept in concepts]
    if not keys:
        return {}
    ids = [record("concept", key) for key in keys]
    told = await db.run(MEMORIES_OF_CONCEPTS, ids=ids, keys=keys)
    found: dict[ConceptId, list[str]] = {(agent, slug): [] for agent, slug in told["known"]}
    for key, mentioned in told["memories"]:
        for agent, slug in mentioned:
            if (agent, slug) in found:
                found[agent, slug].append(key)
    return found


async def _read_around(
    db: Database, question: Question, filters: Filters, keys: Iterable[str], reach: int
) -> tuple[dict[str, Row], Within]:
    """Return the rows of memories and behind them their neighbours' rows, nearest first."""
    rows: dict[str, Row] = {}
    wanted = list(dict.fromkeys(keys))
    counts: list[int] = []
    for _ in range(reach + 1):
        new = await _rows(db, question, filters, wanted)
        rows |= new
        counts.append(len(rows))
        near = (key for row in new.values() for key in (*row["before"], *row["after"]))
        wanted = [key for key in dict.fromkeys(near) if key not in rows]
        if not wanted:
            break
    return rows, (counts[0], counts[:2][-1], len(rows))


async def _rows(
    db: Database, question: Question, filters: Filters, keys: Sequence[str]
) -> dict[str, Row]:
    ids = [record("memory", key) for key in keys]
    vector = None if question.vector is None else question.vector.tolist()
    rows = await db.run(EVIDENCE, ids=ids, vector=vector, **filters.params()) if ids else []
    by_key = {row["id"]: row for row in rows}
    return {key: by_key[key] for key in keys if key in by_key}


def _count(question: Question, rows: Collection[Row]) -> dict[str, NDArray[Any]]:
    """Return how often each word of the question stands in each row, and the rows' lengths."""
    texts = [row["words"] for row in rows]
    return {
        "counts": _counts(question, texts),
        "lengths": np.array([len(text.split()) for text in texts], np.float32),
    }


def _counts(question: Question, texts: Sequence[str]) -> Floats:
    """Return how often each word of the question stands in each text [text, word]."""
    counted = [Counter(map(TERMS.__getitem__, text.split())) for text in texts]
    terms = [TERMS[word] for word in question.words]
    counts = np.array([[one[term] for term in terms] for one in counted], np.float32)
    return counts.reshape(len(texts), len(terms))


def _ways(rows: Mapping[str, Row], candidates: int, side: str, reach: int) -> RowNumbers:
    """Return the rows of what comes before or after the candidates, nearest first; -1 for none.

    A chain that comes back to where it was ends there.
    """
    positions = {key: position for position, key in enumerate(rows)}
    ways = np.full((candidates, reach), -1, np.int32)
    for position, key in enumerate(islice(rows, candidates)):
        way = [key]
        while len(way) <= reach:
            here = min((end for end in rows[way[-1]][side] if end in positions), default=key)
            if here in way:
                break
            way.append(here)
        ways[position, : len(way) - 1] = [positions[here] for here in way[1:]]
    return ways
