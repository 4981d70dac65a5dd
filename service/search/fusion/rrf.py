"""Reciprocal rank fusion of several rankings into one; pure."""

import math
from collections import defaultdict
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from service.records import Scored


class SignalHit(NamedTuple):
    """Where one signal ranked a memory (from 1) and the score it gave it.

    `share` is what it adds to the fused score, where that is a sum.
    """

    rank: int
    score: float
    path: tuple[str, ...] | None = None
    share: float | None = None


class LateSignals(Mapping[str, SignalHit]):
    """What each signal said of a memory, worked out when somebody looks: of most nobody does.

    It is what `tell` returns when it is called with `about`, and pickled as these: a reader's
    answer holds dozens that share one `tell`.
    """

    def __init__(self, tell: Callable[..., Mapping[str, SignalHit]], *about: Any) -> None:
        self._tell = tell
        self._about = about

    def __reduce__(self) -> tuple[Any, ...]:
        return LateSignals, (self._tell, *self._about)

    @cached_property
    def _told(self) -> Mapping[str, SignalHit]:
        return self._tell(*self._about)

    def __getitem__(self, name: str) -> SignalHit:
        return self._told[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._told)

    def __len__(self) -> int:
        return len(self._told)

    def items(self) -> ItemsView[str, SignalHit]:
        """Return all at once: Mapping would look each of them up."""
        return self._told.items()


class Fused(NamedTuple):
    """A memory with its fused score and what each signal said; a silent signal is absent.

    `seed` is the id of the memory that the graph's path to it begins at.
    """

    id: str
    score: float
    signals: Mapping[str, SignalHit] = MappingProxyType({})
    seed: str | None = None


def fuse(
    rankings: Mapping[str, Sequence[Scored]], weights: Mapping[str, float], k: int = 60
) -> list[Fused]:
    """Fuse by weighted reciprocal rank: Σ weight / (k + rank), best first, ties by id.

    Cormack, Clarke and Büttcher, SIGIR 2009, with ranks from 1. A signal of weight 0 is left
    out altogether: it neither scores nor brings in a memory. The order of the signals changes
    nothing, not even in the last bit of a score.
    """
    signals: dict[str, dict[str, SignalHit]] = defaultdict(dict)
    votes: dict[str, list[float]] = defaultdict(list)
    for signal, ranking in rankings.items():
        weight = weights.get(signal, 1.0)
        if weight <= 0:
            continue
        for rank, hit in enumerate(ranking, 1):
            votes[hit.id].append(weight / (k + rank))
            signals[hit.id][signal] = SignalHit(rank, hit.score, hit.path or None)
    scores = {key: math.fsum(parts) for key, parts in votes.items()}
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    return [Fused(key, scores[key], signals[key], _seed(signals[key])) for key in ordered]


def _seed(signals: Mapping[str, SignalHit]) -> str | None:
    return next((signal.path[0] for signal in signals.values() if signal.path), None)
