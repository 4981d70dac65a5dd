"""Why a memory has its score: what each signal says of it, its rank among all, and its share."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Floats
from service.search.fusion.graph_paths import Trail
from service.search.fusion.rrf import SignalHit
from service.search.fusion.scoring import Scores
from service.search.signals.signal import Candidates

# By place among the explained ones: the rank, the score and the share.
Said = dict[int, SignalHit]


class Explanation:
    """What each signal says of some of the scored memories, ranked among all of them.

    `vector` and `text` tell the rank and the score that the index gave; the others are ranked by
    their shares. `trails` are those that give a memory a better score than its own, by `gained`.
    """

    def __init__(
        self,
        scores: Scores,
        trails: Mapping[str, Trail],
        gained: Mapping[str, float],
        candidates: Candidates,
    ) -> None:
        self._scores, self._trails, self._gained = scores, trails, gained
        self._searched = {"vector": candidates.vector, "text": candidates.text}
        self._keys = list(scores.total)
        self._trail_ranks = _ranked({key: trail.worth for key, trail in trails.items()})
        self._bonus_ranks = {name: _ranked(of) for name, of in sorted(scores.bonuses.items())}

    def signals(self, keys: Sequence[str]) -> list[dict[str, SignalHit]]:
        """Return what each signal says of each memory; a silent one is absent."""
        rows = {key: row for row, key in enumerate(self._keys)}
        asked = np.array([rows[key] for key in keys], np.intp)
        said: list[dict[str, SignalHit]] = [{} for _ in keys]
        for name in (*self._searched, *sorted({*self._scores.signals} - self._searched.keys())):
            shares = self._scores.shares(name)
            told = shares[asked].tolist()
            for place, (rank, score) in self._ranks(name, shares, asked).items():
                said[place][name] = SignalHit(rank, score, share=told[place])
        for place, key in enumerate(keys):
            for name, ranks in self._bonus_ranks.items():
                if key in ranks:
                    share = self._scores.bonuses[name][key]
                    said[place][name] = SignalHit(ranks[key], share, share=share)
            if key in self._trails:
                said[place]["graph"] = self._graph(key, self._trails[key])
        return said

    def _ranks(
        self, name: str, shares: Floats, asked: NDArray[np.intp]
    ) -> dict[int, tuple[int, float]]:
        """Return rank and score of those asked about that a signal speaks of, by their place.

        What an index found has its rank and score there; behind it comes what else has a share.
        """
        is_ranked = shares > 0
        if name not in self._searched:
            return self._by_value(shares, is_ranked, asked, 1)
        found = {hit.id: (rank, hit.score) for rank, hit in enumerate(self._searched[name], 1)}
        is_ranked &= np.fromiter((key not in found for key in self._keys), np.bool_, len(shares))
        behind = self._by_value(self._scores.values(name), is_ranked, asked, len(found) + 1)
        asked_keys = enumerate(self._keys[row] for row in asked.tolist())
        return behind | {place: found[key] for place, key in asked_keys if key in found}

    def _by_value(
        self, values: Floats, is_ranked: NDArray[np.bool_], asked: NDArray[np.intp], first: int
    ) -> dict[int, tuple[int, float]]:
        """Return rank and value of those asked about that are ranked: the greatest is `first`."""
        rows = np.flatnonzero(is_ranked)
        ordered = np.sort(values[rows])
        own = values[asked]
        above = len(ordered) - ordered.searchsorted(own, "right")
        equal = len(ordered) - ordered.searchsorted(own, "left") - above
        places = np.flatnonzero(is_ranked[asked])
        ties: dict[float, list[str]] = {}
        ranks: dict[int, tuple[int, float]] = {}
        for place, value in zip(places.tolist(), own[places].tolist(), strict=True):
            rank = first + int(above[place])
            if equal[place] > 1:
                if value not in ties:
                    tied = rows[values[rows] == own[place]].tolist()
                    ties[value] = sorted(self._keys[row] for row in tied)
                rank += ties[value].index(self._keys[asked[place]])
            ranks[place] = rank, value
        return ranks

    def _graph(self, key: str, trail: Trail) -> SignalHit:
        path = (trail.memories[0], *(concept.name for concept in trail.concepts))
        return SignalHit(self._trail_ranks[key], trail.worth, path, share=self._gained[key])


def _ranked(values: Mapping[str, float]) -> dict[str, int]:
    """Return the rank of each, in order: the greatest first, ties by id."""
    ordered = sorted(values, key=lambda key: (-values[key], key))
    return {key: rank for rank, key in enumerate(ordered, 1)}
