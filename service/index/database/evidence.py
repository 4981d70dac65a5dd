"""Evidence out of the store itself, for the engine that keeps nothing in RAM."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np

from service.index.evidence import Evidence, Places, Question
from service.records import FEW_MEMORIES, Concept, Filters
from service.store.database import Database, record
from service.store.queries import load_query
from service.text.terms import TERMS

WEIGH: Final = load_query(__package__, "weigh")
HOLDERS: Final = load_query(__package__, "holders")
ENDS: Final = load_query(__package__, "ends")
SPELLINGS: Final = load_query(__package__, "spellings")

Row = Mapping[str, Any]


async def weigh(
    db: Database, question: Question, filters: Filters, keys: Iterable[str], reach: int
) -> Evidence:
    """Read memories and, step by step, their neighbours in time; see Engine.weigh."""
    names, (rows, asked) = await asyncio.gather(
        _spellings(db, filters.agents, question.names),
        _read_around(db, question, filters, keys, reach),
    )
    is_named = [row.get("subject") in names[row["agent"]] for row in rows.values()]
    return _evidence(question, rows, is_named, asked, reach)


async def holders(
    db: Database, agents: Sequence[str], words: Sequence[str], at_once: asyncio.Semaphore
) -> list[int]:
    """Return how many of the agents' memories hold each word."""

    async def one(word: str) -> int:
        async with at_once:
            found = await db.run(HOLDERS, agents=list(agents), word=word)
        return found[0]["count"] if found else 0

    return list(await asyncio.gather(*map(one, words)))


async def linked(
    db: Database, agents: Sequence[str], concepts_of: Mapping[str, Sequence[Concept]]
) -> dict[str, list[tuple[Concept, list[str]]]]:
    """Follow concepts to the memories they link; see Engine.linked."""
    ids = [
        record("concept", list(key)) for key in {c.id for cs in concepts_of.values() for c in cs}
    ]
    rows = await db.run(ENDS, agents=list(agents), ids=ids) if ids else []
    ends = {tuple(row["id"]): row for row in rows}
    return {
        key: [
            (concept, beside)
            for concept in concepts
            if concept.id in ends and (beside := _beside(key, concept, ends[concept.id]))
        ]
        for key, concepts in concepts_of.items()
    }


def _beside(key: str, concept: Concept, row: Row) -> list[str]:
    slugs = {concept.id[1], *row["merged"]}
    subjects = {end["id"]: end.get("subject") for end in row["ends"]}
    is_open = concept.memories <= FEW_MEMORIES or subjects.get(key) in slugs
    return [
        end for end, subject in subjects.items() if end != key and (is_open or subject in slugs)
    ]


async def _spellings(
    db: Database, agents: Sequence[str], slugs: frozenset[str]
) -> dict[str, set[str]]:
    """Return slugs with all those that stand for the same concepts, by agent."""
    found = await db.run(SPELLINGS, agents=list(agents), slugs=sorted(slugs))
    names = {agent: set(slugs) for agent in agents}
    for (agent, slug), merged in found:
        if agent in names:
            names[agent].update((slug, *merged))
    return names


async def _read_around(
    db: Database, question: Question, filters: Filters, keys: Iterable[str], reach: int
) -> tuple[dict[str, Row], int]:
    """Return the rows of memories, how many they are, and behind them their neighbours' rows."""
    rows: dict[str, Row] = {}
    wanted = list(dict.fromkeys(keys))
    asked = 0
    for _ in range(reach + 1):
        found = await _rows(db, question, filters, wanted)
        rows |= found
        asked = asked or len(rows)
        near = (key for row in found.values() for key in (*row["before"], *row["after"]))
        wanted = [key for key in dict.fromkeys(near) if key not in rows]
        if not wanted:
            break
    return rows, asked


async def _rows(
    db: Database, question: Question, filters: Filters, keys: Sequence[str]
) -> dict[str, Row]:
    ids = [record("memory", key) for key in keys]
    vector = None if question.vector is None else question.vector.tolist()
    rows = await db.run(WEIGH, ids=ids, vector=vector, **filters.params()) if ids else []
    found = {row["id"]: row for row in rows}
    return {key: found[key] for key in keys if key in found}


def _evidence(
    question: Question, rows: Mapping[str, Row], is_named: Sequence[bool], asked: int, reach: int
) -> Evidence:
    texts = [row["words"].split() for row in rows.values()]
    counted = [Counter(map(TERMS.__getitem__, text)) for text in texts]
    terms = [TERMS[word] for word in question.words]
    cosines = [row.get("cosine") for row in rows.values()]
    return Evidence(
        keys=tuple(rows),
        asked=asked,
        counts=np.array([[one[term] for term in terms] for one in counted], np.float32).reshape(
            len(rows), len(terms)
        ),
        lengths=np.array([len(text) for text in texts], np.float32),
        cosines=np.array([np.nan if c is None else c for c in cosines], np.float32),
        is_named=np.array(is_named, np.bool_),
        is_turn=np.array([row.get("session") is not None for row in rows.values()], np.bool_),
        before=_ways(rows, asked, "before", reach),
        after=_ways(rows, asked, "after", reach),
        holders=np.zeros(len(terms), np.float32),
        documents=0,
        words=0.0,
    )


def _ways(rows: Mapping[str, Row], asked: int, side: str, reach: int) -> Places:
    """Return the rows of what comes before or after those asked about, nearest first; -1 for none.

    A chain that comes back to where it was ends there.
    """
    place = {key: at for at, key in enumerate(rows)}
    ways = np.full((len(rows), reach), -1, np.int32)
    for at, key in enumerate(islice(rows, asked)):
        way = [key]
        while len(way) <= reach:
            here = min((end for end in rows[way[-1]][side] if end in place), default=key)
            if here in way:
                break
            way.append(here)
        ways[at, : len(way) - 1] = [place[here] for here in way[1:]]
    return ways
