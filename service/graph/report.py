"""The report on an agent's graph: how far each kind of edge reaches, and what its pairs are worth.

After NeuroGraphDB (notes on edge precision): a walk along edges that join memories near in meaning
more often than chance finds more of the same subject; along others it loses the subject.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.graph import measures, reading
from service.graph.edge_kinds import (
    EdgeKind,
    GraphSample,
    PairSample,
    edge_kinds,
    sample_pairs,
)
from service.graph.measures import Band, Measured
from service.graph.pair_vectors import Population, measure
from service.graph.pairs import MemoryPair, sample
from service.index.engine import Engine
from service.index.resident.residency import Residency
from service.settings import Settings
from service.stages import Stages
from service.store.agents import hub_caps, refuse_unknown
from service.store.database import Database

# Samples are taken from the newest: listing ids takes a second for some 20,000.
_NEWEST: Final = 50_000
_MOST_MEMORIES: Final = 1000

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


async def report_on(
    db: Database, engine: Engine, residency: Residency | None, settings: Settings, agent: str
) -> GraphReport:
    """Measure an agent's graph; bounded by samples, the same each time.

    Raises AgentUnknown and StoreUnavailable.
    """
    stages = Stages()
    with stages.measured("memories"):
        newest = await reading.newest_keys(db, residency, agent, _NEWEST)
        without_vector = await reading.count_without_vector(db, agent)
        counted = (await db.meta(["dictionary", agent])).get("memories", 0)
    if not newest:
        await refuse_unknown(db, agent)
    population = Population(newest, max(counted, len(newest)))
    sampled = sample(newest, _MOST_MEMORIES)
    with stages.measured("graph"):
        cap = _hub_cap(settings, agent, population.memories)
        graph = GraphSample(
            population.memories, cap, await reading.concept_sizes(db, agent),
            await reading.memory_links(db, agent, sampled),
        )  # fmt: skip
        graph = await _with_neighbours(db, engine, agent, graph)
    kinds = await asyncio.to_thread(lambda: list(map(sample_pairs, edge_kinds(graph))))
    with stages.measured("pairs"):
        pairs = await _pairs_of(engine, agent, kinds)
    near, measured = await measure(db, population, pairs, stages)
    return GraphReport(
        agent=agent,
        memories=graph.memories,
        with_vector=graph.memories - without_vector,
        concepts=len(graph.concepts),
        hub_cap=graph.hub_cap,
        sampled_memories=len(sampled),
        sampled_vectors=population.sampled_vectors,
        near=None if near is None else round(near, 4),
        edges=[
            _edge_report(kind.edges, what, graph)
            for kind, what in zip(kinds, measured, strict=True)
        ],
        bands=measures.bands((c.memories for c in graph.concepts), graph.hub_cap),
        note=_EMPTY.format(agent) if not newest else _NO_VECTORS if near is None else None,
        took_ms=stages.took_ms(),
        stages_ms=dict(stages.milliseconds),
    )


def _hub_cap(settings: Settings, agent: str, memories: int) -> int:
    most, share = settings.concept_max_memories, settings.concept_max_share
    return hub_caps({agent: memories}, most, share)[agent]


async def _with_neighbours(
    db: Database, engine: Engine, agent: str, graph: GraphSample
) -> GraphSample:
    linking = graph.sampled_linking()
    neighbours = await reading.concept_neighbours(db, engine, agent, linking)
    counts = await reading.edges_between_concepts(db, agent)
    return replace(graph, neighbours=neighbours, counts=counts)


async def _pairs_of(
    engine: Engine, agent: str, kinds: Sequence[PairSample]
) -> list[list[MemoryPair]]:
    """Return the sampled pairs of each kind of edge.

    Kind after kind, so that the memories of one kind's concepts are in RAM at a time.
    """
    pairs = []
    for kind in kinds:
        concepts = [(agent, slug) for slug in sorted(kind.concepts())]
        memories_of = await engine.memories_of_concepts([agent], concepts)
        pairs.append(kind.pairs({slug: keys for (_, slug), keys in memories_of.items()}))
    return pairs


def _edge_report(edges: EdgeKind, measured: Measured, graph: GraphSample) -> EdgeReport:
    verdict, reason = measures.verdict_on(measured)
    share = edges.reached / len(graph.links) if graph.links else 0.0
    return EdgeReport(
        edge=edges.edge,
        kind=edges.kind,
        edges=edges.count,
        concepts=edges.concepts,
        memories=round(share * graph.memories),
        share=round(share, 4),
        pairs=measured.pairs,
        precision=measured.precision,
        lift=measured.lift,
        reach=measured.reach,
        verdict=verdict,
        reason=reason,
        switch_off=_SWITCH_OFF.get(edges.kind or "", _SWITCH_OFF[edges.edge]),
    )
