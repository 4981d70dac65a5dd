"""The nouns of the service: what a row becomes at the border, and what a request asks for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass, replace
from datetime import datetime
from itertools import repeat
from typing import Any, Final, NamedTuple, Protocol, Self, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from service.metadata import LABEL_FILTERS, Metadata

Shape = TypeVar("Shape")
# What an embedding model makes of a text, of unit length.
Vector = NDArray[np.float32]

TYPES: Final = ("episodic", "semantic", "procedural")
# The source_kind of a summary that was made from other memories, and of a document's section.
CONSOLIDATION: Final = "consolidation"
DOCUMENT: Final = "document"
# The trust tier of what nobody gets to see who does not ask for it.
QUARANTINED: Final = "quarantined"
TRUST_TIERS: Final = ("trusted", "untrusted", QUARANTINED)
# Filters that are None where nobody asks for them.
_NARROWING: Final = (
    *(told.name for told in LABEL_FILTERS.values() if told.default is None),
    *("tags", "since", "until", "project"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory was read from: a document's lines, or a caller's own reference."""

    uri: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class Memory(Metadata):
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
    heading_path: tuple[str, ...] = ()
    search_headings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source: Source = field(default_factory=Source)
    source_kind: str = "push"
    helpful: int = 0
    unhelpful: int = 0
    archived_at: datetime | None = None
    consolidated_into: str | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Read a row of table `memory`; fields of no concern here are left out."""
        known = cls.__dataclass_fields__
        values = {name: told for name, told in row.items() if told is not None and name in known}
        for name in _LISTS:
            if name in values:
                values[name] = tuple(values[name])
        told = values.get("source", {})
        values["source"] = Source(**{name: told[name] for name in _SOURCE if name in told})
        return cls(**values)


class Voted(Protocol):
    """A memory as far as votes on it go: one that is stored, or left its place."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def content_hash(self) -> str:
        """The hash of what the votes are on."""

    @property
    def votes(self) -> Sequence[list[Any]]:
        """Who says whether it helped, each [key, whether]."""


_SOURCE: Final = tuple(Source.__dataclass_fields__)
_LISTS: Final = ("heading_path", "search_headings", "tags", "concepts", "screened", "votes")


def label_filters(filters: type[Shape]) -> type[Shape]:
    """Add the filters of the table of fields that a class does not name itself."""
    hints = get_type_hints(filters)
    added = [
        (told.name, Any, field(default=told.default))
        for told in LABEL_FILTERS.values()
        if told.name not in hints
    ]
    if not added:
        return filters
    made: type[Shape] = make_dataclass(
        filters.__name__, added, bases=(filters,), namespace={"__doc__": filters.__doc__},
        frozen=True, slots=True,
    )  # fmt: skip
    return made


@label_filters
@dataclass(frozen=True, slots=True)
class Filters:
    """What a memory must satisfy to be an answer at all; every given part must hold.

    `agents` is the wall: the asking agent and those it may read. `tags` must all be present.
    `since` and `until` bound `occurred_at`, both inclusive. Without `as_of` a memory past its
    `valid_until` is left out; with it, memories are seen as they held at that moment. `with_ended`
    leaves out none that is past its end. With `with_sources` archived memories pass that are part
    of a summary, and no others. `without` are ids that do not pass. `project` is the scope of one:
    its memories pass, and those of no scope. With `without_automatic` no handoff passes that nobody
    wrote.
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
    origins: tuple[str, ...] | None = None
    include_archived: bool = False
    with_sources: bool = False
    with_ended: bool = False
    trust: tuple[str, ...] = ("trusted", "untrusted")
    without: tuple[str, ...] = ()
    project: str | None = None
    without_automatic: bool = False

    def params(self) -> dict[str, Any]:
        """Return the bound variables of `filters.surql`."""
        values = self._values()
        return values | {told.parameter: values.pop(told.name) for told in LABEL_FILTERS.values()}

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Return by field the exact values that pass; those of no concern are left out."""
        given = {name: getattr(self, told.name) for name, told in LABEL_FILTERS.items()}
        return {
            name: value if isinstance(value, tuple) else (value,)
            for name, value in given.items()
            if value is not None
        }

    def unnarrowed(self) -> "Filters":
        """Return what bounds the caller's other questions too: without labels, tags and times."""
        nothing: dict[str, Any] = dict.fromkeys(_NARROWING)
        return replace(self, **nothing)

    def walls(self) -> "Filters":
        """Return what bounds all that the caller may know of: the agents, and the scope asked for.

        A key or a grant may be for that scope alone: of the others not even their number is told.
        """
        return Filters(
            self.agents, self.scope, trust=TRUST_TIERS, include_archived=True, with_ended=True
        )

    def given(self) -> dict[str, Any]:
        """Return the filters that were asked for, as a receipt tells them."""
        default = type(self)()
        return {
            name: value
            for name, value in self._values().items()
            if not name.startswith("without") and getattr(self, name) != getattr(default, name)
        }

    def _values(self) -> dict[str, Any]:
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in ((f.name, getattr(self, f.name)) for f in fields(self))
        }


class Place(NamedTuple):
    """Where a memory stands among others: when it happened, of equal moments by its id."""

    micros: int
    id: str


AHEAD_OF_ALL: Final = Place(2**63 - 1, "")


class Scored(NamedTuple):
    """A memory id with the score one signal gave it, and how the graph reached it."""

    id: str
    score: float
    path: tuple[str, ...] = ()

    @classmethod
    def each(cls, keys: Iterable[str], scores: Iterable[float]) -> list[Self]:
        """Return one of each, without a call for each: a search makes three hundred."""
        return list(map(tuple.__new__, repeat(cls), zip(keys, scores, repeat(()), strict=False)))


ConceptId = tuple[str, str]
# A concept in no more memories links any two of them; one in more links them to its own memory.
FEW_MEMORIES: Final = 2


class Concept(NamedTuple):
    """A concept (agent and slug) and in how many memories it stands."""

    id: ConceptId
    name: str
    memories: int


class RelatedEdge(NamedTuple):
    """An edge of `related_to`, by the slugs of the two concepts in the order of its key."""

    source: str
    target: str
    weight: int
    is_declared: bool


class Related(NamedTuple):
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
