"""Summaries in the place of the archived memories that they were made of."""

from collections.abc import Sequence

from service.index.engine import Engine
from service.search.fusion.paths import of_summary
from service.search.fusion.rrf import Fused


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
