"""Hybrid search: ask every signal at once, fuse their rankings, fetch what is returned."""

from dataclasses import dataclass, replace
from typing import Final

from service.records import Memory
from service.search.fusion.paths import with_titles
from service.search.fusion.rrf import Fused
from service.search.packing import pack
from service.search.ranking import Ranking, rank
from service.search.receipts import Receipt, skipped, without_rerank
from service.search.refine.refining import Refined, Refiner
from service.search.searcher import Searcher, SearchQuery
from service.search.small_talk import is_small_talk
from service.stages import Stages
from service.store.agents import refuse_unknown
from service.text.snippets import snippet_of
from service.threads import give_way, read_texts

# For what stands behind repetitions so many are ranked, and at the most.
_WIDER: Final = 4
_MOST_RANKED: Final = 500
# Told always: a client that reads one finds it.
_COUNTED: Final = ("vector", "text", "graph", "filtered")
# Paths add only to what these find.
_FINDING: Final = ("vector", "text")
_UNASKED: Final = (
    "Nothing is found with the weights of vector and text both 0: send one of them above 0."
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: the memory, why it is here, and the stretch that fits the question."""

    memory: Memory
    fused: Fused
    snippet: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answers, best first, and the account of how they came about."""

    hits: tuple[Hit, ...]
    confidence: float
    abstained: bool
    receipt: Receipt


async def hybrid_search(searcher: Searcher, query: SearchQuery) -> SearchResult:
    """Answer one question. Without the embedder, words and graph still answer and say so.

    Raises StoreUnavailable, and AgentUnknown when nothing was found because the agent has
    never stored anything.
    """
    stages = Stages(counts=dict.fromkeys(_COUNTED, 0))
    if query.skip_small_talk and is_small_talk(query.text):
        idle = Ranking.begin(searcher.engine, query.filters.agents)
        return SearchResult((), 0.0, True, skipped(receipt_of(searcher, query, stages, idle)))
    ranking, refined = await _ranked_and_refined(searcher, query, stages)
    certainty = ranking.certainty if refined.hits else None
    confidence = certainty.confidence if certainty else 0.0
    abstained = not refined.hits or confidence < query.min_confidence
    if not ranking.hits:
        await refuse_unknown(searcher.db, *query.filters.agents)
    characters = 0 if abstained else sum(len(hit.memory.content) for hit in refined.hits)
    # Words are looked for ten times as fast as names: most answers need no thread.
    hits = () if abstained else await read_texts(characters // 10, _shown, query, refined)
    if query.max_tokens is not None:
        stages.counts["left_out"] = 0 if abstained else len(refined.hits) - len(hits)
    receipt = receipt_of(searcher, query, stages, ranking)
    return SearchResult(
        hits, confidence, abstained, without_rerank(receipt, refined.rerank_failure)
    )


async def _ranked_and_refined(
    searcher: Searcher, query: SearchQuery, stages: Stages
) -> tuple[Ranking, Refined]:
    """Return a ranking and what it comes to.

    Where most of it says the same, and too little is left, more is ranked.
    """
    wide = query
    while True:
        ranking = await rank(searcher, wide, stages)
        await give_way()
        refined = await _refiner(searcher, query, stages).refine(ranking.hits)
        ranked, hidden = len(ranking.hits), stages.counts["duplicates"]
        is_short = len(refined.hits) < query.limit and hidden * 2 > ranked
        if not is_short or not wide.limit <= ranked < _MOST_RANKED:
            return ranking, refined
        wide = replace(query, limit=min(_MOST_RANKED, _WIDER * ranked))


def _shown(query: SearchQuery, refined: Refined) -> tuple[Hit, ...]:
    hits = tuple(
        Hit(
            hit.memory,
            with_titles(hit.fused, refined.memories),
            snippet_of(hit.memory.content, query.text),
        )
        for hit in refined.hits
    )
    return hits if query.max_tokens is None else _packed(hits, query.max_tokens, query.with_content)


def _packed(hits: tuple[Hit, ...], max_tokens: int, with_content: bool) -> tuple[Hit, ...]:
    snippets = None if with_content else {hit.memory.id: hit.snippet for hit in hits}
    fitting = {one.id for one in pack([hit.memory for hit in hits], max_tokens, snippets)}
    return tuple(hit for hit in hits if hit.memory.id in fitting)


def _refiner(searcher: Searcher, query: SearchQuery, stages: Stages) -> Refiner:
    reranker = searcher.reranker if query.choices.rerank else None
    return Refiner(
        searcher.engine, reranker, query.text, query.filters, query.limit, query.choices, stages
    )


def receipt_of(searcher: Searcher, query: SearchQuery, stages: Stages, ranking: Ranking) -> Receipt:
    """Return the account of an answer."""
    model, missing = searcher.vectors.model, ranking.missing
    # An index may have been incomplete before the search, or have become so during it.
    caveat = ranking.caveat or searcher.engine.caveat(query.filters.agents)
    if not any(query.weights.get(name, 0) for name in _FINDING):
        caveat = _UNASKED
    return Receipt(
        took_ms=stages.took_ms(),
        stages_ms=stages.milliseconds,
        counts=stages.counts,
        filters=query.filters.given(),
        fusion=query.fusion,
        weights=dict(query.weights),
        rrf_k=query.rrf_k,
        engine=searcher.engine.name,
        missing_signals=["vector"] if missing else [],
        fallback_reason=missing.detail if missing else caveat,
        certainty=ranking.certainty,
        indexed_through=ranking.indexed_through,
        embedding_model=model.name if model else None,
    )
