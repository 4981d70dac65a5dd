"""From a question to ranked memory ids: every signal is asked at once, then they are fused."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final

from service.errors import (
    EmbedderRefused,
    EmbedderUnavailable,
    ServiceError,
    StoreFull,
    VectorsUnfit,
)
from service.index.engine import Engine
from service.index.evidence import Question
from service.index.numbered import Hits, NumberedEngine
from service.records import Filters, Scored, Vector
from service.search.candidates import by_concepts, by_names, by_times, by_words, direct_lists
from service.search.fusion.confidence import Certainty, certainty_of_ranks
from service.search.fusion.rrf import Fused, fuse
from service.search.fusion.score_fusion import SPARE, fuse_by_score
from service.search.searcher import Answered, Embedded, Searcher, SearchQuery, caps_of
from service.search.signals.signal import Candidates
from service.search.summaries import summaries_for_sources, with_living
from service.search.times.time_filters import Moments, moments_named
from service.stages import Stages
from service.store.agents import refuse_unknown
from service.threads import give_way, read_texts

# Of rank fusion: 20 hits by meaning, 20 by words, 10 by concepts from the 5 best.
_DIRECT: Final = 20
_BY_CONCEPTS: Final = 10
_SEEDS: Final = 5
# The default fusion looks at more: what is no direct hit may stand beside one in time.
_CANDIDATES: Final = 100
# Before Python 3.12 aiohttp writes a request in a task of its own: the loop has to turn so often
# until it is sent.
_TURNS_TO_SEND: Final = 2
# Of the times that one question names, so many are looked through on their own.
_SPANS: Final = 2


# What words found, and by memory how many quoted phrases stand in it.
ByWords = tuple[Hits, Mapping[int, int]]


@dataclass(frozen=True, slots=True)
class Looks:
    """What is there before a turn: found by words and by meaning, the question with its vector.

    Memories are those of `engine`; `named` mention what the question names, or happened when it
    says and asks for no more; `caps` as in by_concepts.
    """

    engine: NumberedEngine
    by_words: ByWords
    near: Hits
    question: Question
    missing: ServiceError | None
    moments: Moments | None
    named: Sequence[int]
    caps: Mapping[str, int]


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

    Where there are readers, one of them ranks; this process, where none can. Raises AgentUnknown.
    """
    engine, agents = searcher.engine, query.filters.agents
    indexed_through, caveat = engine.indexed_through(agents), engine.caveat(agents)
    # An index that is loaded only now is waited for without a turn, so that others go on.
    sizes = await engine.sizes(agents)
    if not any(sizes.values()):
        # For each of a dozen looks the store would be asked whether it owns something by now.
        await refuse_unknown(searcher.db, *agents)
    alone = partial(rank_here, searcher, query, stages)
    if searcher.readers:
        embed = partial(_embedded, searcher, query, stages)
        hits, certainty, missing = await searcher.readers.rank(query, embed, stages, alone)
    else:
        hits, certainty, missing = await alone()
    return Ranking(indexed_through, caveat, hits, certainty, missing)


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
        await give_way()
        candidates = await find_candidates(query, looks, stages)
        hits, certainty = await fuse_by_score(looks.engine, query, candidates, stages)
    return hits, certainty, looks.missing


async def first_looks(searcher: Searcher, query: SearchQuery, stages: Stages) -> Looks:
    """Ask for the vector, meanwhile for all that needs none, then for what is near to it."""
    direct, agents = max(_CANDIDATES, query.limit), query.filters.agents
    engine = await searcher.engine.numbered(agents)
    async with _asked_to_embed(searcher, query, stages) as embedded:
        moments = await moments_named(searcher.engine, query.text, query.filters)
        dates = moments.dates if moments else None
        text = query.text if dates is None else dates
        by_words = await _by_text(engine, query, text, direct, stages)
        question = await read_texts(len(text), Question.read, text, None)
        caps, named = await caps_of(searcher, agents), list[str]()
        if query.weights.get("text", 0) > 0:
            named = await by_names(searcher.engine, question, agents, _CANDIDATES, caps)
        if moments and dates is not None:
            spans = moments.within[:_SPANS]
            named += await by_times(searcher.engine, query.weights, spans, direct)
        vector, missing = await embedded
    near = await _by_vector(engine, query, vector, direct, stages)
    question = replace(question, vector=vector)
    numbers = engine.numbers_of(named)
    return Looks(engine, by_words, near, question, missing, moments, numbers, caps)


@asynccontextmanager
async def _asked_to_embed(
    searcher: Searcher, query: SearchQuery, stages: Stages
) -> AsyncIterator[asyncio.Task[Embedded]]:
    """Begin once the question is on its way to the embedder, whose time else begins only then."""
    embedded = asyncio.create_task(_embedded(searcher, query, stages))
    try:
        for _ in range(_TURNS_TO_SEND):
            await asyncio.sleep(0)
        yield embedded
    finally:
        embedded.cancel()


async def find_candidates(query: SearchQuery, looks: Looks, stages: Stages) -> Candidates:
    """Return what the default fusion scores."""
    (text, phrases), question, moments = looks.by_words, looks.question, looks.moments
    engine, near = looks.engine, looks.near
    stages.counts |= {"vector": len(near), "text": len(text)}
    happened = await _happened(engine, query, moments, question.vector)
    found = {*text.numbers, *near.numbers}
    summaries = await _summaries_of(engine, query, found)
    others = [*happened, *looks.named]
    if summaries and len({summaries.get(one, one) for one in found}) < query.limit + SPARE:
        # A hundred sources of one summary may have left no place for what is not archived.
        living = replace(query.filters, with_sources=False)
        limit = max(_DIRECT, query.limit)
        others += await _best(engine, query, living, question.vector, limit)
    return Candidates(question, text, near, looks.caps, phrases, moments, others, summaries)


async def _summaries_of(
    engine: NumberedEngine, query: SearchQuery, found: set[int]
) -> Mapping[int, int]:
    """Return the summaries of what was found, where there is too much of it to be told as it is."""
    if not query.filters.with_sources or len(found) <= query.limit + SPARE:
        return {}
    return await engine.summaries_of(found)


async def _happened(
    engine: NumberedEngine, query: SearchQuery, moments: Moments | None, vector: Vector | None
) -> list[int]:
    """Return the best memories of the times that the question names, however low they rank."""
    spans = moments.soon_after[:_SPANS] if moments else ()
    return [one for span in spans for one in await _best(engine, query, span, vector, _DIRECT)]


async def _best(
    engine: NumberedEngine, query: SearchQuery, filters: Filters, vector: Vector | None, limit: int
) -> list[int]:
    """Return what is best by words, and what is by meaning, of all that passes these filters."""
    lists = await direct_lists(engine, query, filters, vector, limit)
    return [number for hits in lists.values() for number in hits.numbers]


async def _by_rank(searcher: Searcher, query: SearchQuery, stages: Stages) -> Answered:
    """Rank by reciprocal ranks; how sure that is, the same evidence says as by default."""
    direct = max(_DIRECT, query.limit)
    engine = await searcher.engine.numbered(query.filters.agents)
    async with _asked_to_embed(searcher, query, stages) as embedded:
        text, _ = await _by_text(engine, query, query.text, direct, stages)
        vector, missing = await embedded
    near = await _by_vector(engine, query, vector, direct, stages)
    async with searcher.turns:
        await give_way()
        stages.counts |= {"vector": len(near), "text": len(text)}
        direct_hits = {"vector": near, "text": text}
        lists = await with_living(engine, query, direct_hits, vector, direct)
        named = {name: found.named(engine.ids) for name, found in lists.items()}
        hits = await _fuse_by_rank(searcher, query, named, stages)
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
    engine: NumberedEngine, query: SearchQuery, text: str, limit: int, stages: Stages
) -> ByWords:
    if query.weights.get("text", 0) <= 0:
        return Hits(), {}
    with stages.measured("text"):
        return await by_words(engine, text, query.filters, limit)


async def _embedded(searcher: Searcher, query: SearchQuery, stages: Stages) -> Embedded:
    """Return the question's vector; with none to be had, why. Nothing else may be missing.

    A store notes the first model that it meets, for which a full disk has no room.
    """
    if query.weights.get("vector", 0) <= 0:
        return None, None
    try:
        with stages.measured("embed"):
            return await searcher.vectors.embed_query(query.text, query.meaning_seconds), None
    except (EmbedderUnavailable, EmbedderRefused, VectorsUnfit, StoreFull) as error:
        return None, error


async def _by_vector(
    engine: NumberedEngine, query: SearchQuery, vector: Vector | None, limit: int, stages: Stages
) -> Hits:
    """Rank by meaning."""
    if vector is None:
        return Hits()
    with stages.measured("vector"):
        near, filtered = await engine.by_vector(vector, query.filters, limit)
    stages.counts["filtered"] = filtered
    return near


async def _by_concepts(searcher: Searcher, query: SearchQuery, fused: list[Fused]) -> list[Scored]:
    caps = await caps_of(searcher, query.filters.agents)
    best = fused[0].score or 1.0
    seeds = [Scored(hit.id, hit.score / best) for hit in fused[:_SEEDS]]
    return await by_concepts(searcher.engine, seeds, query.filters, _BY_CONCEPTS, caps)
