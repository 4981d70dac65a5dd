"""Why a memory has its score: what each signal says of it, its rank among all, and its share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Final

from service.index.evidence import Floats
from service.search.fusion.graph_paths import Trail
from service.search.fusion.places import places_of
from service.search.fusion.rrf import SignalHit
from service.search.fusion.scoring import PLACES, Scores
from service.search.signals.signal import Candidates

# What an index is asked by comes first, then the others by name.
_SEARCHED: Final = ("vector", "text")
_NAMES: Final = (*_SEARCHED, *sorted(PLACES.keys() - set(_SEARCHED)))
_ORDER: Final = [PLACES[name] for name in _NAMES]


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
        hits = candidates.vector, candidates.text
        self._searched = dict(zip(_SEARCHED, hits, strict=True))

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
        for name, share, value, place in zip(_NAMES, shares, values, places, strict=True):
            found = self._found.get(name, {})
            if key in found:
                rank, score = found[key]
                yield name, SignalHit(rank, score, share=share)
            elif share > 0:
                yield name, SignalHit(place + len(found) + 1, value, share=share)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return dict(zip(self._scores.total, count(), strict=False))

    @cached_property
    def _found(self) -> dict[str, dict[str, tuple[int, float]]]:
        """The rank and score that an index gave, by signal and id."""
        return {
            name: {hit.id: (rank, hit.score) for rank, hit in enumerate(hits, 1)}
            for name, hits in self._searched.items()
        }

    @cached_property
    def _ranks(self) -> "_Ranks":
        shares, values, rows = self._scores.shares[_ORDER], self._scores.values[_ORDER], self._rows
        values[len(_SEARCHED) :] = shares[len(_SEARCHED) :]
        ranked = values * (shares > 0)
        for number, name in enumerate(_SEARCHED):
            ranked[number, [rows[key] for key in self._found[name] if key in rows]] = 0
        return _Ranks(shares, values, ranked, list(rows))

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

    `keys` are the ids; the signals are those of _NAMES.
    """

    shares: Floats
    values: Floats
    ranked: Floats
    keys: Sequence[str]


def _ranked(values: Mapping[str, float]) -> dict[str, int]:
    """Return the rank of each, in order: the greatest first, ties by id."""
    ordered = sorted(values, key=lambda key: (-values[key], key))
    return {key: rank for rank, key in enumerate(ordered, 1)}
