"""Summaries in the place of the archived memories that they were made of."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from service.index.engine import Engine
from service.records import Scored, Vector
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
    engine: Engine,
    query: SearchQuery,
    lists: Mapping[str, Sequence[Scored]],
    vector: Vector | None,
    limit: int,
) -> Mapping[str, Sequence[Scored]]:
    """Add what is not archived behind lists that sources of a few summaries fill."""
    found = {hit.id for hits in lists.values() for hit in hits}
    if not query.filters.with_sources or len(found) < query.limit:
        return lists
    summaries = await engine.summaries_of(query.filters.agents, found)
    if len({summaries.get(key, key) for key in found}) >= query.limit:
        return lists
    living = replace(query.filters, with_sources=False)
    more = await direct_lists(engine, query, living, vector, limit)
    return {name: _joined(hits, more.get(name, ())) for name, hits in lists.items()}


def _joined(hits: Sequence[Scored], more: Sequence[Scored]) -> list[Scored]:
    known = {hit.id for hit in hits}
    return [*hits, *(hit for hit in more if hit.id not in known)]
