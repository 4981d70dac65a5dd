"""The door of /search."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from service.agents import readable_agents
from service.dependencies import Parts, TheParts
from service.fields import FilterFields, MemoryFields, Question, Strict, memory_fields
from service.search.fusion import Fused
from service.search.hybrid import (
    DEFAULT_RRF_K,
    DEFAULT_WEIGHTS,
    Hit,
    Searcher,
    SearchQuery,
    SearchResult,
    hybrid_search,
)
from service.search.receipts import Receipt

router = APIRouter(tags=["search"])

Limit = Annotated[int, Field(ge=1, le=100, description="Most results to return, 1 to 100.")]
Weight = Annotated[float, Field(ge=0, le=100)]


class Weights(Strict):
    """How much each signal counts in the fusion; 0 leaves it out."""

    vector: Weight = DEFAULT_WEIGHTS["vector"]
    text: Weight = DEFAULT_WEIGHTS["text"]
    graph: Weight = DEFAULT_WEIGHTS["graph"]


class SearchOptions(FilterFields):
    """What POST and GET have in common."""

    limit: Limit = 5
    fusion: Literal["default", "rrf"] = Field(
        "default", description="`rrf` is weighted reciprocal rank fusion; so is `default` for now."
    )
    rrf_k: int = Field(
        DEFAULT_RRF_K, ge=1, le=1000, description="RRF's constant: the larger, the flatter."
    )
    detail: Literal["full", "index"] = Field(
        "full", description="`index` leaves out the contents; GET /memories/{id} has them."
    )
    max_tokens: int | None = Field(
        None, ge=1, le=1_000_000, description="Pack the best results into this token budget."
    )
    min_confidence: float = Field(
        0.0, ge=0, le=1, description="Below it the answer is empty, with `abstained: true`."
    )
    explain: bool = Field(False, description="Accepted; every hit carries its signals anyway.")


class SearchRequest(SearchOptions):
    """A question with its filters and choices."""

    query: Question
    weights: Weights = Weights()


class SearchParameters(SearchOptions):
    """The same as query parameters, for curl and a browser."""

    q: Question
    weight_vector: Weight = DEFAULT_WEIGHTS["vector"]
    weight_text: Weight = DEFAULT_WEIGHTS["text"]
    weight_graph: Weight = DEFAULT_WEIGHTS["graph"]

    def request(self) -> SearchRequest:
        """Return the request that a body would have given."""
        values = self.model_dump(exclude={"q", "weight_vector", "weight_text", "weight_graph"})
        weights = Weights(
            vector=self.weight_vector, text=self.weight_text, graph=self.weight_graph
        )
        return SearchRequest(query=self.q, weights=weights, **values)


@dataclass(frozen=True, slots=True)
class SignalFields:
    """What one signal said of a hit: its rank from 1, its own score, and the graph's path."""

    rank: int
    score: float
    path: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HitFields(MemoryFields):
    """A memory that answers, with its fused score and the signals that found it."""

    snippet: str
    score: float
    signals: dict[str, SignalFields]


@dataclass(frozen=True, slots=True)
class ReceiptFields:
    """How the answer came about. `filters` and `counts` have a key for each one that applied."""

    took_ms: float
    stages_ms: dict[str, float]
    counts: dict[str, int]
    filters: dict[str, Any]
    fusion: str
    weights: dict[str, float]
    rrf_k: int
    engine: str
    missing_signals: list[str]
    fallback_reason: str | None
    indexed_through: Any
    embedding_model: str | None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answers, best first, how sure they are, and the receipt."""

    results: list[HitFields]
    confidence: float
    abstained: bool
    receipt: ReceiptFields


@router.post("/search", operation_id="search")
async def post_search(parts: TheParts, request: SearchRequest) -> SearchAnswer:
    """Find the few memories that answer a question, by words, meaning and shared concepts."""
    return await _search(parts, request)


@router.get("/search", operation_id="search_get")
async def get_search(
    parts: TheParts, parameters: Annotated[SearchParameters, Query()]
) -> SearchAnswer:
    """Do the same for curl and a browser."""
    return await _search(parts, parameters.request())


async def _search(parts: Parts, request: SearchRequest) -> SearchAnswer:
    agents = await readable_agents(parts.db, request.agent, request.read_from)
    asked = SearchQuery(
        text=request.query,
        filters=request.filters(agents),
        limit=request.limit,
        fusion=request.fusion,
        rrf_k=request.rrf_k,
        weights=request.weights.model_dump(),
        max_tokens=request.max_tokens,
        min_confidence=request.min_confidence,
    )
    found = await hybrid_search(Searcher(parts.db, parts.vectors, parts.settings), asked)
    return _answer(found, with_content=request.detail == "full")


def _answer(found: SearchResult, *, with_content: bool) -> SearchAnswer:
    return SearchAnswer(
        results=[hit_fields(hit, with_content=with_content) for hit in found.hits],
        confidence=found.confidence,
        abstained=found.abstained,
        receipt=receipt_fields(found.receipt),
    )


def hit_fields(hit: Hit, *, with_content: bool) -> HitFields:
    """Return a hit as JSON fields."""
    return HitFields(
        **memory_fields(hit.memory, with_content=with_content),
        snippet=hit.snippet,
        score=hit.fused.score,
        signals=signal_fields(hit.fused),
    )


def signal_fields(fused: Fused) -> dict[str, SignalFields]:
    """Return what each signal said of a hit."""
    return {
        name: SignalFields(said.rank, said.score, list(said.path) if said.path else None)
        for name, said in fused.signals.items()
    }


def receipt_fields(receipt: Receipt) -> ReceiptFields:
    """Return a receipt as JSON fields."""
    values = {n: getattr(receipt, n) for n in ReceiptFields.__dataclass_fields__}
    return ReceiptFields(**values | {"missing_signals": list(receipt.missing_signals)})
