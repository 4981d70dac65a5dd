"""A change with its links and vectors: everything that one transaction writes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from service.links.change import Change, Edge
from service.links.links import Links
from service.names.names import Name
from service.records import Vector
from service.store.database import record
from service.store.queries import Fragment, Query
from service.store.vector_forms import VectorForm


@dataclass(frozen=True, slots=True)
class LinkedChange:
    """Everything that one transaction writes at `now`.

    `vectors` by memory id: those left out wait for later. `follows` are edges (later, earlier).
    `dictionary_version` is the agent's from this transaction on.
    """

    change: Change
    links: Links
    follows: frozenset[Edge]
    gone_follows: frozenset[Edge]
    vectors: Mapping[str, Vector]
    fingerprint: str
    form: VectorForm
    dictionary_version: int
    now: datetime

    @property
    def agent(self) -> str:
        """Whose memories these are."""
        return self.change.agent

    @property
    def growth(self) -> int:
        """By how many memories the agent's store grows."""
        change = self.change
        return sum(d.id not in change.replaced for d in change.drafts) - len(change.gone)

    @property
    def learned(self) -> list[Name]:
        """The concepts that it brings, but for declared ones."""
        declared = self.change.declared.flags
        return [name for name in self.links.new_concepts if name.slug not in declared]

    @property
    def cleared(self) -> list[Any]:
        """The memories whose names and abbreviations count no more: they go, or come anew."""
        change, moved = self.change, self.change.moved
        anew = (key for key in change.replaced if key not in moved)
        return [record("memory", key) for key in [*(m.id for m in change.gone), *anew]]


# What one table has of a change; None where it has nothing.
TableWriter = Callable[[LinkedChange], Fragment | None]


def fragment(query: Query, **params: Any) -> Fragment | None:
    """Return a query with its values; None where all of them are empty."""
    return Fragment(query, params) if any(params.values()) else None
