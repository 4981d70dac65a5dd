"""The door of /cascade: tier after tier is asked, and the first that is sure answers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import Field

from service.cascade.coverage import covering
from service.errors import AgentNotReadable, AgentUnknown, Unavailable
from service.field_types import WHOLE, Flag, Label, Question, Text
from service.projects.place import scope_named
from service.projects.project_fields import InBody
from service.projects.switched_off import SwitchedOff
from service.search.hybrid import Hit, SearchResult, hybrid_search
from service.search.searcher import Searcher, SearchQuery
from service.search.shapes import HitFields, hit_fields
from service.session_end.ending import parts_of
from service.sessions.asking import AskingFields, TheGiven, known_to, note_given
from service.stages import Stages
from service.threads import read_texts
from service.web.declared import problems
from service.web.fields import Strict, body_example
from service.web.parts import part
from service.web.room import Room
from service.working_memory.texts import Place, read

router = Room("continuity", prefix="/cascade")

TheSearcher = Annotated[Searcher, part(Searcher)]

Tier = Literal["context", "ephemeral", "session", "long_term"]

_PROBLEMS: Final = problems(SwitchedOff, AgentUnknown, AgentNotReadable, Unavailable)
# What is recent: hours to days.
_SESSION_DAYS: Final = 7
_TRUSTED: Final = "trusted"
_ORIGINS: Final = ("owner", "agent", "system")


class Said(Strict):
    """Something that was said in the conversation."""

    role: Label
    content: Annotated[Text, Field(max_length=1_000_000)]


class CascadeRequest(AskingFields):
    """A question, the conversation that it comes up in, and how sure an answer must be."""

    model_config = body_example(
        query="Which crane did we mend in May?", session="s-0142",
        project="github.com/ann/app", min_confidence=0.5,
    )  # fmt: skip

    query: Question
    messages: Annotated[list[Said], Field(max_length=10_000)] = Field(
        [], description="The conversation as it stands: the first tier."
    )
    limit: Annotated[int, Field(ge=1, le=100), WHOLE] = 5
    min_confidence: Annotated[float, Field(ge=0, le=1)] = Field(
        0.5, description="The first tier that is as sure answers; the last one in any case."
    )
    project: InBody = None
    # The session is always the one that asks.
    new_only: Flag | None = Field(
        False, description="true leaves out what the session was given before."
    )


@dataclass(frozen=True, slots=True)
class AskedTier:
    """A tier that was asked: how sure it is, how much it found, what that took."""

    tier: Tier
    confidence: float
    found: int
    took_ms: float


@dataclass(frozen=True, slots=True)
class CascadeAnswer:
    """What the first tier that is sure says; `tier` is null where none found anything.

    Of the conversation and of what is in focus these are `texts`, else memories, the best first.
    """

    tier: Tier | None
    confidence: float
    texts: list[str]
    results: list[HitFields]
    asked: list[AskedTier]
    took_ms: float
    fallback_reason: str | None


@dataclass(frozen=True, slots=True)
class _Found:
    tier: Tier
    confidence: float
    texts: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()
    fallback_reason: str | None = None


@router.post("", operation_id="cascade", responses=_PROBLEMS)
async def post_cascade(
    searcher: TheSearcher, given: TheGiven, request: CascadeRequest
) -> CascadeAnswer:
    """Ask tier after tier: the conversation, what is in focus, the last seven days, everything.

    The first that is as sure as `min_confidence` answers, and it is told which ones were asked.
    For texts that is the share of the question's words in them, for memories the confidence of
    /search. The filters of /search hold for memories; with `session` what is given is noted.
    """
    whole, asked = Stages(), []
    found = None
    async with known_to(given, request) as known:
        stages = Stages()
        async for one in _tiers(searcher, request, known):
            count = len(one.texts) + len(one.hits)
            asked.append(AskedTier(one.tier, round(one.confidence, 4), count, stages.took_ms()))
            if count:
                found = one
            if count and one.confidence >= request.min_confidence:
                break
            stages = Stages()
        hits = found.hits if found else ()
        told = [(hit.memory, f"rank {rank}") for rank, hit in enumerate(hits, 1)]
        unnoted = await note_given(given, request, "cascade", told)
    reasons = [one for one in (found and found.fallback_reason, unnoted) if one]
    return CascadeAnswer(
        found.tier if found else None, round(found.confidence, 4) if found else 0.0,
        list(found.texts) if found else [], [hit_fields(hit, with_content=True) for hit in hits],
        asked, whole.took_ms(), " ".join(reasons) or None,
    )  # fmt: skip


async def _tiers(
    searcher: Searcher, request: CascadeRequest, known: tuple[str, ...]
) -> AsyncIterator[_Found]:
    """Yield what each tier says, the nearest first; who has enough asks no further."""
    agents = await request.readable(searcher.db)
    filters = replace(await request.narrowed(searcher.db, agents), without=known)
    yield await _of_texts(request, "context", [one.content for one in request.messages])
    yield await _of_texts(request, "ephemeral", await _focus(searcher, request))
    recent = datetime.now(UTC) - timedelta(days=_SESSION_DAYS)
    since = max(filters.since, recent) if filters.since else recent
    ask = SearchQuery(request.query, replace(filters, since=since), request.limit)
    yield _of_memories("session", await hybrid_search(searcher, ask))
    yield _of_memories("long_term", await hybrid_search(searcher, replace(ask, filters=filters)))


async def _of_texts(request: CascadeRequest, tier: Tier, texts: list[str]) -> _Found:
    characters = sum(map(len, texts))
    found = await read_texts(
        characters, covering, request.query, texts, request.min_confidence, request.limit
    )
    return _Found(tier, found[0].confidence if found else 0.0, tuple(one.text for one in found))


def _of_memories(tier: Tier, result: SearchResult) -> _Found:
    reason = result.receipt.fallback_reason
    return _Found(tier, result.confidence, hits=result.hits, fallback_reason=reason)


async def _focus(searcher: Searcher, request: CascadeRequest) -> list[str]:
    """Return the parts of what is in focus, of the project and of the session."""
    scope = await scope_named(searcher.db, request.agent, request.project)
    session = request.asking.name if request.asking else None
    places = [Place(request.agent, scope)]
    if session:
        places.append(Place(request.agent, scope, session))
    found = [await read(searcher.db, one) for one in places]
    return [
        part_
        for one in found
        if one and one.trust_tier == _TRUSTED and one.origin in _ORIGINS
        for part_ in parts_of(one.text)
    ]
