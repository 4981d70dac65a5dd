"""The rankings of several agents' indexes as one; pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter

from service.records import Scored


def leading(rankings: Iterable[Sequence[Scored]], limit: int) -> list[Scored]:
    """Return the `limit` best of all by score, and those that are no worse than the last."""
    every = sorted(chain.from_iterable(rankings), key=attrgetter("score"), reverse=True)
    if len(every) <= limit:
        return every
    return [hit for hit in every if hit.score >= every[limit - 1].score]


def tied(hits: Sequence[Scored]) -> list[str]:
    """Return the ids of those that another one has the score of."""
    shares = Counter(hit.score for hit in hits)
    return [hit.id for hit in hits if shares[hit.score] > 1]


def newest_of_equals(hits: Iterable[Scored], moments: Mapping[str, int]) -> list[Scored]:
    """Return them best first, of equal ones the newest, then by id; the last has no moment."""
    return sorted(hits, key=lambda hit: (-hit.score, -moments.get(hit.id, 0), hit.id))
