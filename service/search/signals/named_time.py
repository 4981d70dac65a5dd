"""The signal `time`: a memory happened when the question says, or was told soon after."""

from collections.abc import Iterable, Sequence
from typing import Final

from service.index.engine import Engine
from service.search.signals.signal import Bonus, Candidates
from service.search.times.time_filters import visible_within


async def _times_met(
    engine: Engine, candidates: Candidates, keys: Sequence[str]
) -> Iterable[tuple[str, int]]:
    """Return what happened within a time twice: it was told within a week of it as well."""
    moments = candidates.moments
    if moments is None:
        return []
    met = [await visible_within(engine, keys, s) for s in (moments.within, moments.soon_after)]
    return [(key, 1) for each in met for key in sorted(each)]


TIME: Final = Bonus(
    "time", 0.3, "time", lambda candidates: candidates.moments is not None, _times_met
)
