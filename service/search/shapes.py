"""Hits and receipts as JSON, for every door that answers with them."""

from dataclasses import dataclass

from service.search.fusion.rrf import Fused
from service.search.hybrid import Hit
from service.web.fields import MemoryFields, memory_fields


@dataclass(frozen=True, slots=True)
class SignalFields:
    """What one signal said of a hit: its rank from 1, its own score, and the graph's path.

    `share` is what it adds to the hit's score where that is a sum (`fusion: "default"`).
    """

    rank: int
    score: float
    path: list[str] | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HitFields(MemoryFields):
    """A memory that answers, with its fused score and the signals that found it."""

    snippet: str
    score: float
    signals: dict[str, SignalFields]


def hit_fields(hit: Hit, *, with_content: bool) -> HitFields:
    """Return a hit as JSON fields."""
    return HitFields(
        **memory_fields(hit.memory, with_content=with_content),
        snippet=hit.snippet,
        score=hit.fused.score,
        signals=signal_fields(hit.fused),
    )


def signal_fields(fused: Fused) -> dict[str, SignalFields]:
    """Return the signals of a hit as JSON fields."""
    return {
        name: SignalFields(
            signal.rank, signal.score, list(signal.path) if signal.path else None, signal.share
        )
        for name, signal in fused.signals.items()
    }
