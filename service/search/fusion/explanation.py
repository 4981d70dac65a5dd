"""Why a memory has its score: what each signal says of it, its rank among all, and its share."""

from collections.abc import Mapping, Sequence

from service.records import Scored
from service.search.fusion.graph_paths import Trail
from service.search.fusion.rrf import SignalHit
from service.search.fusion.scoring import Scores
from service.search.signals.signal import Candidates


class Explanation:
    """What each signal says of a memory.

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
        searched = {"vector": candidates.vector, "text": candidates.text}
        self._searched = {name: self._with_others(name, hits) for name, hits in searched.items()}
        names = {name for shares in scores.shares.values() for name in shares} - searched.keys()
        self._ranks = {name: _ranked(self._positive(name)) for name in sorted(names)}
        self._trail_ranks = _ranked({key: trail.worth for key, trail in trails.items()})

    def signals(self, key: str) -> dict[str, SignalHit]:
        """Return what each signal says of a memory; a silent one is absent."""
        shares = self._scores.shares[key]
        signals: dict[str, SignalHit] = {}
        for name, hits in self._searched.items():
            if key in hits:
                rank, score = hits[key]
                signals[name] = SignalHit(rank, score, share=shares[name])
        for name, ranks in self._ranks.items():
            if key in ranks:
                signals[name] = SignalHit(ranks[key], shares[name], share=shares[name])
        if key in self._trails:
            signals["graph"] = self._graph(key, self._trails[key])
        return signals

    def _graph(self, key: str, trail: Trail) -> SignalHit:
        path = (trail.memories[0], *(concept.name for concept in trail.concepts))
        return SignalHit(self._trail_ranks[key], trail.worth, path, share=self._gained[key])

    def _with_others(self, name: str, hits: Sequence[Scored]) -> dict[str, tuple[int, float]]:
        """Return rank and score of what an index found, and behind it of what else has a share."""
        found = {hit.id: (rank, hit.score) for rank, hit in enumerate(hits, 1)}
        others = {
            key: self._scores.values[key][name] for key in self._positive(name) if key not in found
        }
        ranks = _ranked(others, first=len(found) + 1)
        return found | {key: (rank, others[key]) for key, rank in ranks.items()}

    def _positive(self, name: str) -> dict[str, float]:
        """Return the shares above 0 that a signal has, by memory."""
        return {
            key: share
            for key, shares in self._scores.shares.items()
            if (share := shares.get(name, 0.0)) > 0
        }


def _ranked(values: Mapping[str, float], first: int = 1) -> dict[str, int]:
    """Return the rank of each, in order: the greatest first, ties by id."""
    ordered = sorted(values, key=lambda key: (-values[key], key))
    return {key: rank for rank, key in enumerate(ordered, first)}
