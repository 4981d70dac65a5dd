"""The signal `time`: a memory happened when the question says, or was told soon after."""

from collections.abc import Iterable, Sequence
from typing import Final

from service.index.numbered import NumberedEngine
from service.search.signals.signal import Bonus, Candidates
from service.search.times.time_filters import visible_within


async def _times_met(
    engine: NumberedEngine, candidates: Candidates, numbers: Sequence[int]
) -> Iterable[tuple[int, int]]:
    """Return what happened within a time twice: it was told within a week of it as well."""
    moments = candidates.moments
    if moments is None:
        return []
    spans = (moments.within, moments.soon_after)
    met = [await visible_within(engine, numbers, each) for each in spans]
    return [(number, 1) for each in met for number in sorted(each)]


TIME: Final = Bonus(
    "time", 0.3, "time", lambda candidates: candidates.moments is not None, _times_met
)
