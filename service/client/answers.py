"""What the service answers about memories; moments are text in ISO 8601 with a zone."""

from typing import Any, Literal, NotRequired, TypedDict

from service.client.reflections import Worth


class Source(TypedDict):
    """Where a memory was read from: a document's lines, or a caller's own reference."""

    uri: str | None
    line_start: int | None
    line_end: int | None
    ref: str | None


class Memory(TypedDict):
    """A memory; `content` is left out where only an index was asked for."""

    id: str
    title: str
    content: NotRequired[str]
    kind: str
    type: str
    agent: str
    scope: str | None
    tags: list[str]
    heading_path: list[str]
    search_headings: list[str]
    session: str | None
    source: Source
    occurred_at: str
    created_at: str
    updated_at: str
    origin: str
    client: str | None
    screened: list[str]
    importance: float
    trust_tier: str
    sensitivity: str
    pinned: bool
    archived_at: str | None
    consolidated_into: str | None
    valid_from: str | None
    valid_until: str | None


class Signal(TypedDict):
    """What one signal said of a hit: its rank from 1, its own score, the graph's path."""

    rank: int
    score: float
    path: list[str] | None
    share: float | None


class Hit(Memory):
    """A memory that answers, with its fused score and the signals that found it."""

    snippet: str
    score: float
    signals: dict[str, Signal]


class Certainty(TypedDict):
    """What the confidence was made of."""

    cosine: float | None
    coverage: float
    margin: float
    speaker: float | None


class Receipt(TypedDict):
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
    indexed_through: str
    embedding_model: str | None
    skipped: str | None
    certainty: Certainty | None


class SaidIntent(TypedDict):
    """A standing intent that came up."""

    id: str
    text: str


class SearchAnswer(TypedDict):
    """The answers, best first, how sure they are, the receipt, and what was to be said of it."""

    results: list[Hit]
    confidence: float
    abstained: bool
    receipt: Receipt
    intents: list[SaidIntent]


class MemoryStep(TypedDict):
    """A memory on the path."""

    memory: str
    title: str
    trust_tier: str


class ConceptStep(TypedDict):
    """An edge on the path and the concept it leads to."""

    edge: Literal["references", "related_to", "is_a"]
    concept: str


class TimeStep(TypedDict):
    """A step in time: to what came before or after the memory in front of it."""

    edge: Literal["follows"]
    direction: Literal["before", "after"]


class RecalledMemory(Hit):
    """A memory that was reached: how far from a seed, and by which path."""

    distance: int
    path: list[MemoryStep | ConceptStep | TimeStep]


class Neighbour(TypedDict):
    """A memory just before or just after."""

    id: str
    title: str
    trust_tier: str


class Chain(TypedDict):
    """What came just before and just after a seed, the nearest first."""

    memory: str
    before: list[Neighbour]
    after: list[Neighbour]


class WalkedConcept(TypedDict):
    """A concept the walk went through, and how strongly."""

    id: str
    name: str
    weight: float


class RecallAnswer(TypedDict):
    """A narrative thread: seeds, what is connected and how, and what came before and after."""

    seeds: list[str]
    results: list[RecalledMemory]
    chains: list[Chain]
    concepts: list[WalkedConcept]
    receipt: Receipt
    intents: list[SaidIntent]


class Stored(TypedDict):
    """What became of one memory."""

    id: str
    action: Literal["created", "duplicate", "updated"]
    concepts: list[str]
    warnings: list[str]


class BatchError(TypedDict):
    """Why one memory of a batch was not stored; `index` counts from 0."""

    index: int
    detail: str


class BatchStored(TypedDict):
    """What became of a batch; `ids` in the order sent, None where there is an error."""

    created: int
    updated: int
    duplicates: int
    ids: list[str | None]
    errors: list[BatchError]
    warnings: list[str]


class MemoryPage(TypedDict):
    """One page of memories, newest first; `next_cursor` is None on the last one."""

    memories: list[Memory]
    next_cursor: str | None


class ConceptMention(TypedDict):
    """A concept that a memory mentions, and in how many memories of its agent it stands.

    `memories` is None for another agent, and for a key of some scopes.
    """

    id: str
    name: str
    memories: int | None


class SourceMemory(TypedDict):
    """A memory that a summary is made of; `lines` of the summary (from 1) are its own."""

    id: str
    title: str
    trust_tier: str
    occurred_at: str
    lines: list[int]


class HistoryEntry(TypedDict):
    """Something that happened to a memory."""

    at: str
    action: str


class Feedback(TypedDict):
    """How many keys say that a memory helped, and how many that it did not."""

    id: str
    helpful: int
    unhelpful: int


class MemoryDetail(Memory):
    """A memory with what surrounds it."""

    source_kind: str
    given: int
    used: int
    helpful: int
    unhelpful: int
    worth: Worth
    concepts: list[ConceptMention]
    before: list[Neighbour]
    after: list[Neighbour]
    derived_from: list[SourceMemory]
    history: list[HistoryEntry]
    warnings: NotRequired[list[str]]


class WithheldLines(TypedDict):
    """Lines of a document that are shown empty: `reason` is `deleted` or `trust`."""

    from_line: int
    to_line: int
    reason: Literal["deleted", "trust"]


class DocumentLines(TypedDict):
    """Lines of a document: `from_line` to `to_line` of `total_lines`, counted from 1.

    `trust_tier` is the lowest of all that the document shows.
    """

    path: str
    text: str
    trust_tier: str
    from_line: int
    to_line: int
    total_lines: int
    updated_at: str
    withheld: list[WithheldLines]
