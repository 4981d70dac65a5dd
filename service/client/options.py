"""What can be sent beside a request's main words; what is left out is as the service has it.

A moment is a datetime, or text such as 2026-02-13 or 2026-02-13T10:00:00Z; without a zone it is
read as UTC. docs/search-and-recall.md and /openapi.json say what each option does.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Required, TypedDict

Moment = datetime | str


class Filters(TypedDict, total=False):
    """Who asks, and what an answer must satisfy; every given filter must hold."""

    agent: str
    read_from: Sequence[str]
    scope: str | None
    kinds: Sequence[str] | None
    types: Sequence[str] | None
    tags: Sequence[str] | None
    since: Moment | None
    until: Moment | None
    as_of: Moment | None
    session: str | None
    include_archived: bool
    trust: Sequence[str]
    origins: Sequence[str] | None


class Weights(TypedDict, total=False):
    """How much each signal counts, 0 to 100; 0 leaves it out."""

    vector: float
    text: float
    graph: float


class Project(TypedDict, total=False):
    """What a client knows of where it works, any of it: the git remote, the folder, a name."""

    origin: str | None
    root: str | None
    name: str | None


class AskingOptions(Filters, total=False):
    """Filters, and who asks: a project's memories and those of no scope; `session` once.

    With `new_only`, `session` is the one that asks: with True nothing is given it twice.
    `include_automatic` finds the handoffs that nobody wrote too.
    """

    project: Project | str | None
    new_only: bool | None
    include_automatic: bool


class SearchOptions(AskingOptions, total=False):
    """The choices of a search; `limit` is 1 to 100."""

    limit: int
    fusion: Literal["default", "rrf"]
    rrf_k: int
    weights: Weights
    detail: Literal["full", "index"]
    max_tokens: int | None
    min_confidence: float
    duplicates: Literal["hide", "show"]
    diversity: float
    recency: float
    rerank: bool
    skip_small_talk: bool
    explain: bool


class RecallOptions(AskingOptions, total=False):
    """The choices of a walk; `seed_ids` start it where there is no question."""

    seed_ids: Sequence[str]
    hops: int
    limit: int
    temporal: bool
    edges: Sequence[Literal["references", "related_to", "is_a", "follows"]]


class ListOptions(Filters, total=False):
    """Filters and a page of up to 1,000; `cursor` is `next_cursor` of the page before."""

    include_ended: bool
    limit: int
    cursor: str | None


class Metadata(TypedDict, total=False):
    """What is said of a memory when it is stored, and can be changed afterwards."""

    scope: str | None
    importance: float
    sensitivity: str
    pinned: bool
    valid_from: Moment | None
    valid_until: Moment | None


class MemoryOptions(Metadata, total=False):
    """What can be said of a memory beside its text; `project` in the place of a scope."""

    project: Project | str | None

    title: str | None
    kind: str
    type: str | None
    trust_tier: str | None
    agent: str
    tags: Sequence[str]
    concepts: Sequence[str]
    occurred_at: Moment | None
    session: str | None
    source_ref: str | None
    source_kind: str


class NewMemory(MemoryOptions, total=False):
    """A memory of a batch."""

    text: Required[str]


class Changes(Metadata, total=False):
    """The fields of a memory to change; None clears title, scope and validity."""

    text: str
    title: str | None
    kind: str
    type: str
    trust_tier: str
    tags: Sequence[str]
    concepts: Sequence[str]
    occurred_at: Moment
    archived: bool


class DocumentOptions(TypedDict, total=False):
    """What can be said of a document beside its text."""

    agent: str
    scope: str | None
    occurred_at: Moment | None
    kind: str | None


class StartOptions(TypedDict, total=False):
    """What to consolidate: old logs, or a `plan` that was shown."""

    agent: str
    scope: str | None
    older_than_days: float
    plan: str | None


class ConsolidateOptions(StartOptions, total=False):
    """What to show or, with `dry_run` False, to carry out."""

    dry_run: bool
    limit: int
    cursor: str | None


class UndoOptions(TypedDict, total=False):
    """What to take back: one of `run`, `summary` and `concept`."""

    agent: str
    run: str | None
    summary: str | None
    concept: str | None
    pin: bool


class AuditOptions(TypedDict, total=False):
    """Filters of the audit and a page of up to 1,000; `outcome`: done, denied, refused, failed."""

    since: Moment | None
    until: Moment | None
    key_id: str | None
    agent: str | None
    operation: str | None
    outcome: str | None
    limit: int
    cursor: str | None


class TrustOptions(TypedDict, total=False):
    """Memories by where they come from; one beside `agent` and `dry_run` must be given."""

    source: str | None
    session: str | None
    client: str | None
    key: str | None
    since: Moment | None
    agent: str | None
    dry_run: bool


class KeyOptions(TypedDict, total=False):
    """What a key is good for; `rate` and `byte_rate` are a minute's worth, None any number."""

    scopes: Sequence[str]
    agents: Sequence[str] | None
    expires_at: Moment | None
    origin: str
    memory_scopes: Sequence[str] | None
    rate: int | None
    byte_rate: int | None
    max_memories: int | None
    max_documents: int | None
    max_jobs: int | None
