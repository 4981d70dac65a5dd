"""What the door of /consolidate answers."""

from dataclasses import dataclass, field
from datetime import datetime

from service.consolidate.executing import Counts


@dataclass(frozen=True, slots=True)
class SourceOfSummary:
    """A memory that a summary is made of; `lines` of the summary's content (from 1) are its own.

    `joins` is false for those that were part of the summary before.
    """

    id: str
    title: str
    occurred_at: datetime
    lines: list[int]
    joins: bool


@dataclass(frozen=True, slots=True)
class SummaryOfGroup:
    """One summary, as it is to be or as it was written.

    `ref` says why its sources belong together: `concept:gpu`, `week:daily:memory:2026-W07`, or
    `likeness:ID` with the memory that the others are like.
    """

    id: str
    action: str
    ref: str
    title: str
    content: str
    scope: str | None
    tags: list[str]
    importance: float
    occurred_at: datetime
    sources: list[SourceOfSummary]


@dataclass(frozen=True, slots=True)
class OneConcept:
    """A concept, and the ids of those that are the same thing and become one with it."""

    id: str
    merged: list[str]


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What a consolidation does, or did."""

    plan: str | None
    run: str | None
    dry_run: bool
    agent: str
    scope: str | None
    before: datetime
    counts: Counts
    groups: list[SummaryOfGroup]
    concepts: list[OneConcept]
    next_cursor: str | None
    warnings: list[str]
    took_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationStatus:
    """How far a job has come: queued, running, done or failed, and `detail` says why.

    While it runs, `stage` is `planning`, `concepts` or `groups`: `done` of the plan's `groups`
    were gone through, and `counts.concepts` of its `concepts` are merged. `counts` are what was
    done so far, also by one that failed: `run` takes that back, once it is not null. At the end
    `next_cursor` shows its summaries.
    """

    id: str
    state: str
    detail: str | None
    agent: str
    stage: str | None
    plan: str | None = None
    run: str | None
    groups: int = 0
    done: int = 0
    concepts: int = 0
    counts: Counts
    next_cursor: str | None
    warnings: list[str] = field(default_factory=list)
    took_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What an undo did: ids of memories that came back, of summaries that went or say less.

    `parted` are the concepts that are again of their own.
    """

    restored: list[str]
    removed: list[str]
    revised: list[str]
    parted: list[str]
    took_ms: float
