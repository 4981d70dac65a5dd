"""Why a memory has its score: what each signal says of it, its rank among all, and its share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.index.evidence import Floats
from service.search.fusion.graph_paths import Trail
from service.search.fusion.places import places_of
from service.search.fusion.rrf import SignalHit
from service.search.fusion.scoring import PLACES, Scores
from service.search.signals.signal import Candidates


class Explanation:
    """What each signal says of the scored memories, ranked among all of them.

    `vector` and `text` tell the rank and the score that the index gave; the others are ranked by
    their shares. `trails` are those that give a memory a better score than its own, by `gained`.
    Ranks are worked out when the first memory is asked about: what is not shown costs nothing.
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

    def signals(self, key: str) -> dict[str, SignalHit]:
        """Return what each signal says of a memory; a silent one is absent."""
        said = dict(self._hits(key))
        for name, ranks in self._bonus_ranks.items():
            if key in ranks:
                share = self._scores.bonuses[name][key]
                said[name] = SignalHit(ranks[key], share, share=share)
        if key in self._trails:
            said["graph"] = self._graph(key, self._trails[key])
        return said

    def _hits(self, key: str) -> Iterator[tuple[str, SignalHit]]:
        """Yield each signal that ranks a memory, and what it says of it.

        What an index found has its rank and score there; behind it comes what else has a share.
        """
        row, ranks = self._rows[key], self._ranks
        shares, values = ranks.shares[:, row].tolist(), ranks.values[:, row].tolist()
        places = places_of(ranks.ranked, row, ranks.keys)
        for name, share, value, place in zip(ranks.names, shares, values, places, strict=True):
            found = ranks.found.get(name, {})
            if key in found:
                rank, score = found[key]
                yield name, SignalHit(rank, score, share=share)
            elif share > 0:
                yield name, SignalHit(place + len(found) + 1, value, share=share)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self._scores.total)}

    @cached_property
    def _ranks(self) -> "_Ranks":
        names = (*self._searched, *sorted(PLACES.keys() - self._searched.keys()))
        found = {
            name: {hit.id: (rank, hit.score) for rank, hit in enumerate(hits, 1)}
            for name, hits in self._searched.items()
        }
        shares = self._scores.shares[[PLACES[name] for name in names]]
        values, is_ranked, rows = shares.copy(), shares > 0, self._rows
        values[: len(found)] = self._scores.values[[PLACES[name] for name in self._searched]]
        for number, name in enumerate(self._searched):
            is_ranked[number, [rows[key] for key in found[name] if key in rows]] = False
        ranked = np.where(is_ranked, values, np.float32(0))
        return _Ranks(names, found, shares, values, ranked, list(self._rows))

    @cached_property
    def _bonus_ranks(self) -> Mapping[str, Mapping[str, int]]:
        return {name: _ranked(of) for name, of in sorted(self._scores.bonuses.items())}

    @cached_property
    def _trail_ranks(self) -> Mapping[str, int]:
        return _ranked({key: trail.worth for key, trail in self._trails.items()})

    def _graph(self, key: str, trail: Trail) -> SignalHit:
        path = (trail.memories[0], *(concept.name for concept in trail.concepts))
        return SignalHit(self._trail_ranks[key], trail.worth, path, share=self._gained[key])


@dataclass(frozen=True, slots=True)
class _Ranks:
    """Of each signal [signal, memory]: shares, values, and those of what no index found.

    `found` has, by name and id, the rank and score that the index gave; `keys` are the ids.
    """

    names: tuple[str, ...]
    found: Mapping[str, Mapping[str, tuple[int, float]]]
    shares: Floats
    values: Floats
    ranked: Floats
    keys: Sequence[str]


def _ranked(values: Mapping[str, float]) -> dict[str, int]:
    """Return the rank of each, in order: the greatest first, ties by id."""
    ordered = sorted(values, key=lambda key: (-values[key], key))
    return {key: rank for rank, key in enumerate(ordered, 1)}
