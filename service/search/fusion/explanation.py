"""Why a memory has its score: what each signal says of it, its rank among all, and its share."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Floats
from service.search.fusion.graph_paths import Trail
from service.search.fusion.rrf import SignalHit
from service.search.fusion.scoring import Scores
from service.search.signals.signal import Candidates


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
        for name, hits in self._hits(rows, asked):
            for place, hit in hits:
                said[place][name] = hit
        for place, key in enumerate(keys):
            for name, ranks in self._bonus_ranks.items():
                if key in ranks:
                    share = self._scores.bonuses[name][key]
                    said[place][name] = SignalHit(ranks[key], share, share=share)
            if key in self._trails:
                said[place]["graph"] = self._graph(key, self._trails[key])
        return said

    def _hits(
        self, rows: Mapping[str, int], asked: NDArray[np.intp]
    ) -> Iterator[tuple[str, list[tuple[int, SignalHit]]]]:
        """Yield each signal and what it says of those asked about that it ranks, by their place.

        What an index found has its rank and score there; behind it comes what else has a share.
        """
        names = (*self._searched, *sorted({*self._scores.signals} - self._searched.keys()))
        shares = np.stack([self._scores.shares(name) for name in names])
        is_ranked, values = shares > 0, shares.copy()
        for row, found in enumerate(self._searched.values()):
            values[row] = self._scores.values(names[row])
            is_ranked[row, [rows[hit.id] for hit in found if hit.id in rows]] = False
        places = self._ranks(np.where(is_ranked, values, -np.inf))[:, asked]
        told, own, is_told = shares[:, asked].tolist(), values[:, asked], is_ranked[:, asked]
        for row, name in enumerate(names):
            found = self._searched.get(name, ())
            ranked = np.flatnonzero(is_told[row])
            ranks = (places[row, ranked] + len(found) + 1).tolist()
            hits = [
                (place, SignalHit(rank, score, share=told[row][place]))
                for place, rank, score in zip(
                    ranked.tolist(), ranks, own[row, ranked].tolist(), strict=True
                )
            ]
            at = {key: place for place, key in enumerate(asked.tolist())} if found else {}
            hits += [
                (at[rows[hit.id]], SignalHit(rank, hit.score, share=told[row][at[rows[hit.id]]]))
                for rank, hit in enumerate(found, 1)
                if hit.id in rows and rows[hit.id] in at
            ]
            yield name, hits

    def _ranks(self, values: Floats) -> NDArray[np.intp]:
        """Return the place of each value in its row, from 0: the greatest first, ties by id."""
        by_id = np.array(sorted(range(len(self._keys)), key=self._keys.__getitem__), np.intp)
        order = by_id[np.argsort(-values[:, by_id], axis=1, kind="stable")]
        places = np.empty_like(order)
        np.put_along_axis(places, order, np.arange(order.shape[1])[None], axis=1)
        return places

    def _graph(self, key: str, trail: Trail) -> SignalHit:
        path = (trail.memories[0], *(concept.name for concept in trail.concepts))
        return SignalHit(self._trail_ranks[key], trail.worth, path, share=self._gained[key])


def _ranked(values: Mapping[str, float]) -> dict[str, int]:
    """Return the rank of each, in order: the greatest first, ties by id."""
    ordered = sorted(values, key=lambda key: (-values[key], key))
    return {key: rank for rank, key in enumerate(ordered, 1)}
