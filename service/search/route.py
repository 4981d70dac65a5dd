"""The door of /search."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from fastapi import Query
from pydantic import Field

from service.errors import AgentNotReadable, AgentUnknown, Unavailable
from service.field_types import NUMBER, WHOLE, Flag, Question, Share
from service.projects.project_fields import InBody, InQuery
from service.projects.switched_off import SwitchedOff
from service.search.hybrid import SearchResult, hybrid_search
from service.search.receipts import Receipt, with_reason
from service.search.refine.refining import Choices
from service.search.said_intents import SaidIntent, intents_for
from service.search.searcher import DEFAULT_RRF_K, DEFAULT_WEIGHTS, Searcher, SearchQuery
from service.search.shapes import HitFields, hit_fields
from service.sessions.asking import AskingFields, TheGiven, known_to, note_given
from service.web.declared import problems
from service.web.fields import IN_A_QUERY, Strict, body_example
from service.web.parts import part
from service.web.room import Room

router = Room("search")

_PROBLEMS: Final = problems(SwitchedOff, AgentUnknown, AgentNotReadable, Unavailable)

TheSearcher = Annotated[Searcher, part(Searcher)]

Limit = Annotated[int, Field(ge=1, le=100, description="Most results to return, 1 to 100."), WHOLE]
Weight = Annotated[float, Field(ge=0, le=100), NUMBER]


class Weights(Strict):
    """How much each signal counts; 0 leaves it out.

    With `rrf` they weigh votes. By default they are factors: of all that meaning (`vector`) and
    words (`text`) add to a score, alone and in context; any `graph` above 0 walks paths.
    """

    vector: Weight = DEFAULT_WEIGHTS["vector"]
    text: Weight = DEFAULT_WEIGHTS["text"]
    graph: Weight = DEFAULT_WEIGHTS["graph"]


class SearchOptions(AskingFields):
    """What POST and GET have in common."""

    limit: Limit = 5
    fusion: Literal["default", "rrf"] = Field(
        "default",
        description="How signals become one order. `default`: by one score of words, meaning, "
        "context, names, times and paths. `rrf`: by weighted reciprocal ranks.",
        examples=["rrf"],
    )
    rrf_k: Annotated[int, Field(ge=1, le=1000), WHOLE] = Field(
        DEFAULT_RRF_K, description="The constant of `rrf`: the larger, the flatter."
    )
    detail: Literal["full", "index"] = Field(
        "full", description="`index` leaves out the contents; GET /memories/{id} has them."
    )
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000), WHOLE] | None = Field(
        None,
        description="Pack the best results into this token budget; `receipt.counts.left_out` says "
        "how many did not fit. With `detail: index` their snippets are counted.",
    )
    min_confidence: Share = Field(
        0.0,
        description="With less confidence than this the answer is empty, with `abstained: true`. "
        "Confidence is the chance that one of the first five results is an answer.",
        examples=[0.4],
    )
    duplicates: Literal["hide", "show"] = Field(
        "hide",
        description="`hide` gives of results that say the same only the best; the receipt counts "
        "them as `duplicates`.",
        examples=["show"],
    )
    diversity: Share = Field(
        0.0,
        description="How much the next result must differ from those before it, 0 to 1 (MMR).",
        examples=[0.3],
    )
    recency: Share = Field(
        0.0,
        description="How much younger memories are preferred, 0 to 1; at 1 a score changes by "
        "20 % at most. Counted from `as_of` where given.",
        examples=[0.5],
    )
    rerank: Flag = Field(
        True,
        description="Let the rerank server reorder the best results, where one is configured.",
        examples=[False],
    )
    skip_small_talk: Flag = Field(
        False,
        description="Answer nothing to greetings, thanks and the like, without searching: for "
        "hooks that ask with whatever the user typed.",
        examples=[True],
    )
    explain: Flag = Field(
        False, description="Changes nothing: every hit carries its signals anyway."
    )


class SearchRequest(SearchOptions):
    """A question with its filters and choices."""

    model_config = body_example(query="RTX 5070 Ti VRAM issue", limit=5, kinds=["decision", "note"])

    query: Question
    weights: Weights = Weights()
    project: InBody = None


class SearchParameters(SearchOptions):
    """The same as query parameters, for curl and a browser."""

    model_config = IN_A_QUERY

    q: Question
    project: InQuery = None
    weight_vector: Weight = DEFAULT_WEIGHTS["vector"]
    weight_text: Weight = DEFAULT_WEIGHTS["text"]
    weight_graph: Weight = DEFAULT_WEIGHTS["graph"]

    def request(self) -> SearchRequest:
        """Return the request that a body would have given."""
        values = self.model_dump(exclude={"q", "weight_vector", "weight_text", "weight_graph"})
        weights = Weights(vector=self.weight_vector, text=self.weight_text, graph=self.weight_graph)
        return SearchRequest(query=self.q, weights=weights, **values)


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answers, best first, how sure they are, the receipt, and what was to be said of it."""

    results: list[HitFields]
    confidence: float
    abstained: bool
    receipt: Receipt
    intents: list[SaidIntent]


@router.post("/search", operation_id="search", responses=_PROBLEMS)
async def post_search(
    searcher: TheSearcher, given: TheGiven, request: SearchRequest
) -> SearchAnswer:
    """Find the few memories that answer a question, by words, meaning and shared concepts."""
    async with known_to(given, request) as known:
        result = await _search(searcher, request, known)
        told = [
            (hit.memory, f"rank {rank} by {', '.join(hit.fused.signals)}")
            for rank, hit in enumerate(result.hits, 1)
        ]
        titles = [hit.memory.id for hit in result.hits] if request.detail == "index" else []
        unnoted = await note_given(given, request, "search", told, titles)
    intents = await intents_for(searcher, request, request.query, result.receipt)
    return _answer(request, result, unnoted, intents)


@router.get("/search", operation_id="search_get", responses=_PROBLEMS)
async def get_search(
    searcher: TheSearcher, given: TheGiven, parameters: Annotated[SearchParameters, Query()]
) -> SearchAnswer:
    """Do the same for curl and a browser."""
    request = parameters.request()
    async with known_to(given, request) as known:
        return _answer(request, await _search(searcher, request, known))


async def _search(
    searcher: Searcher, request: SearchRequest, known: tuple[str, ...]
) -> SearchResult:
    agents = await request.readable(searcher.db)
    query = SearchQuery(
        text=request.query,
        filters=replace(await request.narrowed(searcher.db, agents), without=known),
        limit=request.limit,
        fusion=request.fusion,
        rrf_k=request.rrf_k,
        weights=request.weights.model_dump(),
        max_tokens=request.max_tokens,
        with_content=request.detail == "full",
        min_confidence=request.min_confidence,
        choices=Choices(request.duplicates, request.diversity, request.recency, request.rerank),
        skip_small_talk=request.skip_small_talk,
    )
    result = await hybrid_search(searcher, query)
    if request.asking:
        result.receipt.counts["given"] = len(known)
    return result


def _answer(
    request: SearchRequest,
    result: SearchResult,
    unnoted: str | None = None,
    intents: Sequence[SaidIntent] = (),
) -> SearchAnswer:
    with_content = request.detail == "full"
    return SearchAnswer(
        results=[hit_fields(hit, with_content=with_content) for hit in result.hits],
        confidence=result.confidence,
        abstained=result.abstained,
        receipt=with_reason(result.receipt, unnoted),
        intents=list(intents),
    )
