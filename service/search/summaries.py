"""Summaries in the place of the archived memories that they were made of."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from service.index.engine import Engine
from service.index.numbered import Hits, NumberedEngine
from service.records import Vector
from service.search.candidates import direct_lists
from service.search.fusion.paths import of_summary
from service.search.fusion.rrf import Fused
from service.search.searcher import SearchQuery


async def summaries_for_sources(
    engine: Engine, agents: Sequence[str], hits: Sequence[Fused]
) -> list[Fused]:
    """Put its summary in the place of each source; of several the best ranked counts."""
    named = {key for hit in hits for key in (hit.id, hit.seed) if key is not None}
    summaries = await engine.summaries_of(agents, named)
    if not summaries:
        return list(hits)
    best: dict[str, Fused] = {}
    for hit in hits:
        best.setdefault(summaries.get(hit.id, hit.id), hit)
    return [of_summary(hit, key, summaries) for key, hit in best.items()]


async def with_living(
    engine: NumberedEngine,
    query: SearchQuery,
    lists: Mapping[str, Hits],
    vector: Vector | None,
    limit: int,
) -> Mapping[str, Hits]:
    """Add what is not archived behind lists that sources of a few summaries fill."""
    found = {number for hits in lists.values() for number in hits.numbers}
    if not query.filters.with_sources or len(found) < query.limit:
        return lists
    summaries = await engine.summaries_of(found)
    if len({summaries.get(number, number) for number in found}) >= query.limit:
        return lists
    living = replace(query.filters, with_sources=False)
    more = await direct_lists(engine, query, living, vector, limit)
    return {name: _joined(hits, more.get(name, Hits())) for name, hits in lists.items()}


def _joined(hits: Hits, more: Hits) -> Hits:
    scores = dict(zip(more.numbers, more.scores, strict=True))
    scores |= zip(hits.numbers, hits.scores, strict=True)
    numbers = list(dict.fromkeys([*hits.numbers, *more.numbers]))
    return Hits(numbers, [scores[number] for number in numbers])
