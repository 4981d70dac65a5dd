"""Hybrid search: ask every signal at once, fuse their rankings, fetch what is returned."""

from dataclasses import dataclass

from service.agents import refuse_unknown
from service.memories.fetching import Wanted, fetch_first
from service.records import Memory
from service.search.answers import confidence_of, pack, snippet_of
from service.search.fusion import Fused
from service.search.paths import path_seeds, with_titles
from service.search.ranking import Ranking, Searcher, SearchQuery, rank
from service.search.receipts import Receipt, Stages


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


async def hybrid_search(searcher: Searcher, asked: SearchQuery) -> SearchResult:
    """Answer one question. Without the embedder, words and graph still answer and say so.

    Raises StoreUnavailable, and AgentUnknown when nothing was found because the agent has
    never stored anything.
    """
    stages = Stages()
    ranking = await rank(searcher, asked, stages)
    with stages.measured("fetch"):
        wanted = [Wanted(hit.id, beside=path_seeds(hit)) for hit in ranking.hits]
        keys, named = await fetch_first(searcher.db, wanted, asked.filters, asked.limit)
    memories = [named[key] for key in keys]
    by_id = {hit.id: hit for hit in ranking.hits}
    confidence = confidence_of(asked.text, [(m, _cosine(by_id[m.id])) for m in memories[:3]])
    abstained = not memories or confidence < asked.min_confidence
    if not ranking.hits:
        await refuse_unknown(searcher.db, asked.filters.agents[0])
    kept = [] if abstained else memories
    if asked.max_tokens is not None:
        kept = pack(kept, asked.max_tokens)
    hits = tuple(
        Hit(m, with_titles(by_id[m.id], named), snippet_of(m.content, asked.text)) for m in kept
    )
    return SearchResult(hits, confidence, abstained, receipt_of(searcher, asked, stages, ranking))


def _cosine(hit: Fused) -> float | None:
    return hit.signals["vector"].score if "vector" in hit.signals else None


def receipt_of(searcher: Searcher, asked: SearchQuery, stages: Stages, ranking: Ranking) -> Receipt:
    """Return the account of an answer."""
    model, missing = searcher.vectors.model, ranking.missing
    # What became whole or broke in between may have been incomplete while it was asked.
    reservation = ranking.reservation or searcher.engine.reservation(asked.filters.agents)
    return Receipt(
        took_ms=stages.took_ms(),
        stages_ms=stages.milliseconds,
        counts=stages.counts,
        filters=asked.filters.given(),
        fusion=asked.fusion,
        weights=dict(asked.weights),
        rrf_k=asked.rrf_k,
        engine=searcher.engine.name,
        missing_signals=["vector"] if missing else [],
        fallback_reason=missing.detail if missing else reservation,
        indexed_through=ranking.indexed_through,
        embedding_model=model.name if model else None,
    )
