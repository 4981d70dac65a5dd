"""Graph recall: from the best hits along concepts and time, scored, with the path there."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final, Literal

from service.index.engine import Engine
from service.index.fetching import Wanted, fetch_first
from service.memories.storing import find
from service.recall.walk import (
    DECAY,
    MOST_MEMORIES,
    Reached,
    Step,
    Walk,
    apart,
    concepts_beside,
    concepts_from,
    memories_from,
)
from service.records import Concept, ConceptId, Filters, Memory, Scored
from service.search.fusion.paths import with_titles
from service.search.fusion.rrf import Fused
from service.search.hybrid import receipt_of
from service.search.ranking import Ranking, rank
from service.search.receipts import Receipt
from service.search.searcher import Searcher, SearchQuery, caps_of
from service.stages import Stages
from service.store.agents import refuse_unknown

Edge = Literal["references", "related_to", "is_a", "follows"]
EDGES: Final[tuple[Edge, ...]] = ("references", "related_to", "is_a", "follows")
_MOST_SEEDS: Final = 5

Concepts = dict[ConceptId, tuple[Concept, Reached]]


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """Where to start (a question, or memories by id), how far to walk, and what is no result."""

    search: SearchQuery
    seed_ids: tuple[str, ...] = ()
    hops: int = 2
    temporal: bool = True
    edges: tuple[Edge, ...] = EDGES
    without: frozenset[str] = frozenset()

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
    engine: Engine
    query: RecallQuery
    caps: dict[str, int]
    walk: Walk = field(default_factory=Walk)

    @property
    def filters(self) -> Filters:
        return self.query.search.filters

    async def visible(self, keys: Sequence[str]) -> set[str]:
        hits = [Scored(key, 0.0) for key in keys]
        kept = await self.engine.keep_visible(hits, self.filters, len(hits))
        return {hit.id for hit in kept}


async def graph_recall(searcher: Searcher, query: RecallQuery) -> RecallResult:
    """Walk the graph from the seeds of one question.

    The walk passes only through memories that pass the filters, so that a path never names one that
    the asker may not see: the engine filters on the way, the store at the end. Raises
    MemoryNotFound for an unknown seed, AgentUnknown, StoreUnavailable.
    """
    stages, filters = Stages(), query.search.filters
    ranking = await _ranking(searcher, query, stages)
    fused = {hit.id: hit for hit in ranking.hits}
    caps = await caps_of(searcher, filters.agents)
    hidden: set[str] = set()
    while True:
        recall = _Recall(searcher.engine, query, caps)
        with stages.measured("graph"):
            seeds = await _seeds(recall, [hit for hit in ranking.hits if hit.id not in hidden])
            # Where nothing fits at all, the best of it has a score of 0.
            top = (fused[seeds[0]].score if seeds else 0.0) or 1.0
            relative = {key: hit.score / top for key, hit in fused.items()}
            recall.walk.start({key: relative[key] for key in seeds})
            await _walk_concepts(recall)
            chains = await _walk_time(recall, seeds) if query.follows_time else ()
        reached = _ranked(recall.walk, relative)
        with stages.measured("fetch"):
            keys, memories = await fetch_first(
                searcher.engine,
                _wanted(reached, fused, query.without),
                filters,
                query.search.limit,
                {*seeds, *_named(chains)},
            )
        if memories.keys() >= set(seeds):
            break
        # The store hides a seed that the engine still showed: begin again without it.
        hidden |= set(seeds) - memories.keys()
    if not seeds:
        await refuse_unknown(searcher.db, *filters.agents)
    stages.counts |= {"seeds": len(seeds), "reached": len(reached) - len(seeds)}
    return RecallResult(
        tuple(seeds),
        tuple(_recalled(key, reached[key], fused, memories) for key in keys),
        tuple(_as_far_as_known(chain, memories) for chain in chains),
        tuple(sorted(recall.walk.concepts.values(), key=lambda c: (-c[1], c[0].id))[:20]),
        memories,
        receipt_of(searcher, query.search, stages, ranking),
    )


async def _ranking(searcher: Searcher, query: RecallQuery, stages: Stages) -> Ranking:
    """Return where the walk may begin: the given memories, or the ranking of the question."""
    if query.seed_ids:
        agents = query.search.filters.agents
        begun = Ranking.begin(searcher.engine, agents)
        given = [await find(searcher.db, agents, key) for key in dict.fromkeys(query.seed_ids)]
        return replace(begun, hits=[Fused(memory.id, 1.0) for memory in given])
    wide = replace(query.search, limit=max(20, query.search.limit))
    return await rank(searcher, wide, stages)


async def _seeds(recall: _Recall, ranking: Sequence[Fused]) -> list[str]:
    """Return where the walk begins; a memory that the filters leave out is no beginning."""
    query = recall.query
    most = min(_MOST_SEEDS, -(-query.search.limit // 2))
    hits = [Scored(hit.id, hit.score) for hit in ranking]
    limit = max(most, len(query.seed_ids))
    if query.seed_ids or not query.follows_time:
        return [hit.id for hit in await recall.engine.keep_visible(hits, recall.filters, limit)]
    kept = await recall.engine.keep_visible(hits, recall.filters, 2 * limit)
    keys = [hit.id for hit in kept]
    return apart(keys, await recall.engine.before_and_after(recall.filters.agents, keys))[:limit]


async def _walk_concepts(recall: _Recall) -> None:
    """Go from memories over the concepts they mention to other memories, hop by hop."""
    query, walk, agents = recall.query, recall.walk, recall.filters.agents
    frontier: Mapping[str, Reached] = dict(walk.memories)
    beside: Concepts = {}
    for hop in range(1, query.hops + 1):
        concepts = await _concepts_of(recall, frontier) if "references" in query.edges else {}
        direct = set(concepts)
        for key, other in beside.items():
            if key not in concepts or other[1].score > concepts[key][1].score:
                concepts[key] = other
        frontier = await _memories_of(recall, concepts, hop)
        walk.memories |= frontier
        # A concept that only hidden memories hold is neither named nor walked on from.
        named = direct | {s.concept.id for r in frontier.values() for s in r.path if s.concept}
        concepts = {key: way for key, way in concepts.items() if key in named}
        for concept, way in concepts.values():
            walk.note(concept, way.score)
        if hop < query.hops:
            chosen = [concept for concept, _ in concepts.values()]
            near = await recall.engine.related_concepts(agents, chosen, query.edges)
            beside = concepts_beside(concepts, near)


async def _concepts_of(recall: _Recall, frontier: Mapping[str, Reached]) -> Concepts:
    if not frontier:
        return {}
    agents = recall.filters.agents
    concepts = await recall.engine.concepts_of_memories(agents, sorted(frontier), recall.caps)
    return concepts_from(frontier, concepts)


async def _memories_of(recall: _Recall, concepts: Concepts, hop: int) -> dict[str, Reached]:
    """Return the memories that these concepts lead to for the first time, the strongest ones."""
    linking = {
        key: way for key, way in concepts.items() if way[0].memories <= recall.caps.get(key[0], 0)
    }
    linked = await recall.engine.memories_of_concepts(recall.filters.agents, linking)
    scores, through = memories_from(concepts, linked, recall.walk.memories)
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    hits = [Scored(key, scores[key]) for key in ordered]
    kept = await recall.engine.keep_visible(hits, recall.filters, MOST_MEMORIES)
    return {
        hit.id: Reached(hit.score, hop, (*concepts[through[hit.id]][1].path, Step(memory=hit.id)))
        for hit in kept
    }


async def _walk_time(recall: _Recall, seeds: Sequence[str]) -> tuple[Chain, ...]:
    """Follow each seed's chain both ways, as many steps as there are hops."""
    ways = {(seed, side): [seed] for seed in seeds for side in ("before", "after")}
    for _ in range(recall.query.hops):
        ends = {way[-1] for way in ways.values()}
        near = await recall.engine.before_and_after(recall.filters.agents, sorted(ends))
        steps = {
            (seed, side): next((k for k in near.get(way[-1], ([], []))[side == "after"]), None)
            for (seed, side), way in ways.items()
        }
        visible = await recall.visible(sorted({key for key in steps.values() if key}))
        for (seed, side), key in steps.items():
            if key in visible and key not in ways[seed, side]:
                ways[seed, side].append(key)
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


def _ranked(walk: Walk, relative: Mapping[str, float]) -> dict[str, Reached]:
    """Return what was reached, best first: what is no seed counts by its way and by the question.

    `relative` are the scores by the question alone, in shares of the best seed's.
    """
    scored = dict(walk.memories)
    for key, reached in scored.items():
        if reached.distance > 0:
            total = 1 - (1 - reached.score) * (1 - relative.get(key, 0.0) / 2)
            scored[key] = Reached(total, reached.distance, reached.path)
    return dict(sorted(scored.items(), key=lambda one: (-one[1].score, one[1].distance, one[0])))


def _wanted(
    reached: Mapping[str, Reached], fused: Mapping[str, Fused], without: Container[str]
) -> Iterator[Wanted]:
    """Yield what to fetch: whatever leads to a memory must be visible too."""
    for key, way in reached.items():
        if key not in without:
            through = tuple(step.memory for step in way.path if step.memory)
            yield Wanted(key, through, fused[key].seed if key in fused else None)


def _named(chains: Sequence[Chain]) -> set[str]:
    return {key for chain in chains for key in (*chain.before, *chain.after)}


def _recalled(
    key: str, reached: Reached, fused: Mapping[str, Fused], memories: Mapping[str, Memory]
) -> Recalled:
    by_question = with_titles(fused[key], memories) if key in fused else Fused(key, 0.0)
    return Recalled(memories[key], reached, by_question)


def _as_far_as_known(chain: Chain, memories: Mapping[str, Memory]) -> Chain:
    """End a chain in front of a memory that was not fetched: none is named beyond it."""
    before, after = (
        tuple(takewhile(memories.__contains__, side)) for side in (chain.before, chain.after)
    )
    return replace(chain, before=before, after=after)
