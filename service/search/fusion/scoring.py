"""The default fusion: one score out of all signals, each told apart, so that it can be explained.

docs/decisions/0015 has the reasons, scripts/measure_recall.py the numbers. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from types import MappingProxyType
from typing import Final

import numpy as np

from service.index.evidence import Evidence, Floats
from service.search.fusion.feedback import factors_of
from service.search.fusion.weighing import sum_up, weigh
from service.search.signals.features import Features
from service.search.signals.registry import SIGNALS

# How much each signal counts in a turn of a session, and in what has no neighbours [2, signal].
_COUNTS: Final = np.array([[s.in_context for s in SIGNALS], [s.alone for s in SIGNALS]], np.float32)
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
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

    @property
    def keys(self) -> Sequence[str]:
        """The candidates' ids."""
        evidence = self.features.evidence
        return evidence.keys[: evidence.candidates]


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
    """Scores of memories by id, the shares they are the sum of, and the signals' own values.

    `total` has every memory; `bonuses` are what was added beside the signals, by name and id;
    `moments` are when they happened, in microseconds since 1970; `factors` are those of feedback.
    """

    def __init__(self) -> None:
        self.total: dict[str, float] = {}
        self.moments: dict[str, int] = {}
        self.factors: dict[str, float] = {}
        self.bonuses: dict[str, dict[str, float]] = {}
        self._shares: list[BySignal] = []
        self._values: list[BySignal] = []

    def add(self, values: SignalValues, shares: BySignal) -> None:
        """Add memories, new ones all, with the shares of their scores."""
        keys = values.keys
        told = values.features.evidence.values
        self.total |= zip(keys, sum_up(shares.rows), strict=True)
        self.moments |= zip(keys, told["occurred_micros"].tolist(), strict=True)
        self.factors |= factors_of(keys, told["votes"])
        self._shares.append(shares)
        self._values.append(values.by_signal)

    def add_share(self, key: str, name: str, share: float) -> None:
        """Add a bonus to one memory's score."""
        self.total[key] += share
        of_name = self.bonuses.setdefault(name, {})
        of_name[key] = of_name.get(key, 0.0) + share

    @property
    def shares(self) -> Floats:
        """What each signal adds to each score [signal, memory], in the order of `total`."""
        return np.concatenate([shares.rows for shares in self._shares], axis=1)

    @property
    def values(self) -> Floats:
        """What each signal makes of each memory, unweighted [signal, memory], as in `shares`."""
        return np.concatenate([values.rows for values in self._values], axis=1)

    def best(
        self, scores: Mapping[str, float], limit: int, summaries: Mapping[str, str] = _NONE
    ) -> list[str]:
        """Return the ids of the greatest scores, of equal ones the newest first, then by id.

        Of those that one of the `summaries` stands for, the best alone.
        """
        if summaries:
            best: dict[str, str] = {}
            for key in self.best(scores, len(scores)):
                best.setdefault(summaries.get(key, key), key)
            return list(best.values())[:limit]
        keys: Iterable[str] = scores
        if len(scores) > limit:
            values = np.fromiter(scores.values(), np.float64, len(scores))
            least = np.partition(values, len(values) - limit)[len(values) - limit]
            keys = compress(scores, values >= least)
        return sorted(keys, key=lambda key: (-scores[key], -self.moments[key], key))[:limit]
