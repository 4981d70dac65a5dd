"""The nouns of the service: what a row becomes at the border, and what a request asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

KINDS: Final = (
    "daily_log", "note", "decision", "preference", "fact", "entity", "handoff", "observation",
    "summary",
)  # fmt: skip
TYPES: Final = ("episodic", "semantic", "procedural")
# The source_kind of a summary that was made from other memories.
CONSOLIDATION: Final = "consolidation"
TRUST_TIERS: Final = ("trusted", "untrusted", "quarantined")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory was read from: a document's lines, or a caller's own reference."""

    uri: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory as it is stored, without its vector."""

    id: str
    agent: str
    kind: str
    type: str
    title: str
    content: str
    occurred_at: datetime
    created_at: datetime
    updated_at: datetime
    scope: str | None = None
    heading_path: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    session: str | None = None
    source: Source = field(default_factory=Source)
    source_kind: str = "push"
    importance: float = 0.5
    trust_tier: str = "trusted"
    sensitivity: str = "normal"
    pinned: bool = False
    access_count: int = 0
    archived_at: datetime | None = None
    consolidated_into: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Memory":
        """Read a row of table `memory`; fields of no concern here are left out."""
        values = {name: row[name] for name in _PLAIN if row.get(name) is not None}
        return cls(
            **values,
            heading_path=tuple(row.get("heading_path") or ()),
            tags=tuple(row.get("tags") or ()),
            source=Source(**{k: v for k, v in (row.get("source") or {}).items() if k in _SOURCE}),
        )


_SOURCE: Final = frozenset(Source.__dataclass_fields__)
_PLAIN: Final = tuple(set(Memory.__dataclass_fields__) - {"heading_path", "tags", "source"})


@dataclass(frozen=True, slots=True)
class Filters:
    """What a memory must satisfy to be an answer at all; every given part must hold.

    `agents` is the wall: the asking agent and those it may read. `tags` must all be present.
    `since` and `until` bound `occurred_at`, both inclusive. Without `as_of` a memory past its
    `valid_until` is left out; with it, memories are seen as they held at that moment. With
    `with_sources` archived memories pass that are part of a summary, and no others.
    """

    agents: tuple[str, ...] = ("main",)
    scope: str | None = None
    kinds: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    session: str | None = None
    include_archived: bool = False
    with_sources: bool = False
    trust: tuple[str, ...] = ("trusted", "untrusted")

    def params(self) -> dict[str, Any]:
        """Return the bound variables of `filters.surql`; $session is the database's own name."""
        values = self._values()
        values["in_session"] = values.pop("session")
        return values

    def given(self) -> dict[str, Any]:
        """Return the filters that were set, for the receipt."""
        default = Filters()
        return {
            name: value
            for name, value in self._values().items()
            if getattr(self, name) != getattr(default, name)
        }

    def _values(self) -> dict[str, Any]:
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in ((n, getattr(self, n)) for n in self.__dataclass_fields__)
        }


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory id with the score one signal gave it, and how the graph reached it."""

    id: str
    score: float
    path: tuple[str, ...] = ()


ConceptId = tuple[str, str]
# A concept in no more memories links any two of them; one in more links them to its own memory.
FEW_MEMORIES: Final = 2


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept (agent and slug) and in how many memories it stands."""

    id: ConceptId
    name: str
    memories: int


@dataclass(frozen=True, slots=True)
class Related:
    """A neighbouring concept; `share` is how tightly it is tied, 0..1."""

    concept: Concept
    edge: str
    share: float


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row as a transaction left it: table, key, and the row's values; None if deleted."""

    table: str
    key: Any
    row: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Commit:
    """One transaction as the change feed tells it; stamps grow from commit to commit."""

    stamp: int
    changes: tuple[RowChange, ...]
