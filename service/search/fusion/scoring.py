"""The default fusion: one score out of all signals, each told apart, so that it can be explained.

docs/decisions/0015 has the reasons, scripts/measure_recall.py the numbers. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Evidence, Floats
from service.search.signals.features import Features
from service.search.signals.registry import SIGNALS

# A memory without neighbours has no far context: its other signals count so much more.
_ALONE: Final = 1.8
# "Wow, great!" answers nothing, whatever stands around it: a turn without a word counts so much
# less than one that says enough.
_BREVITY: Final = 0.5
# How much each signal counts in a turn of a session, and in what has no neighbours [signal, 1].
_IN_CONTEXT: Final = np.array([[signal.in_context] for signal in SIGNALS], np.float32)
_ALONE_BY_SIGNAL: Final = np.array([[signal.alone] for signal in SIGNALS], np.float32)


@dataclass(frozen=True, slots=True)
class SignalValues:
    """What each signal makes of the candidates, unweighted: a row for each, by signal."""

    features: Features
    by_signal: Mapping[str, Floats]

    @classmethod
    def of(cls, evidence: Evidence) -> "SignalValues":
        """Work them out."""
        features = Features(evidence)
        return cls(features, {signal.name: signal.value(features) for signal in SIGNALS})

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

    def shares(self, values: SignalValues, weights: Mapping[str, float]) -> dict[str, Floats]:
        """Return what each signal adds to the score; the shares of a row sum to its score."""
        closeness = values.features.closeness
        factor = closeness + (1 - closeness) * np.float32(_ALONE)
        factor *= 1 - np.float32(_BREVITY) * values.features.brevity
        told: Floats = np.stack([self._relative(s.name, values.by_signal[s.name]) for s in SIGNALS])
        told *= factor * (closeness * _IN_CONTEXT + (1 - closeness) * _ALONE_BY_SIGNAL)
        told *= np.array([[weights[signal.name]] for signal in SIGNALS], np.float32)
        return dict(zip((signal.name for signal in SIGNALS), told, strict=True))

    def _relative(self, name: str, value: Floats) -> Floats:
        most = self.greatest.get(name, 0.0)
        if most <= 0:
            return value
        relative: Floats = np.minimum(value / most, 1)
        return relative


class Scores:
    """Scores of memories by id, the shares they are the sum of, and the signals' own values.

    `total` has every memory; `bonuses` are what was added beside the signals, by name and id;
    `moments` are when they happened, in microseconds since 1970.
    """

    def __init__(self) -> None:
        self.total: dict[str, float] = {}
        self.moments: dict[str, int] = {}
        self.bonuses: dict[str, dict[str, float]] = {}
        self._shares: list[Mapping[str, Floats]] = []
        self._values: list[Mapping[str, Floats]] = []

    def add(self, values: SignalValues, shares: Mapping[str, Floats]) -> None:
        """Add memories, new ones all, with the shares of their scores."""
        keys = values.keys
        # Added up in the order of the signals, so that equal rows give equal sums to the last bit.
        total: NDArray[np.float64] = np.zeros(len(keys))
        for share in shares.values():
            total += share
        moments = values.features.evidence.values["occurred_micros"]
        self.total |= zip(keys, total.tolist(), strict=True)
        self.moments |= zip(keys, moments.tolist(), strict=True)
        self._shares.append(shares)
        self._values.append(values.by_signal)

    def add_share(self, key: str, name: str, share: float) -> None:
        """Add a bonus to one memory's score."""
        self.total[key] += share
        of_name = self.bonuses.setdefault(name, {})
        of_name[key] = of_name.get(key, 0.0) + share

    def shares(self, name: str) -> Floats:
        """Return what a signal adds to each memory's score, in the order of `total`."""
        return np.concatenate([shares[name] for shares in self._shares])

    def values(self, name: str) -> Floats:
        """Return what a signal makes of each memory, unweighted, in the order of `total`."""
        return np.concatenate([values[name] for values in self._values])

    @property
    def signals(self) -> Sequence[str]:
        """The names of the signals."""
        return list(self._shares[0]) if self._shares else []

    def best(self, scores: Mapping[str, float], limit: int) -> list[str]:
        """Return the ids of the greatest scores, of equal ones the newest first, then by id."""
        keys: Iterable[str] = scores
        if len(scores) > limit:
            values = np.fromiter(scores.values(), np.float64, len(scores))
            least = np.partition(values, len(values) - limit)[len(values) - limit]
            keys = compress(scores, values >= least)
        return sorted(keys, key=lambda key: (-scores[key], -self.moments[key], key))[:limit]
