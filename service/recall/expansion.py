"""Graph recall: from the best hits along concepts and time, scored, with the path there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from service.agents import agent_sizes, hub_caps, refuse_unknown
from service.concepts.neighbours import (
    before_and_after,
    concepts_of_memories,
    memories_of_concepts,
    related_concepts,
)
from service.errors import ServiceError
from service.memories.fetching import fetch
from service.memories.storing import find
from service.recall.walk import (
    DECAY,
    MOST_MEMORIES,
    Reached,
    Step,
    Walk,
    concepts_beside,
    concepts_from,
)
from service.records import Concept, ConceptId, Memory, Scored
from service.search.candidates import keep_visible
from service.search.fusion import Fused
from service.search.hybrid import Searcher, SearchQuery, rank, receipt_of
from service.search.receipts import Receipt, Stages

Edge = Literal["references", "related_to", "is_a", "follows"]
EDGES: Final[tuple[Edge, ...]] = ("references", "related_to", "is_a", "follows")
_MOST_SEEDS: Final = 5

Concepts = dict[ConceptId, tuple[Concept, Reached]]


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """Where to start (a question, or memories by id) and how far to walk along which edges."""

    search: SearchQuery
    seed_ids: tuple[str, ...] = ()
    hops: int = 2
    temporal: bool = True
    edges: tuple[Edge, ...] = EDGES

    @property
    def follows_time(self) -> bool:
        """Whether the walk goes along `follows`."""
        return self.temporal and "follows" in self.edges


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that the walk reached; `memories` of its path are resolved by `RecallResult`."""

    memory: Memory
    reached: Reached
    fused: Fused


@dataclass(frozen=True, slots=True)
class Chain:
    """What came just before and just after a seed, the nearest first."""

    memory: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecallResult:
    """Seeds, what was reached (best first), chains in time and the concepts walked through.

    `memories` holds every memory that a path or chain names.
    """

    seeds: tuple[str, ...]
    hits: tuple[Recalled, ...]
    chains: tuple[Chain, ...]
    concepts: tuple[tuple[Concept, float], ...]
    memories: Mapping[str, Memory]
    receipt: Receipt


@dataclass(slots=True)
class _Recall:
    searcher: Searcher
    asked: RecallQuery
    caps: dict[str, int]
    walk: Walk = field(default_factory=Walk)

    async def visible(self, keys: Sequence[str]) -> set[str]:
        hits = [Scored(key, 0.0) for key in keys]
        kept = await keep_visible(self.searcher.db, hits, self.asked.search.filters, len(hits))
        return {hit.id for hit in kept}


async def graph_recall(searcher: Searcher, asked: RecallQuery) -> RecallResult:
    """Walk the graph from the seeds of one question.

    The walk passes only through memories that pass the filters: a path never names one that the
    asker may not see. Raises MemoryNotFound for an unknown seed, AgentUnknown, StoreUnavailable.
    """
    stages = Stages()
    fused, missing = await _seeds(searcher, asked, stages)
    settings, agents = searcher.settings, asked.search.filters.agents
    sizes = await agent_sizes(searcher.db, agents)
    caps = hub_caps(sizes, settings.concept_max_memories, settings.concept_max_share)
    recall = _Recall(searcher, asked, caps)
    most = min(_MOST_SEEDS, -(-asked.search.limit // 2))
    seeds = [hit.id for hit in fused[: max(most, len(asked.seed_ids))]]
    top = fused[0].score if fused else 1.0
    recall.walk.start({hit.id: hit.score / top for hit in fused if hit.id in set(seeds)})
    with stages.measured("graph"):
        await _walk_concepts(recall)
        chains = await _walk_time(recall, seeds) if asked.follows_time else ()
    if not fused:
        await refuse_unknown(searcher.db, agents[0])
    with stages.measured("fetch"):
        hits, memories = await _fetch(recall, fused, chains)
    stages.counts |= {"seeds": len(seeds), "reached": len(recall.walk.memories) - len(seeds)}
    concepts = sorted(recall.walk.concepts.values(), key=lambda c: (-c[1], c[0].id))[:20]
    receipt = receipt_of(searcher, asked.search, stages, missing)
    return RecallResult(tuple(seeds), hits, chains, tuple(concepts), memories, receipt)


async def _seeds(
    searcher: Searcher, asked: RecallQuery, stages: Stages
) -> tuple[list[Fused], ServiceError | None]:
    """Return where the walk begins: the given memories, or the fused ranking of the question.

    A given memory that the filters leave out is no beginning.
    """
    if asked.seed_ids:
        agents = asked.search.filters.agents
        given = [await find(searcher.db, agents, key) for key in dict.fromkeys(asked.seed_ids)]
        seeds = [Scored(memory.id, 1.0) for memory in given]
        kept = await keep_visible(searcher.db, seeds, asked.search.filters, len(seeds))
        return [Fused(seed.id, 1.0) for seed in kept], None
    wide = replace(asked.search, limit=max(20, asked.search.limit))
    return await rank(searcher, wide, stages)


async def _walk_concepts(recall: _Recall) -> None:
    """Go from memories over the concepts they mention to other memories, hop by hop."""
    db, asked, walk = recall.searcher.db, recall.asked, recall.walk
    frontier: Mapping[str, Reached] = dict(walk.memories)
    beside: Concepts = {}
    for hop in range(1, asked.hops + 1):
        concepts = await _concepts_of(recall, frontier) if "references" in asked.edges else {}
        direct = set(concepts)
        for key, found in beside.items():
            if key not in concepts or found[1].score > concepts[key][1].score:
                concepts[key] = found
        frontier = await _memories_of(recall, concepts, hop)
        walk.memories |= frontier
        # A concept that only hidden memories hold is neither named nor walked on from.
        named = direct | {s.concept.id for r in frontier.values() for s in r.path if s.concept}
        concepts = {key: way for key, way in concepts.items() if key in named}
        for concept, way in concepts.values():
            walk.note(concept, way.score)
        if hop < asked.hops:
            chosen = [concept for concept, _ in concepts.values()]
            near = await related_concepts(db, chosen, asked.edges)
            beside = concepts_beside(concepts, near)


async def _concepts_of(recall: _Recall, frontier: Mapping[str, Reached]) -> Concepts:
    if not frontier:
        return {}
    found = await concepts_of_memories(recall.searcher.db, sorted(frontier), recall.caps)
    return concepts_from(frontier, {key: concepts for key, (_, concepts) in found.items()})


async def _memories_of(recall: _Recall, concepts: Concepts, hop: int) -> dict[str, Reached]:
    """Return the memories that these concepts lead to for the first time, the strongest ones."""
    linking = {
        key: way for key, way in concepts.items() if way[0].memories <= recall.caps.get(key[0], 0)
    }
    linked = await memories_of_concepts(recall.searcher.db, linking)
    new: dict[str, Reached] = {}
    for key in sorted(linked):
        _, way = concepts[key]
        for memory in linked[key]:
            path = (*way.path, Step(memory=memory))
            recall.walk.add(memory, Reached(way.score * DECAY, hop, path), new)
    ordered = sorted(new, key=lambda key: (-new[key].score, key))
    hits = [Scored(key, new[key].score) for key in ordered]
    kept = await keep_visible(recall.searcher.db, hits, recall.asked.search.filters, MOST_MEMORIES)
    return {hit.id: new[hit.id] for hit in kept}


async def _walk_time(recall: _Recall, seeds: Sequence[str]) -> tuple[Chain, ...]:
    """Follow each seed's chain both ways, as many steps as there are hops."""
    ways = {(seed, side): [seed] for seed in seeds for side in ("before", "after")}
    for _ in range(recall.asked.hops):
        ends = {way[-1] for way in ways.values()}
        near = await before_and_after(recall.searcher.db, sorted(ends))
        steps = {
            (seed, side): next((k for k in near.get(way[-1], ([], []))[side == "after"]), None)
            for (seed, side), way in ways.items()
        }
        visible = await recall.visible(sorted({key for key in steps.values() if key}))
        for place, key in steps.items():
            if key in visible and key not in ways[place]:
                ways[place].append(key)
    for (seed, side), way in ways.items():
        _reach_in_time(recall.walk, seed, side, way[1:])
    return tuple(
        Chain(seed, tuple(ways[seed, "before"][1:]), tuple(ways[seed, "after"][1:]))
        for seed in seeds
    )


def _reach_in_time(walk: Walk, seed: str, side: str, way: Sequence[str]) -> None:
    """Add a chain's memories to the walk, unless a shorter or stronger way led there before."""
    here = walk.memories[seed]
    for key in way:
        step = Step(edge="follows", direction=side)
        here = Reached(here.score * DECAY, here.distance + 1, (*here.path, step, Step(memory=key)))
        known = walk.memories.get(key)
        if known is None or (known.distance > 0 and here.score > known.score):
            walk.memories[key] = here


async def _fetch(
    recall: _Recall, fused: Sequence[Fused], chains: Sequence[Chain]
) -> tuple[tuple[Recalled, ...], dict[str, Memory]]:
    """Rank what was reached, with the question's own say, and fetch all that is named."""
    direct = {hit.id: hit for hit in fused}
    top = fused[0].score if fused else 1.0
    scored = {}
    for key, reached in recall.walk.memories.items():
        said = direct[key].score / top if key in direct else 0.0
        total = 1 - (1 - reached.score) * (1 - said / 2)
        scored[key] = reached if reached.distance == 0 else replace(reached, score=total)
    ordered = sorted(scored, key=lambda key: (-scored[key].score, scored[key].distance, key))
    chosen = ordered[: recall.asked.search.limit]
    named = {step.memory for key in chosen for step in scored[key].path if step.memory}
    named |= {key for chain in chains for key in (*chain.before, *chain.after)}
    memories = {m.id: m for m in await fetch(recall.searcher.db, sorted(named))}
    hits = tuple(
        Recalled(memories[key], scored[key], direct.get(key) or Fused(key, 0.0))
        for key in chosen
        if key in memories
    )
    return hits, memories
