"""What the service answers to those who run it: scans, consolidation, the graph, index, health."""

from typing import Literal, TypedDict


class Ingested(TypedDict):
    """What became of a document's sections."""

    source: str
    created: int
    updated: int
    unchanged: int
    removed: int
    concepts_linked: int
    embedded: int
    warnings: list[str]
    took_ms: float


class Failure(TypedDict):
    """A file that could not be taken in, and why."""

    source: str
    detail: str


class Scanned(TypedDict):
    """What a scan did; sections are counted, but for `files`; told are the first 1,000 failures."""

    files: int
    created: int
    updated: int
    unchanged: int
    removed: int
    concepts_linked: int
    embedded: int
    failed: list[Failure]
    warnings: list[str]
    left_out: int
    took_ms: float


class JobAccepted(TypedDict):
    """The job that will do it."""

    job: str


class JobStatus(Scanned):
    """How far a job has come: `done` of `files` files so far; queued, running, done or failed."""

    id: str
    state: str
    detail: str | None
    done: int


class ConsolidateCounts(TypedDict):
    """What a plan does, or did."""

    memories: int
    groups: int
    created: int
    revised: int
    waiting: int
    silent: int
    alone: int
    concepts: int
    characters_before: int
    characters_after: int


class SourceOfSummary(TypedDict):
    """A memory that a summary is made of; `joins` is False for those that were so before."""

    id: str
    title: str
    occurred_at: str
    lines: list[int]
    joins: bool


class SummaryOfGroup(TypedDict):
    """One summary, as it is to be or as it was written; `ref` says why its sources belong."""

    id: str
    action: str
    ref: str
    title: str
    content: str
    scope: str | None
    tags: list[str]
    importance: float
    occurred_at: str
    sources: list[SourceOfSummary]


class OneConcept(TypedDict):
    """A concept, and the ids of those that are the same thing and become one with it."""

    id: str
    merged: list[str]


class Consolidated(TypedDict):
    """What a consolidation does, or did."""

    plan: str | None
    run: str | None
    dry_run: bool
    agent: str
    scope: str | None
    before: str
    counts: ConsolidateCounts
    groups: list[SummaryOfGroup]
    concepts: list[OneConcept]
    next_cursor: str | None
    warnings: list[str]
    took_ms: float


class ConsolidationStatus(TypedDict):
    """How far a job has come: `done` of `groups`, `counts["concepts"]` of `concepts`."""

    id: str
    state: str
    detail: str | None
    agent: str
    stage: Literal["planning", "concepts", "groups"] | None
    plan: str | None
    run: str | None
    groups: int
    done: int
    concepts: int
    counts: ConsolidateCounts
    next_cursor: str | None
    warnings: list[str]
    took_ms: float


class TakenBack(TypedDict):
    """What an undo did: ids of memories that came back, of summaries that went or say less."""

    restored: list[str]
    removed: list[str]
    revised: list[str]
    parted: list[str]
    took_ms: float


class EdgeReport(TypedDict):
    """One kind of edge: how much of it there is, what its pairs are worth, and the verdict."""

    edge: str
    kind: str | None
    edges: int
    concepts: int
    memories: int
    share: float
    pairs: int
    precision: float | None
    lift: float | None
    reach: float | None
    verdict: str
    reason: str
    switch_off: str


class Band(TypedDict):
    """Concepts by the number of memories that mention them."""

    memories: str
    concepts: int
    references: int
    linking: int


class GraphReport(TypedDict):
    """Whether the graph is worth it for one agent."""

    agent: str
    memories: int
    with_vector: int
    concepts: int
    hub_cap: int
    sampled_memories: int
    sampled_vectors: int
    near: float | None
    edges: list[EdgeReport]
    bands: list[Band]
    note: str | None
    took_ms: float
    stages_ms: dict[str, float]


class AgentState(TypedDict):
    """One resident agent: counts by table, bytes, what is left out and why, and drift."""

    agent: str
    counts: dict[str, int]
    bytes: int
    left_out: dict[str, int]
    drift: dict[str, int] | None


class IndexState(TypedDict):
    """What is held in RAM, of how many agents, what is on its way, left out, or differs."""

    agents: int
    memories: int
    bytes: int
    budget_bytes: int
    loading: dict[str, str]
    left_out: dict[str, int]
    drift: dict[str, dict[str, int]]
    unknown_tables: dict[str, int]
    indexed_through: str


class Index(TypedDict):
    """What is held in RAM in all, and of one agent, compared with the store just now."""

    index: IndexState | None
    agent: AgentState


class Rebuilt(TypedDict):
    """Whose index was loaded anew, in how many milliseconds, and what is held now."""

    rebuilt: list[str]
    took_ms: float
    index: IndexState | None


class Stats(TypedDict):
    """How much an agent remembers; `jobs_waiting` is of the whole service."""

    agent: str
    memories: int
    kinds: dict[str, int]
    archived: int
    without_vector: int
    documents: int
    concepts: int
    references: int
    related_to: int
    is_a: int
    follows: int
    jobs_waiting: int


class Alive(TypedDict):
    """The process answers."""

    status: Literal["alive"]


class Check(TypedDict):
    """One thing the service needs; `detail` says what is there, or what to do."""

    ok: bool
    detail: str


class Readiness(TypedDict):
    """`degraded`: words and graph answer, meaning does not; `unavailable`: nothing does."""

    status: Literal["ready", "degraded", "unavailable"]
    checks: dict[str, Check]
    reasons: list[str]
    warnings: list[str]
    index: IndexState | None
