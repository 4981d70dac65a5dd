"""Receipts: what an answer cost and how it came about."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(slots=True)
class Stages:
    """The stop-watch of one request: milliseconds by stage, counts by signal."""

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


@dataclass(frozen=True, slots=True)
class Receipt:
    """How an answer came about: times, counts, choices, and what was missing."""

    took_ms: float
    stages_ms: dict[str, float]
    counts: dict[str, int]
    filters: dict[str, Any]
    fusion: str
    weights: dict[str, float]
    rrf_k: int
    engine: str
    missing_signals: list[str]
    fallback_reason: str | None
    indexed_through: datetime
    embedding_model: str | None
