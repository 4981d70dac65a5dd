"""What a look back answers, and what is kept near at hand."""

from typing import TypedDict

from service.client.options import Project


class Worth(TypedDict):
    """What a memory is worth keeping near at hand: the parts, 0 to 1, and their sum by weight."""

    score: float
    explicit: float
    references: float
    information: float
    recency: float
    emphasis: float


class RecurringError(TypedDict):
    """An error that came up in several sessions; `fix` is the memory that tells what mended it."""

    text: str
    command: str | None
    sessions: int
    first_at: str
    last_at: str
    fix: str | None


class Repeated(TypedDict):
    """What a person said in several sessions."""

    id: str
    text: str
    sessions: int


class Rising(TypedDict):
    """A concept that more memories mention than in a period before, on average of four."""

    id: str
    name: str
    memories: int
    before: float


class Contradiction(TypedDict):
    """Two decisions that both hold, of which one turns against what the other one says."""

    newer: str
    newer_text: str
    older: str
    older_text: str


class Promotion(TypedDict):
    """A memory that belongs into the hot memory and is not in it, with the evidence."""

    id: str
    text: str
    why: str
    worth: Worth


class Demotion(TypedDict):
    """A memory that leaves the hot memory; `text` is None of what is archived, gone, untrusted."""

    id: str
    text: str | None
    score: float


class Reflection(TypedDict):
    """What the look back found; with `dry_run` nothing was changed."""

    since: str
    until: str
    scope: str | None
    errors: list[RecurringError]
    repeated: list[Repeated]
    concepts: list[Rising]
    contradictions: list[Contradiction]
    promotions: list[Promotion]
    demotions: list[Demotion]
    dry_run: bool
    report: str
    took_ms: float


class HotEntry(TypedDict):
    """A memory that is near at hand, and why."""

    id: str
    text: str
    why: str
    score: float
    promoted_at: str


class HotMemory(TypedDict):
    """What is near at hand, the worthiest first; `text` is markdown."""

    scope: str | None
    text: str
    memories: list[HotEntry]
    tokens: int


class ReflectOptions(TypedDict, total=False):
    """Whose time, how far back, and how much room the hot memory has."""

    agent: str
    project: Project | str | None
    days: int
    max_tokens: int
    dry_run: bool
