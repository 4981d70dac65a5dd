"""Recency: of two equally good memories the younger first, within bounds; pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from service.search.fusion.ranked import Ranked

# After how many days a memory counts as neither young nor old.
HALF_LIVES: Final[Mapping[str, float]] = {
    "preference": 365,  # people change their minds rarely
    "entity": 365,  # who and what somebody or something is
    "decision": 180,  # holds until the next one on the same matter
    "fact": 120,  # a port or a version is true for some months
    "summary": 90,  # gathers older memories, so it ages between a fact and a note
    "note": 30,
    "observation": 30,  # seen once, like a note
    "daily_log": 14,  # what was done on a day matters for a sprint
    "handoff": 7,  # is for the next session
}
_OTHER_DAYS: Final = 30
# The most that age may change a score, up or down: a good old memory is never buried.
_MOST: Final = 0.2
_DAY: Final = timedelta(days=1)


def by_recency(hits: Sequence[Ranked], recency: float, now: datetime) -> list[Ranked]:
    """Return the hits in order of score x (1 + 0.2 x recency x (2 x 2^(-age/half-life) - 1)).

    `recency` is 0 to 1. So a score gains 20 % at most, keeps its value at the half-life of its
    kind, and loses 20 % at most. What lies ahead of `now` counts as new. Ties keep their order.
    """
    weighed = [
        replace(hit, fused=hit.fused._replace(score=hit.fused.score * _factor(hit, recency, now)))
        for hit in hits
    ]
    return sorted(weighed, key=lambda hit: -hit.fused.score)


def _factor(hit: Ranked, recency: float, now: datetime) -> float:
    days = max(0.0, (now - hit.memory.occurred_at) / _DAY)
    youth = math.exp2(-days / HALF_LIVES.get(hit.memory.kind, _OTHER_DAYS))
    return 1 + _MOST * recency * (2 * youth - 1)
