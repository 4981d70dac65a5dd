"""Why memories have their scores: what each signal says of them, its rank among all, its share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.search.fusion.graph_paths import Trail
from service.search.fusion.places import places_of
from service.search.fusion.rrf import SignalHit
from service.search.fusion.scoring import PLACES, Scores
from service.search.signals.signal import Candidates

# What an index is asked by comes first, then the others by name.
_SEARCHED: Final = ("vector", "text")
_NAMES: Final = (*_SEARCHED, *sorted(PLACES.keys() - set(_SEARCHED)))
_ORDER: Final = [PLACES[name] for name in _NAMES]
_GRAPH: Final = "graph"


@dataclass(frozen=True, slots=True)
class SignalTable:
    """What each signal says of some hits, in arrays [hit, signal]: of most nobody asks.

    `ranks` are from 1, and 0 where a signal is silent; `paths` are those of the graph, by hit.
    """

    names: tuple[str, ...]
    ranks: NDArray[np.intp]
    scores: NDArray[np.float64]
    shares: NDArray[np.float64]
    paths: Mapping[int, tuple[str, ...]]

    def signals(self, hit: int) -> dict[str, SignalHit]:
        """Return what each signal says of a hit; a silent one is absent."""
        told = zip(
            self.names, self.ranks[hit].tolist(), self.scores[hit].tolist(),
            self.shares[hit].tolist(), strict=True,
        )  # fmt: skip
        path = self.paths.get(hit)
        return {
            name: SignalHit(rank, score, path if name == _GRAPH else None, share)
            for name, rank, score, share in told
            if rank
        }


@dataclass(eq=False)
class Explanation:
    """What each signal says of `hits`, the best of the scored memories, ranked among all of these.

    They are places of the scores. `vector` and `text` tell the rank and the score that the index
    gave; the others are ranked by their shares. `trails` are those that give a memory a better
    score than its own, by `gained`. What is said of the first `shown` is worked out when one of
    them is asked about; of all, when another is, or when this is pickled: as its table.
    """

    scores: Scores
    hits: Sequence[int]
    shown: int
    trails: Mapping[int, Trail]
    gained: Mapping[int, float]
    candidates: Candidates

    def signals(self, hit: int) -> dict[str, SignalHit]:
        """Return what each signal says of the hit at a place; a silent one is absent."""
        return (self._of_shown if hit < self.shown else self)._table.signals(hit)

    def __reduce__(self) -> tuple[Any, ...]:
        table = self._table
        return SignalTable, (table.names, table.ranks, table.scores, table.shares, table.paths)

    @cached_property
    def _of_shown(self) -> "Explanation":
        return replace(self, hits=self.hits[: self.shown])

    @cached_property
    def _table(self) -> SignalTable:
        bonuses = sorted(self.scores.bonuses)
        names = (*_NAMES, *bonuses, _GRAPH)
        size = len(self.hits), len(names)
        table = SignalTable(
            names, np.zeros(size, np.intp), np.zeros(size), np.zeros(size), self._paths
        )
        self._tell_signals(table)
        for place, name in enumerate(bonuses, len(_NAMES)):
            self._tell_ranked(table, place, self.scores.bonuses[name])
        worth = {place: trail.worth for place, trail in self.trails.items()}
        self._tell_ranked(table, len(names) - 1, worth, self.gained)
        return table

    @property
    def _paths(self) -> dict[int, tuple[str, ...]]:
        return {
            hit: (trail.memories[0], *(concept.name for concept in trail.concepts))
            for hit, place in enumerate(self.hits)
            if (trail := self.trails.get(place))
        }

    def _tell_signals(self, table: SignalTable) -> None:
        """Write what the evidence gave.

        What an index found has its rank and score there; behind it comes what else has a share.
        """
        places = self.scores.places
        shares, values = self.scores.shares[_ORDER], self.scores.values[_ORDER]
        values[len(_SEARCHED) :] = shares[len(_SEARCHED) :]
        ranked = values * (shares > 0)
        lists = (self.candidates.vector, self.candidates.text)
        for signal, found in enumerate(lists):
            ranked[signal, [places[one] for one in found.numbers if one in places]] = 0
        hits = np.array(self.hits, np.intp)
        told = slice(len(_NAMES))
        table.shares[:, told], table.scores[:, told] = shares[:, hits].T, values[:, hits].T
        behind = np.array([len(lists[n]) if n < len(lists) else 0 for n in range(len(_NAMES))])
        ranks = places_of(ranked, hits, self.scores.names) + behind + 1
        table.ranks[:, told] = np.where(table.shares[:, told] > 0, ranks, 0)
        numbers = [self.scores.numbers[place] for place in self.hits]
        for signal, found in enumerate(lists):
            rank_of = {number: rank for rank, number in enumerate(found.numbers)}
            for hit, rank in enumerate(map(rank_of.get, numbers)):
                if rank is not None:
                    table.ranks[hit, signal], table.scores[hit, signal] = (
                        rank + 1,
                        found.scores[rank],
                    )

    def _tell_ranked(
        self,
        table: SignalTable,
        signal: int,
        scores: Mapping[int, float],
        shares: Mapping[int, float] | None = None,
    ) -> None:
        """Write what is scored apart from the evidence: the greatest first, ties by id."""
        if not scores:
            return
        names = self.scores.names
        ordered = sorted(scores, key=lambda place: (-scores[place], names[place]))
        ranks = {place: rank for rank, place in enumerate(ordered, 1)}
        for hit, place in enumerate(self.hits):
            if place in ranks:
                table.ranks[hit, signal], table.scores[hit, signal] = ranks[place], scores[place]
                table.shares[hit, signal] = (shares or scores)[place]
