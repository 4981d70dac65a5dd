"""The default fusion: one score out of all signals, each told apart, so that it can be explained.

docs/decisions/0015 has the reasons, scripts/measure_recall.py the numbers. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Final

import numpy as np

from service.index.evidence import Evidence, Floats, KeysOfRows
from service.search.fusion import feedback, outdated
from service.search.fusion.weighing import sum_up, weigh
from service.search.signals.features import Features
from service.search.signals.registry import SIGNALS

# How much each signal counts in a turn of a session, and in what has no neighbours [2, signal].
_COUNTS: Final = np.array([[s.in_context for s in SIGNALS], [s.alone for s in SIGNALS]], np.float32)
_NONE: Final[Mapping[int, int]] = MappingProxyType({})
# What a score counts times of it, by the name under which an answer tells that, and by which value
# of the evidence.
_FACTORS: Final = {
    "feedback": ("votes", feedback.factors_of),
    "outdated": ("is_outdated", outdated.factors_of),
}
PLACES: Final = {signal.name: place for place, signal in enumerate(SIGNALS)}


@dataclass(frozen=True, slots=True)
class BySignal(Mapping[str, Floats]):
    """A number of each candidate for each signal, by name; `rows` are in the order of SIGNALS."""

    rows: Floats

    def __getitem__(self, name: str) -> Floats:
        row: Floats = self.rows[PLACES[name]]
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


@dataclass(frozen=True, slots=True)
class SignalValues:
    """What each signal makes of the candidates, unweighted: a row for each, by signal."""

    features: Features
    by_signal: BySignal

    @classmethod
    def of(cls, evidence: Evidence) -> "SignalValues":
        """Work them out."""
        features = Features(evidence)
        rows = np.empty((len(SIGNALS), evidence.candidates), np.float32)
        for place, signal in enumerate(SIGNALS):
            rows[place] = signal.value(features)
        return cls(features, BySignal(rows))


@dataclass(frozen=True, slots=True)
class Scale:
    """What the signals that count in shares are shares of, by signal."""

    greatest: Mapping[str, float]

    @classmethod
    def of(cls, values: SignalValues) -> "Scale":
        """Return the scale of these candidates."""
        return cls(
            {
                signal.name: float(
                    values.by_signal[signal.name].max(initial=signal.floor(values.features))
                )
                for signal in SIGNALS
                if signal.floor
            }
        )

    def shares(self, values: SignalValues, weights: Mapping[str, float]) -> BySignal:
        """Return what each signal adds to the score; the shares of a row sum to its score."""
        greatest = np.array([self.greatest.get(name, 0.0) for name in PLACES], np.float32)
        counts = _COUNTS * np.array([weights[name] for name in PLACES], np.float32)
        features = values.features
        return BySignal(
            weigh(values.by_signal.rows, greatest, counts, features.closeness, features.brevity)
        )


class Scores:
    """Scores of memories, the shares they are the sum of, and the signals' own values.

    Everything is by place: the first that is added has 0. `ids` are those of the memories' numbers,
    `numbers` are those of the places and `places` those of the numbers; `bonuses` are what was
    added beside the signals, by name and place; `moments` are when they happened, in microseconds
    since 1970; `factors` are what a score counts times, by name and place.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = ids
        self.numbers: list[int] = []
        self.places: dict[int, int] = {}
        self.total: list[float] = []
        self.moments: list[int] = []
        self.factors: dict[str, dict[int, float]] = {name: {} for name in _FACTORS}
        self.bonuses: dict[str, dict[int, float]] = {}
        self._shares: list[BySignal] = []
        self._values: list[BySignal] = []

    def add(self, numbers: Sequence[int], values: SignalValues, shares: BySignal) -> None:
        """Add memories, new ones all, with the shares of their scores."""
        told, first = values.features.evidence.values, len(self.numbers)
        self.places |= zip(numbers, count(first), strict=False)
        self.numbers += numbers
        self.total += sum_up(shares.rows)
        self.moments += told["occurred_micros"].tolist()
        for name, (value, factors_of) in _FACTORS.items():
            self.factors[name] |= {
                first + row: factor for row, factor in factors_of(told[value]).items()
            }
        self._shares.append(shares)
        self._values.append(values.by_signal)

    def add_share(self, place: int, name: str, share: float) -> None:
        """Add a bonus to one memory's score."""
        self.total[place] += share
        of_name = self.bonuses.setdefault(name, {})
        of_name[place] = of_name.get(place, 0.0) + share

    @property
    def shares(self) -> Floats:
        """What each signal adds to each score [signal, place]."""
        return np.concatenate([shares.rows for shares in self._shares], axis=1)

    @property
    def values(self) -> Floats:
        """What each signal makes of each memory, unweighted [signal, place]."""
        return np.concatenate([values.rows for values in self._values], axis=1)

    @property
    def names(self) -> Sequence[str]:
        """The ids by place, looked up when they are asked for."""
        return KeysOfRows(self.ids, np.array(self.numbers, np.intp))

    def best(
        self, scores: Sequence[float], limit: int, summaries: Mapping[int, int] = _NONE
    ) -> list[int]:
        """Return the places of the greatest scores, of equal ones the newest first, then by id.

        Of those that one of the `summaries` stands for, by number, the best alone.
        """
        if summaries:
            best: dict[int, int] = {}
            for place in self.best(scores, len(scores)):
                number = self.numbers[place]
                best.setdefault(summaries.get(number, number), place)
            return list(best.values())[:limit]
        if len(scores) <= limit:
            return self.ordered(range(len(scores)), scores)
        values = np.array(scores)
        least = np.partition(values, len(values) - limit)[len(values) - limit]
        return self.ordered(np.flatnonzero(values >= least).tolist(), scores)[:limit]

    def ordered(self, places: Iterable[int], scores: Sequence[float]) -> list[int]:
        """Return the places by their scores, the greatest first; ties as in `best`."""
        ids, numbers, moments = self.ids, self.numbers, self.moments
        return sorted(places, key=lambda at: (-scores[at], -moments[at], ids[numbers[at]]))
