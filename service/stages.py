"""The stop-watch of one request."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stages:
    """Milliseconds by stage, counts by signal, since the request began."""

    started: float = field(default_factory=time.perf_counter)
    milliseconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    counts: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def measured(self, stage: str) -> Iterator[None]:
        """Add the time spent inside to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - start) * 1000
            self.milliseconds[stage] = round(self.milliseconds[stage] + spent, 3)

    def took_ms(self) -> float:
        """Return the milliseconds since the request began."""
        return round((time.perf_counter() - self.started) * 1000, 3)
