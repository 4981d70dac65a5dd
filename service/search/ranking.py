"""From a question to ranked memory ids: every signal is asked at once, then they are fused."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final, Protocol

from service.errors import EmbedderRefused, EmbedderUnavailable, ServiceError, VectorsUnfit
from service.index.engine import Engine
from service.index.evidence import Question
from service.inference.reranker import Reranker
from service.inference.vectors import Vectors
from service.records import Filters, Scored, Vector
from service.search.candidates import by_concepts, by_names, by_words
from service.search.fusion.confidence import Certainty, certainty_of_ranks
from service.search.fusion.rrf import Fused, fuse
from service.search.fusion.score_fusion import fuse_by_score
from service.search.refine.refining import Choices
from service.search.signals.signal import Candidates
from service.search.summaries import summaries_for_sources
from service.search.times.time_filters import Moments, moments_named
from service.settings import Settings
from service.stages import Stages
from service.store.agents import hub_caps
from service.store.database import Database
from service.threads import read_texts

# Of rank fusion: 20 hits by meaning, 20 by words, 10 by concepts from the 5 best.
_DIRECT: Final = 20
_BY_CONCEPTS: Final = 10
_SEEDS: Final = 5
# The default fusion looks at more: what is no direct hit may stand beside one in time.
_CANDIDATES: Final = 100
_AT_THE_DATABASE: Final = 64
# Of the times that one question names, so many are looked through on their own.
_SPANS: Final = 2
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
    choices: Choices = field(default_factory=Choices)
    skip_small_talk: bool = False
    # How long its vector is waited for; None: as long as one may take.
    meaning_seconds: float | None = None


def turns_of(*, is_resident: bool) -> asyncio.Semaphore:
    """Return the turns of those who have their question's vector.

    Where this process ranks, more at once than there are cores take each other's caches and make
    no answer faster; a database has cores of its own.
    """
    return asyncio.Semaphore(max(2, os.cpu_count() or 1) if is_resident else _AT_THE_DATABASE)


# The question's vector, or why there is none.
Embedded = tuple[Vector | None, ServiceError | None]
# What was found before a turn: by words, with quoted phrases; the vector; the times that it names.
Looks = tuple[tuple[list[Scored], Mapping[str, int]], Embedded, Moments | None]
# The hits, how sure they are, and why the vector signal is missing.
Answered = tuple[list[Fused], Certainty | None, ServiceError | None]


class Elsewhere(Protocol):
    """Processes of their own that rank as `rank_here` does, over all that was written so far."""

    @property
    def warning(self) -> str | None:
        """What an operator should know of them; None when all is well."""

    async def rank(
        self, query: SearchQuery, embed: Callable[[], Awaitable[Embedded]], stages: Stages
    ) -> Answered | None:
        """Return what one of them ranks; None where this process has to."""


@dataclass(frozen=True, slots=True)
class Searcher:
    """What a search needs of the running service; it goes on without reranker and readers."""

    db: Database
    vectors: Vectors
    settings: Settings
    engine: Engine
    reranker: Reranker | None = None
    turns: asyncio.Semaphore = field(default_factory=lambda: turns_of(is_resident=False))
    readers: Elsewhere | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranked memory ids, best first, and what the receipt says of how they were found.

    `missing` is why the vector signal is missing. `indexed_through` and `caveat` were read before
    the search began.
    """

    indexed_through: datetime
    caveat: str | None
    hits: list[Fused] = field(default_factory=list)
    certainty: Certainty | None = None
    missing: ServiceError | None = None

    @classmethod
    def begin(cls, engine: Engine, agents: Sequence[str]) -> "Ranking":
        """Return a ranking without hits, as the engine stands now."""
        return cls(engine.indexed_through(agents), engine.caveat(agents))


async def rank(searcher: Searcher, query: SearchQuery, stages: Stages) -> Ranking:
    """Return the fused ranking of all signals; paths begin at a memory's id.

    Where there are readers, one of them ranks; this process, where none can.
    """
    begun = Ranking.begin(searcher.engine, query.filters.agents)
    # An index that is loaded only now is waited for without a turn, so that others go on.
    await searcher.engine.sizes(query.filters.agents)
    found = None
    if searcher.readers:
        embed = partial(_embedded, searcher, query, stages)
        found = await searcher.readers.rank(query, embed, stages)
    hits, certainty, missing = found or await rank_here(searcher, query, stages)
    return replace(begun, hits=hits, certainty=certainty, missing=missing)


async def rank_here(searcher: Searcher, query: SearchQuery, stages: Stages) -> Answered:
    """Rank in this process.

    Memories that were archived into a summary are searched too, and the summary takes their place:
    so a question that found a memory still finds it after consolidation.
    """
    fuse_all = _by_rank if query.fusion == "rrf" else _by_score
    filters = replace(query.filters, with_sources=not query.filters.include_archived)
    hits, certainty, missing = await fuse_all(searcher, replace(query, filters=filters), stages)
    if filters.with_sources:
        hits = await summaries_for_sources(searcher.engine, filters.agents, hits)
    return hits, certainty, missing


async def _by_score(searcher: Searcher, query: SearchQuery, stages: Stages) -> Answered:
    """Rank by score: the default."""
    looks = await first_looks(searcher, query, stages)
    async with searcher.turns:
        candidates, missing = await find_candidates(searcher, query, looks, stages)
        hits, certainty = await fuse_by_score(searcher.engine, query, candidates, stages)
    return hits, certainty, missing


async def first_looks(searcher: Searcher, query: SearchQuery, stages: Stages) -> Looks:
    """Ask at once what needs no vector, and for the vector."""
    direct = max(_CANDIDATES, query.limit)
    text, vector, moments = await asyncio.gather(
        _by_text(searcher, query, direct, stages),
        _embedded(searcher, query, stages),
        moments_named(searcher.engine, query.text, query.filters),
    )
    return text, vector, moments


async def find_candidates(
    searcher: Searcher, query: SearchQuery, looks: Looks, stages: Stages
) -> tuple[Candidates, ServiceError | None]:
    """Return what the default fusion scores, and why the vector signal is missing."""
    engine, filters = searcher.engine, query.filters
    (text, phrases), (vector, missing), moments = looks
    direct = max(_CANDIDATES, query.limit)
    near = await _by_vector(searcher, query, vector, direct, stages)
    stages.counts |= {"vector": len(near), "text": len(text)}
    happened = await _happened(engine, query, moments, vector)
    caps = await caps_of(searcher, filters.agents)
    question = await read_texts(len(query.text), Question.read, query.text, vector)
    others = [*happened]
    if query.weights.get("text", 0) > 0:
        others += await by_names(engine, question.names, filters.agents, _CANDIDATES, caps)
    return Candidates(question, text, near, caps, phrases, moments, others), missing


async def _happened(
    engine: Engine, query: SearchQuery, moments: Moments | None, vector: Vector | None
) -> list[str]:
    """Return the best memories of the times that the question names, however low they rank."""
    hits: list[Scored] = []
    for span in moments.soon_after[:_SPANS] if moments else ():
        if query.weights.get("text", 0) > 0:
            hits += await engine.by_text(query.text, span, _DIRECT)
        if vector is not None:
            hits += (await engine.by_vector(vector, span, _DIRECT))[0]
    return [hit.id for hit in hits]


async def _by_rank(searcher: Searcher, query: SearchQuery, stages: Stages) -> Answered:
    """Rank by reciprocal ranks; how sure that is, the same evidence says as by default."""
    direct = max(_DIRECT, query.limit)
    (text, _), (vector, missing) = await asyncio.gather(
        _by_text(searcher, query, direct, stages), _embedded(searcher, query, stages)
    )
    async with searcher.turns:
        near = await _by_vector(searcher, query, vector, direct, stages)
        stages.counts |= {"vector": len(near), "text": len(text)}
        hits = await _fuse_by_rank(searcher, query, {"vector": near, "text": text}, stages)
        return hits, await _certainty(searcher, query, vector, hits, stages), missing


async def _certainty(
    searcher: Searcher,
    query: SearchQuery,
    vector: Vector | None,
    hits: Sequence[Fused],
    stages: Stages,
) -> Certainty | None:
    question = await read_texts(len(query.text), Question.read, query.text, vector)
    with stages.measured("context"):
        keys = [hit.id for hit in hits[:_DIRECT]]
        evidence = await searcher.engine.collect_evidence(question, query.filters, keys, 1)
    return certainty_of_ranks(evidence, hits)


async def _fuse_by_rank(
    searcher: Searcher, query: SearchQuery, lists: Mapping[str, Sequence[Scored]], stages: Stages
) -> list[Fused]:
    """Fuse twice: what shares concepts with the best hits of both lists is a third one."""
    with stages.measured("fuse"):
        fused = fuse(lists, query.weights, query.rrf_k)
    graph: list[Scored] = []
    if fused and query.weights.get("graph", 0) > 0:
        with stages.measured("graph"):
            graph = await _by_concepts(searcher, query, fused)
        with stages.measured("fuse"):
            fused = fuse({**lists, "graph": graph}, query.weights, query.rrf_k)
    stages.counts["graph"] = len(graph)
    return fused


async def _by_text(
    searcher: Searcher, query: SearchQuery, limit: int, stages: Stages
) -> tuple[list[Scored], Mapping[str, int]]:
    if query.weights.get("text", 0) <= 0:
        return [], {}
    with stages.measured("text"):
        return await by_words(searcher.engine, query.text, query.filters, limit)


async def _embedded(searcher: Searcher, query: SearchQuery, stages: Stages) -> Embedded:
    """Return the question's vector; with none to be had, why. Nothing else may be missing."""
    if query.weights.get("vector", 0) <= 0:
        return None, None
    try:
        with stages.measured("embed"):
            return await searcher.vectors.embed_query(query.text, query.meaning_seconds), None
    except (EmbedderUnavailable, EmbedderRefused, VectorsUnfit) as error:
        return None, error


async def _by_vector(
    searcher: Searcher, query: SearchQuery, vector: Vector | None, limit: int, stages: Stages
) -> list[Scored]:
    """Rank by meaning."""
    if vector is None:
        return []
    with stages.measured("vector"):
        near, filtered = await searcher.engine.by_vector(vector, query.filters, limit)
    stages.counts["filtered"] = filtered
    return near


async def _by_concepts(searcher: Searcher, query: SearchQuery, fused: list[Fused]) -> list[Scored]:
    caps = await caps_of(searcher, query.filters.agents)
    best = fused[0].score or 1.0
    seeds = [Scored(hit.id, hit.score / best) for hit in fused[:_SEEDS]]
    return await by_concepts(searcher.engine, seeds, query.filters, _BY_CONCEPTS, caps)


async def caps_of(searcher: Searcher, agents: Sequence[str]) -> dict[str, int]:
    """Return, for each agent, above how many memories a concept links nothing."""
    settings, sizes = searcher.settings, await searcher.engine.sizes(agents)
    return hub_caps(sizes, settings.concept_max_memories, settings.concept_max_share)
