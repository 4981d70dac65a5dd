"""The stop-watch of one request."""

import time
from collections import defaultdict
from dataclasses import dataclass, field


@dataclass(slots=True)
class Lap:
    """A stretch of a request's time: a search has a dozen, and makes no generator for each."""

    milliseconds: dict[str, float]
    stage: str
    started: float = 0.0

    def __enter__(self) -> None:
        """Begin."""
        self.started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        """Add what it took."""
        spent = (time.perf_counter() - self.started) * 1000
        self.milliseconds[self.stage] = round(self.milliseconds[self.stage] + spent, 3)


@dataclass(slots=True)
class Stages:
    """Milliseconds by stage, counts by signal, since the request began."""

    started: float = field(default_factory=time.perf_counter)
    milliseconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    counts: dict[str, int] = field(default_factory=dict)

    def measured(self, stage: str) -> "Lap":
        """Add the time spent inside to a stage: for `with`."""
        return Lap(self.milliseconds, stage)

    def took_ms(self) -> float:
        """Return the milliseconds since the request began."""
        return round((time.perf_counter() - self.started) * 1000, 3)
