"""What the vectors of sampled memories say of the pairs that each kind of edge joins."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

import numpy as np

from service.graph import measures
from service.graph.edge_kinds import MOST_PAIRS
from service.graph.measures import Integers, Measured
from service.graph.pairs import MemoryPair, pair_at, pair_count, sample, sample_groups
from service.stages import Stages
from service.store.database import Database
from service.store.vector_forms import Matrix
from service.store.vector_pages import pages_of_vectors

_MOST_VECTORS: Final = 20_000
_MOST_REACH_PAIRS: Final = 200


@dataclass(frozen=True, slots=True)
class Population:
    """The memories to sample from, the newest, and how many memories they stand for."""

    keys: Sequence[str]
    memories: int

    @property
    def sampled_vectors(self) -> int:
        """How many vectors are compared with each pair to measure its reach."""
        return min(len(self.keys), _MOST_VECTORS)


@dataclass(slots=True)
class _Queries:
    """Vectors whose nearer neighbours are counted, two for each pair: its ends in their order.

    The threshold of both is the cosine of the pair; `keys` are their own memories.
    """

    keys: list[str] = field(default_factory=list)
    vectors: list[Matrix] = field(default_factory=list)
    thresholds: list[Matrix] = field(default_factory=list)


async def measure(
    db: Database,
    population: Population,
    pairs: Sequence[Sequence[MemoryPair]],
    stages: Stages,
) -> tuple[float | None, list[Measured]]:
    """Return from which cosine on two are near, and what the pairs of each kind of edge give."""
    facts, keys = await db.meta("embedding"), population.keys
    queries = _Queries()
    with stages.measured("cosines"):
        numbers = [number for _, number in sample_groups([pair_count(len(keys))], MOST_PAIRS)]
        random_pairs = [(keys[a], keys[b]) for a, b in map(pair_at, numbers)]
        near = measures.near_cosine((await _cosines(db, facts, random_pairs))[1])
        joined = [await _cosines(db, facts, of_kind, queries) for of_kind in pairs]
    with stages.measured("reach"):
        sampled = sample(keys, population.sampled_vectors)
        counts = await _count_nearer(db, facts, sampled, queries)
        scale = population.memories / max(1, len(sampled))
        nearer = np.rint(counts * scale).astype(np.int64).reshape(-1, 2)
    measured, start = [], 0
    for compared, cosines in joined:
        end = start + min(len(compared), _MOST_REACH_PAIRS)
        reach = measures.reach_of(nearer[start:end])
        measured.append(measures.measured(cosines, near, reach))
        start = end
    return near, measured


async def _cosines(
    db: Database,
    facts: Mapping[str, Any],
    pairs: Sequence[MemoryPair],
    queries: _Queries | None = None,
) -> tuple[list[MemoryPair], Matrix]:
    """Return the pairs of which both vectors are there, with their cosines.

    At most _MOST_REACH_PAIRS of them are added to the queries.
    """
    pages, row_of = list[Matrix](), dict[str, int]()
    async for keys, vectors in pages_of_vectors(db, sorted(set(chain.from_iterable(pairs))), facts):
        row_of |= {key: row for row, key in enumerate(keys, len(row_of))}
        pages.append(vectors)
    compared = [(a, b) for a, b in pairs if a in row_of and b in row_of]
    if not compared:
        return [], np.zeros(0, np.float32)
    matrix = np.concatenate(pages)
    ends = np.array([(row_of[a], row_of[b]) for a, b in compared])
    cosines = measures.cosines(matrix[ends[:, 0]], matrix[ends[:, 1]])
    if queries is not None:
        for index in sample(range(len(compared)), _MOST_REACH_PAIRS):
            queries.keys += compared[index]
            queries.vectors.append(matrix[ends[index]])
            queries.thresholds.append(cosines[[index, index]])
    return compared, cosines


async def _count_nearer(
    db: Database, facts: Mapping[str, Any], sampled: Sequence[str], queries: _Queries
) -> Integers:
    """Return for each query how many sampled vectors are nearer than the pair's other end."""
    if not queries.keys:
        return np.zeros(0, np.int64)
    vectors, thresholds = np.concatenate(queries.vectors), np.concatenate(queries.thresholds)
    counts = np.zeros(len(queries.keys), np.int64)
    async for keys, page in pages_of_vectors(db, sampled, facts):
        row_of = {key: row for row, key in enumerate(keys)}
        own = np.array([row_of.get(key, -1) for key in queries.keys])
        counts += await asyncio.to_thread(measures.count_nearer, vectors, thresholds, page, own)
    return counts
