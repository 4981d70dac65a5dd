"""What the door of /memories answers."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from service.web.fields import MemoryFields
from service.worth import Worth


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of one memory."""

    id: str
    action: Literal["created", "duplicate", "updated"]
    concepts: list[str]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class BatchError:
    """Why one memory of a batch was not stored; `index` counts from 0."""

    index: int
    detail: str


@dataclass(frozen=True, slots=True)
class BatchStored:
    """What became of a batch; `ids` in the order sent, null where there is an error."""

    created: int
    updated: int
    duplicates: int
    ids: list[str | None]
    errors: list[BatchError]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Feedback:
    """How many keys say that a memory helped, and how many that it did not."""

    id: str
    helpful: int
    unhelpful: int


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """One page of memories, newest first; `next_cursor` is null on the last one."""

    memories: list[MemoryFields]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class ConceptMention:
    """A concept that a memory mentions, and in how many memories of its agent it stands.

    `memories` is null for another agent, and for a key of some scopes: a concept knows no scope.
    """

    id: str
    name: str
    memories: int | None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory just before or just after."""

    id: str
    title: str
    trust_tier: str


@dataclass(frozen=True, slots=True)
class SourceMemory:
    """A memory that a summary is made of; `lines` of the summary (from 1) are its own."""

    id: str
    title: str
    trust_tier: str
    occurred_at: datetime
    lines: list[int]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Something that happened to a memory."""

    at: datetime
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDetail(MemoryFields):
    """A memory with what surrounds it; `warnings` only after a change that was cut.

    `given` and `used` count the sessions that were given it, and those that were seen to use it;
    `helpful` and `unhelpful` the keys that say whether it helped.
    """

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
    warnings: Annotated[list[str], Field(exclude_if=lambda warnings: not warnings)] = field(
        default_factory=list
    )
