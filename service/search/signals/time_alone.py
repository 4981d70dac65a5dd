"""The signal `time_alone`: a memory happened when the question says, and it asks for no more."""

from collections.abc import Iterable, Sequence
from typing import Final

from service.index.numbered import NumberedEngine
from service.search.signals.signal import Bonus, Candidates
from service.search.times.time_filters import visible_within


def _asks_for_no_more(candidates: Candidates) -> bool:
    return candidates.moments is not None and candidates.moments.dates is not None


async def _happened_then(
    engine: NumberedEngine, candidates: Candidates, numbers: Sequence[int]
) -> Iterable[tuple[int, int]]:
    spans = candidates.moments.within if candidates.moments else ()
    return [(number, 1) for number in sorted(await visible_within(engine, numbers, spans))]


# Of "what happened yesterday?" no word and no meaning says as much as the day.
TIME_ALONE: Final = Bonus(
    "time_alone", 1.0, "time", _asks_for_no_more, _happened_then, comes_first=True
)
