"""The signal `phrase`: what the question quotes stands in a memory word for word."""

from collections.abc import Iterable, Sequence
from typing import Final

from service.index.engine import Engine
from service.search.signals.signal import Bonus, Candidates


async def _phrases_held(
    _engine: Engine, candidates: Candidates, keys: Sequence[str]
) -> Iterable[tuple[str, int]]:
    scored = set(keys)
    return [(key, count) for key, count in candidates.phrases.items() if key in scored]


PHRASE: Final = Bonus(
    "phrase",
    1.0,
    "fuse",
    lambda candidates: bool(candidates.phrases),
    _phrases_held,
    comes_first=True,
)
