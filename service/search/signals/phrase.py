"""The signal `phrase`: what the question quotes stands in a memory word for word."""

from collections.abc import Iterable, Sequence
from typing import Final

from service.index.numbered import NumberedEngine
from service.search.signals.signal import Bonus, Candidates


async def _phrases_held(
    _engine: NumberedEngine, candidates: Candidates, numbers: Sequence[int]
) -> Iterable[tuple[int, int]]:
    scored = set(numbers)
    return [(number, count) for number, count in candidates.phrases.items() if number in scored]


PHRASE: Final = Bonus(
    "phrase",
    1.0,
    "fuse",
    lambda candidates: bool(candidates.phrases),
    _phrases_held,
    comes_first=True,
)
