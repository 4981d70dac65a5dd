"""Hybrid search: ask every signal at once, fuse their rankings, fetch what is returned."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from service.agents import hub_caps, refuse_unknown
from service.database import Database
from service.embedder import Vector
from service.errors import (
    EmbedderRefused,
    EmbedderUnavailable,
    ServiceError,
    VectorsUnfit,
)
from service.memories.fetching import Wanted, fetch_first
from service.records import Filters, Memory, Scored
from service.search.answers import confidence_of, pack, snippet_of
from service.search.candidates import by_concepts, by_words
from service.search.engine import Engine
from service.search.fusion import Fused, fuse
from service.search.paths import path_seeds, with_titles
from service.search.receipts import Receipt, Stages
from service.settings import Settings
from service.vectors import Vectors

log = logging.getLogger(__name__)

# The seed's recipe: 20 hits by meaning, 20 by words, 10 by concepts from the 5 best.
_DIRECT: Final = 20
_BY_CONCEPTS: Final = 10
_SEEDS: Final = 5
DEFAULT_WEIGHTS: Final[Mapping[str, float]] = {"vector": 1.0, "text": 1.0, "graph": 0.5}
DEFAULT_RRF_K: Final = 60


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One question, with everything a caller may choose."""

    text: str
    filters: Filters = field(default_factory=Filters)
    limit: int = 5
    fusion: str = "default"
    rrf_k: int = DEFAULT_RRF_K
    weights: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_WEIGHTS))
    max_tokens: int | None = None
    min_confidence: float = 0.0


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


@dataclass(frozen=True, slots=True)
class Searcher:
    """What a search needs of the running service."""

    db: Database
    vectors: Vectors
    settings: Settings
    engine: Engine


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranked memory ids, best first, and what is to be said of how they were found.

    `missing` is why the vector signal is; `indexed_through` and `reservation` are what the engine
    said before it was asked anything else.
    """

    indexed_through: datetime
    reservation: str | None
    hits: list[Fused] = field(default_factory=list)
    missing: ServiceError | None = None

    @classmethod
    def begin(cls, engine: Engine, agents: Sequence[str]) -> "Ranking":
        """Return a ranking without hits, as the engine stands now."""
        return cls(engine.indexed_through(agents), engine.reservation(agents))


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


async def rank(searcher: Searcher, asked: SearchQuery, stages: Stages) -> Ranking:
    """Return the fused ranking of all signals; paths begin at a memory's id."""
    begun = Ranking.begin(searcher.engine, asked.filters.agents)
    direct = max(_DIRECT, asked.limit)
    text, (vector, missing) = await asyncio.gather(
        _by_text(searcher, asked, direct, stages), _by_vector(searcher, asked, direct, stages)
    )
    with stages.measured("fuse"):
        found = {"vector": vector, "text": text}
        fused = fuse(found, asked.weights, asked.rrf_k)
    graph: list[Scored] = []
    if fused and asked.weights.get("graph", 0) > 0:
        with stages.measured("graph"):
            graph = await _by_concepts(searcher, asked, fused)
        with stages.measured("fuse"):
            fused = fuse(found | {"graph": graph}, asked.weights, asked.rrf_k)
    stages.counts |= {"vector": len(vector), "text": len(text), "graph": len(graph)}
    return replace(begun, hits=fused, missing=missing)


async def _by_text(
    searcher: Searcher, asked: SearchQuery, limit: int, stages: Stages
) -> list[Scored]:
    if asked.weights.get("text", 0) <= 0:
        return []
    with stages.measured("text"):
        return await by_words(searcher.engine, asked.text, asked.filters, limit)


async def _by_vector(
    searcher: Searcher, asked: SearchQuery, limit: int, stages: Stages
) -> tuple[list[Scored], ServiceError | None]:
    """Rank by meaning; no vector to be had is told, not raised. The only degradation there is."""
    if asked.weights.get("vector", 0) <= 0:
        return [], None
    try:
        with stages.measured("embed"):
            vector: Vector = await searcher.vectors.embed_query(asked.text)
    except (EmbedderUnavailable, EmbedderRefused, VectorsUnfit) as error:
        return [], error
    with stages.measured("vector"):
        found, filtered = await searcher.engine.by_vector(vector, asked.filters, limit)
    stages.counts["filtered"] = filtered
    return found, None


async def _by_concepts(searcher: Searcher, asked: SearchQuery, fused: list[Fused]) -> list[Scored]:
    caps = await caps_of(searcher, asked.filters.agents)
    best = fused[0].score
    seeds = [Scored(hit.id, hit.score / best) for hit in fused[:_SEEDS]]
    return await by_concepts(searcher.engine, seeds, asked.filters, _BY_CONCEPTS, caps)


async def caps_of(searcher: Searcher, agents: Sequence[str]) -> dict[str, int]:
    """Return, for each agent, above how many memories a concept links nothing."""
    settings, sizes = searcher.settings, await searcher.engine.sizes(agents)
    return hub_caps(sizes, settings.concept_max_memories, settings.concept_max_share)


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
