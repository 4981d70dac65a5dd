"""Receipts: what an answer cost and how it came about."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from service.search.fusion.confidence import Certainty


@dataclass(frozen=True, slots=True)
class Receipt:
    """How an answer came about: times, counts, choices, and what was missing.

    `skipped` is why nothing was searched at all; None when it was. `certainty` is what the
    confidence was made of; None without a question or hits.
    """

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
    skipped: str | None = None
    certainty: Certainty | None = None


def skipped(receipt: Receipt) -> Receipt:
    """Return the receipt of a search that was not made, since small talk asks for nothing."""
    return replace(receipt, skipped="The text is small talk, and `skip_small_talk` was asked for.")


def without_rerank(receipt: Receipt, reason: str | None) -> Receipt:
    """Return the receipt with the reranker missing, and why; None: as it is."""
    if reason is None:
        return receipt
    missing = [*receipt.missing_signals, "rerank"]
    return with_reason(replace(receipt, missing_signals=missing), reason)


def with_reason(receipt: Receipt, reason: str | None) -> Receipt:
    """Return the receipt with one more reason why something is missing; None: as it is."""
    reasons = [each for each in (receipt.fallback_reason, reason) if each]
    return replace(receipt, fallback_reason=" ".join(reasons) or None)
