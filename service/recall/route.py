"""The door of /graph-recall."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from fastapi import Query
from pydantic import Field, model_validator

from service.errors import AgentNotReadable, AgentUnknown, MemoryNotFound, Unavailable
from service.field_types import WHOLE, Flag, Label, Question
from service.memories.shapes import Neighbour
from service.projects.project_fields import InBody, InQuery
from service.projects.switched_off import SwitchedOff
from service.recall.graph_recall import (
    EDGES,
    Chain,
    Edge,
    Recalled,
    RecallQuery,
    RecallResult,
    graph_recall,
)
from service.recall.walk import Path, Step
from service.records import Memory
from service.search.receipts import Receipt, with_reason
from service.search.said_intents import SaidIntent, intents_for
from service.search.searcher import Searcher, SearchQuery
from service.search.shapes import HitFields, signal_fields
from service.sessions.asking import AskingFields, TheGiven, known_to, note_given
from service.store.agents import readable_agents
from service.text.snippets import snippet_of
from service.text.titles import title_of
from service.threads import read_texts
from service.web.declared import problems
from service.web.fields import IN_A_QUERY, body_example, memory_fields, ruled
from service.web.parts import part
from service.web.room import Room

router = Room("search")

_PROBLEMS: Final = problems(
    SwitchedOff, AgentUnknown, AgentNotReadable, MemoryNotFound, Unavailable
)

TheSearcher = Annotated[Searcher, part(Searcher)]


class RecallOptions(AskingFields):
    """What POST and GET have in common."""

    seed_ids: list[Label] = Field(
        [], max_length=20, description="Start from these memories instead of a question."
    )
    hops: Annotated[int, Field(ge=1, le=4), WHOLE] = Field(
        2, description="How far to walk, 1 to 4."
    )
    limit: Annotated[int, Field(ge=1, le=100), WHOLE] = Field(
        10, description="Most results to return, 1 to 100."
    )
    temporal: Flag = Field(True, description="Walk `follows` both ways too.")
    edges: list[Edge] = Field(list(EDGES), min_length=1, description="The edges to walk.")


class RecallRequest(RecallOptions):
    """A question, or memories to start from."""

    model_config = ruled(
        body_example(query="why did we choose Qwen3", hops=2, limit=10),
        anyOf=[
            {"required": ["query"], "properties": {"query": {"type": "string"}}},
            {"required": ["seed_ids"], "properties": {"seed_ids": {"minItems": 1}}},
        ],
    )

    query: Question | None = None
    project: InBody = None

    @model_validator(mode="after")
    def _has_a_start(self) -> "RecallRequest":
        if self.query is None and not self.seed_ids:
            msg = "give `query` or `seed_ids`"
            raise ValueError(msg)
        return self


class RecallParameters(RecallOptions):
    """The same as query parameters, for curl and a browser."""

    model_config = IN_A_QUERY

    q: Question | None
    project: InQuery = None

    @model_validator(mode="before")
    @classmethod
    def _needs_no_question(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Take seeds without a question, although no description of parameters can say so."""
        return {"q": None, **given} if given.get("seed_ids") else given

    def request(self) -> RecallRequest:
        """Return the request that a body would have given."""
        return RecallRequest(query=self.q, **self.model_dump(exclude={"q"}))


@dataclass(frozen=True, slots=True)
class MemoryStep:
    """A memory on the path."""

    memory: str
    title: str
    trust_tier: str


@dataclass(frozen=True, slots=True)
class ConceptStep:
    """An edge on the path and the concept it leads to."""

    edge: Literal["references", "related_to", "is_a"]
    concept: str


@dataclass(frozen=True, slots=True)
class TimeStep:
    """A step in time: to what came before or after the memory in front of it."""

    edge: Literal["follows"]
    direction: Literal["before", "after"]


StepFields = MemoryStep | ConceptStep | TimeStep


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledFields(HitFields):
    """A memory that was reached: how far from a seed, and by which path."""

    distance: int
    path: list[StepFields]


@dataclass(frozen=True, slots=True)
class ChainFields:
    """What came just before and just after a seed, the nearest first."""

    memory: str
    before: list[Neighbour]
    after: list[Neighbour]


@dataclass(frozen=True, slots=True)
class WalkedConcept:
    """A concept the walk went through, and how strongly."""

    id: str
    name: str
    weight: float


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """A narrative thread: seeds, what is connected and how, and what came before and after."""

    seeds: list[str]
    results: list[RecalledFields]
    chains: list[ChainFields]
    concepts: list[WalkedConcept]
    receipt: Receipt
    intents: list[SaidIntent]


@router.post("/graph-recall", operation_id="graph_recall", responses=_PROBLEMS)
async def post_recall(
    searcher: TheSearcher, given: TheGiven, request: RecallRequest
) -> RecallAnswer:
    """Follow the threads from the best hits: what is connected to this, and how."""
    async with known_to(given, request) as known:
        result = await _recall(searcher, request, known)
        told = [(hit.memory, f"{hit.reached.distance} steps from a seed") for hit in result.hits]
        unnoted = await note_given(given, request, "graph_recall", told)
    intents = await intents_for(searcher, request, request.query or "", result.receipt)
    return await _answer(request, result, unnoted, intents)


@router.get(
    "/graph-recall", operation_id="graph_recall_get", responses=_PROBLEMS,
)  # fmt: skip
async def get_recall(
    searcher: TheSearcher, given: TheGiven, parameters: Annotated[RecallParameters, Query()]
) -> RecallAnswer:
    """Do the same for curl and a browser."""
    request = parameters.request()
    async with known_to(given, request) as known:
        return await _answer(request, await _recall(searcher, request, known))


async def _recall(
    searcher: Searcher, request: RecallRequest, known: tuple[str, ...]
) -> RecallResult:
    agents = await readable_agents(searcher.db, request.agent, request.read_from)
    filters = await request.narrowed(searcher.db, agents)
    search = SearchQuery(request.query or "", filters, request.limit)
    query = RecallQuery(
        search, tuple(request.seed_ids), request.hops, request.temporal, tuple(request.edges),
        frozenset(known),
    )  # fmt: skip
    result = await graph_recall(searcher, query)
    if request.asking:
        result.receipt.counts["given"] = len(known)
    return result


async def _answer(
    request: RecallRequest,
    result: RecallResult,
    unnoted: str | None = None,
    intents: Sequence[SaidIntent] = (),
) -> RecallAnswer:
    characters = sum(len(hit.memory.content) for hit in result.hits)
    return RecallAnswer(
        seeds=list(result.seeds),
        results=await read_texts(characters // 10, _all_recalled, request.query or "", result),
        chains=[_chain_fields(chain, result.memories) for chain in result.chains],
        concepts=[WalkedConcept(c.id[1], c.name, round(w, 4)) for c, w in result.concepts],
        receipt=with_reason(result.receipt, unnoted),
        intents=list(intents),
    )


def _all_recalled(question: str, result: RecallResult) -> list[RecalledFields]:
    return [_recalled_fields(hit, question, result) for hit in result.hits]


def _recalled_fields(hit: Recalled, question: str, result: RecallResult) -> RecalledFields:
    return RecalledFields(
        **memory_fields(hit.memory),
        snippet=snippet_of(hit.memory.content, question),
        score=hit.reached.score,
        signals=signal_fields(hit.fused),
        distance=hit.reached.distance,
        path=_path_fields(hit.reached.path, result),
    )


def _path_fields(path: Path, result: RecallResult) -> list[StepFields]:
    return [_step_fields(step, result.memories) for step in path]


def _step_fields(step: Step, memories: Mapping[str, Memory]) -> StepFields:
    if step.memory:
        memory = memories[step.memory]
        return MemoryStep(memory.id, title_of(memory.title, memory.content), memory.trust_tier)
    if step.concept:
        return ConceptStep(step.edge, step.concept.id[1])  # type: ignore[arg-type]
    return TimeStep("follows", step.direction)  # type: ignore[arg-type]


def _chain_fields(chain: Chain, memories: Mapping[str, Memory]) -> ChainFields:
    def named(keys: tuple[str, ...]) -> list[Neighbour]:
        known = [memories[key] for key in keys if key in memories]
        return [Neighbour(m.id, title_of(m.title, m.content), m.trust_tier) for m in known]

    return ChainFields(chain.memory, named(chain.before), named(chain.after))
