"""The report on an agent's graph: how far each kind of edge reaches, and what its pairs are worth.

After NeuroGraphDB (notes on edge precision): an edge that joins what is near in meaning more often
than chance carries a walk; one that does not lets it stray.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final

import numpy as np

from service.graph import measures, reading
from service.graph.edges import MOST_PAIRS, Drawn, Edges, Graph, drawn_from, edges_of
from service.graph.measures import Band, Counts, Floats, Measured
from service.graph.pairs import Pair, couple, couples, draw, some_of
from service.settings import Settings
from service.stages import Stages
from service.store.agents import hub_caps, refuse_unknown
from service.store.database import Database

# Samples are drawn from the newest: to list every id takes a second for some 20,000.
_NEWEST: Final = 50_000
_MOST_MEMORIES: Final = 1000
_MOST_VECTORS: Final = 20_000
_MOST_REACH_PAIRS: Final = 200

_SWITCH_OFF: Final = {
    "references": 'leave "references" out of `edges` in /graph-recall (all kinds together)',
    "related_to": 'leave "related_to" out of `edges` in /graph-recall',
    "loose": "nothing to do: walks leave loose edges out",
    "is_a": 'leave "is_a" out of `edges` in /graph-recall',
    "follows": 'leave "follows" out of `edges` in /graph-recall, or send "temporal": false',
}
_EMPTY: Final = "Agent {!r} has no memories yet: scan some notes or store some memories first."
_NO_VECTORS: Final = (
    "Fewer than two memories have a vector, so precision, lift and reach cannot be measured: see "
    "`without_vector` in /stats, and /health/ready for the embedding server."
)


@dataclass(frozen=True, slots=True)
class EdgeReport:
    """One kind of edge: how much of it there is, what its pairs are worth, and the verdict.

    `memories` and `share` are of the memories that such an edge leads on from. `pairs` is how many
    joined pairs were compared.
    """

    edge: str
    kind: str | None
    edges: int
    concepts: int
    memories: int
    share: float
    pairs: int
    precision: float | None
    lift: float | None
    reach: float | None
    verdict: str
    reason: str
    switch_off: str


@dataclass(frozen=True, slots=True)
class GraphReport:
    """Whether the graph is worth it for one agent.

    `sampled_memories` and `sampled_vectors` say how many were looked at: all of them in a small
    store. `near` is the cosine that one random pair in twenty exceeds. `note` says what could not
    be measured, and why.
    """

    agent: str
    memories: int
    with_vector: int
    concepts: int
    hub_cap: int
    sampled_memories: int
    sampled_vectors: int
    near: float | None
    edges: list[EdgeReport]
    bands: list[Band]
    note: str | None
    took_ms: float
    stages_ms: dict[str, float]


@dataclass(slots=True)
class _Asked:
    """Pairs whose nearest neighbours are counted, both ways: vectors, thresholds and own keys."""

    keys: list[str] = field(default_factory=list)
    vectors: list[Floats] = field(default_factory=list)
    thresholds: list[Floats] = field(default_factory=list)


async def report_on(db: Database, settings: Settings, agent: str) -> GraphReport:
    """Measure an agent's graph; bounded by samples, the same each time.

    Raises AgentUnknown and StoreUnavailable.
    """
    stages = Stages()
    with stages.measured("memories"):
        newest = await reading.newest_keys(db, agent, _NEWEST)
        waiting = await reading.waiting_count(db, agent)
        counted = (await db.meta(["dictionary", agent])).get("memories", 0)
    if not newest:
        await refuse_unknown(db, agent)
    keys = some_of(newest, _MOST_MEMORIES)
    with stages.measured("graph"):
        graph = await _read_graph(db, settings, agent, (keys, max(counted, len(newest))))
    drawn = await asyncio.to_thread(lambda: list(map(drawn_from, edges_of(graph))))
    with stages.measured("pairs"):
        pairs = await _pairs_of(db, agent, drawn)
    near, found = await _measure(db, (newest, graph.memories), pairs, stages)
    return GraphReport(
        agent=agent,
        memories=graph.memories,
        with_vector=graph.memories - waiting,
        concepts=len(graph.concepts),
        hub_cap=graph.hub_cap,
        sampled_memories=len(keys),
        sampled_vectors=min(len(newest), _MOST_VECTORS),
        near=None if near is None else round(near, 4),
        edges=[
            _edge_report(one.edges, what, graph) for one, what in zip(drawn, found, strict=True)
        ],
        bands=measures.bands((c.memories for c in graph.concepts), graph.hub_cap),
        note=_EMPTY.format(agent) if not keys else _NO_VECTORS if near is None else None,
        took_ms=stages.took_ms(),
        stages_ms=dict(stages.milliseconds),
    )


async def _read_graph(
    db: Database, settings: Settings, agent: str, sampled: tuple[Sequence[str], int]
) -> Graph:
    keys, memories = sampled
    most, share = settings.concept_max_memories, settings.concept_max_share
    concepts = await reading.concept_sizes(db, agent)
    ties = await reading.ties_of(db, agent, keys)
    cap = hub_caps({agent: memories}, most, share)[agent]
    graph = Graph(memories, cap, concepts, ties)
    beside = await reading.beside(db, agent, graph.tied())
    counts = await reading.edges_between_concepts(db, agent)
    return replace(graph, beside=beside, counts=counts)


async def _pairs_of(db: Database, agent: str, drawn: Sequence[Drawn]) -> list[list[Pair]]:
    """Return the drawn pairs of each kind of edge; concepts of one kind at a time are in RAM."""
    pairs = []
    for one in drawn:
        mentioning = await reading.mentioning(db, agent, sorted(one.concepts()))
        pairs.append(one.pairs(mentioning))
    return pairs


async def _measure(
    db: Database,
    newest: tuple[Sequence[str], int],
    pairs: Sequence[Sequence[Pair]],
    stages: Stages,
) -> tuple[float | None, list[Measured]]:
    """Return what counts as near, and what the vectors say of the pairs of each kind of edge.

    `newest` are the ids to choose from, and how many memories they stand for.
    """
    facts, (keys, memories) = await db.meta("embedding"), newest
    numbers = draw([couples(len(keys))], MOST_PAIRS)
    with stages.measured("cosines"):
        places = [couple(number) for _, number in numbers]
        random_pairs = [(keys[first], keys[second]) for first, second in places]
        near = measures.near_cosine((await _cosines(db, facts, random_pairs))[1])
        asked = _Asked()
        found = [await _cosines(db, facts, joined, asked) for joined in pairs]
    with stages.measured("reach"):
        sample = some_of(keys, _MOST_VECTORS)
        counts = await _nearer(db, facts, sample, asked)
        nearer = np.rint(counts * (memories / max(1, len(sample)))).astype(np.int64).reshape(-1, 2)
    told, start = [], 0
    for compared, cosines in found:
        end = start + min(len(compared), _MOST_REACH_PAIRS)
        reach = measures.reach_of(nearer[start:end])
        told.append(measures.measured(cosines, near, reach))
        start = end
    return near, told


async def _cosines(
    db: Database, facts: Mapping[str, Any], pairs: Sequence[Pair], asked: _Asked | None = None
) -> tuple[list[Pair], Floats]:
    """Return the pairs whose vectors are there, with their cosines; some of them are `asked` of."""
    rows, places = [np.zeros((0, 0), np.float32)], dict[str, int]()
    async for keys, vectors in reading.pages_of_vectors(
        db, sorted(set(chain.from_iterable(pairs))), facts
    ):
        places |= {key: len(places) + number for number, key in enumerate(keys)}
        rows.append(vectors)
    compared = [(a, b) for a, b in pairs if a in places and b in places]
    if not compared:
        return [], np.zeros(0, np.float32)
    matrix = np.concatenate(rows[1:])
    ends = np.array([(places[a], places[b]) for a, b in compared])
    cosines = measures.cosines(matrix[ends[:, 0]], matrix[ends[:, 1]])
    if asked is not None:
        for place in some_of(range(len(compared)), _MOST_REACH_PAIRS):
            asked.keys += compared[place]
            asked.vectors.append(matrix[ends[place]])
            asked.thresholds.append(cosines[[place, place]])
    return compared, cosines


async def _nearer(
    db: Database, facts: Mapping[str, Any], sample: Sequence[str], asked: _Asked
) -> Counts:
    """Return how many vectors are nearer than the other end, for both ends of each pair."""
    if not asked.keys:
        return np.zeros(0, np.int64)
    vectors, thresholds = np.concatenate(asked.vectors), np.concatenate(asked.thresholds)
    counts = np.zeros(len(asked.keys), np.int64)
    async for keys, page in reading.pages_of_vectors(db, sample, facts):
        places = {key: place for place, key in enumerate(keys)}
        own = np.array([places.get(key, -1) for key in asked.keys])
        counts += await asyncio.to_thread(measures.count_nearer, vectors, thresholds, page, own)
    return counts


def _edge_report(edges: Edges, found: Measured, graph: Graph) -> EdgeReport:
    verdict, reason = measures.verdict_on(found)
    share = edges.reached / len(graph.ties) if graph.ties else 0.0
    return EdgeReport(
        edge=edges.edge,
        kind=edges.kind,
        edges=edges.count,
        concepts=edges.concepts,
        memories=round(share * graph.memories),
        share=round(share, 4),
        pairs=found.pairs,
        precision=found.precision,
        lift=found.lift,
        reach=found.reach,
        verdict=verdict,
        reason=reason,
        switch_off=_SWITCH_OFF.get(edges.kind or "", _SWITCH_OFF[edges.edge]),
    )
