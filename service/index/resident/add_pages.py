"""Adding pages of rows, as the store gives them, to an index that is being loaded."""

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from service.index.resident.agent_index import AgentIndex
from service.index.resident.apply_change import OTHER_MODEL, take_concept, take_edge, take_vector
from service.index.resident.facts import CorruptRow, Facts, facts_of
from service.index.resident.graph import EdgeTable, MemoryEdges
from service.store.vector_forms import FLOAT_BYTES, read_vectors

log = logging.getLogger(__name__)

# How many values of a row are facts; what follows them is told by memory_values.surql.
FACTS: Final = 11
# Key, filters, the index of a text of some sixty words and its memory packed; a vector is kept as
# int8 and as float16.
_MEMORY_BYTES: Final = 1100
_BYTES_PER_DIMENSION: Final = 3

Row = Sequence[Any]
Page = Sequence[Row]


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What the store says of its vectors, and how much of one agent there is to expect."""

    fingerprint: str | None
    dimensions: int | None
    memories: int


@dataclass(slots=True)
class Loading:
    """One agent's index on its way into RAM; `loaded` of `expected` memories are there.

    `begun_at` is in microseconds.
    """

    index: AgentIndex
    facts: StoreFacts
    budget_bytes: int
    loaded: int = 0
    begun_at: int = field(default_factory=lambda: time.time_ns() // 1000)

    @property
    def most_memories(self) -> int:
        """About as many fit."""
        dimensions = self.facts.dimensions or 0
        return self.budget_bytes // (_MEMORY_BYTES + _BYTES_PER_DIMENSION * dimensions)

    @property
    def progress(self) -> str:
        """How far it is, for people."""
        return f"{self.loaded:,} of about {self.facts.memories:,} memories"

    @property
    def is_full(self) -> bool:
        """Whether no more fits."""
        return self.index.bytes > self.budget_bytes


def add_picked(loading: Loading, page: Page) -> None:
    """Add rows of page.surql: facts, whole, place, vector and edges in one."""
    add_memories(loading, page)
    stored = [(row[0], row[FACTS + 2]) for row in page if row[FACTS + 2]]
    add_vectors(loading, [(key, e.get("vector"), e.get("fingerprint")) for key, e in stored])
    earlier = [(row[0], *(row[FACTS + 3] or ())) for row in page]
    add_memory_edges(loading.index, "follows", earlier)
    slugs = [(row[0], *(key[1] for key in row[FACTS + 4] or ())) for row in page]
    add_memory_edges(loading.index, "references", slugs)


def add_memories(loading: Loading, page: Page) -> None:
    """Add memories given as the values of their facts and their row; what follows is no matter."""
    index = loading.index
    facts: list[Facts] = []
    with index.lock:
        for row in page:
            try:
                facts.append(facts_of(row[:FACTS], row[FACTS]))
            except CorruptRow as error:
                _leave_out(index, "memory", row[0], error)
        index.put_memories(facts)
    loading.loaded += len(page)


def add_vectors(loading: Loading, page: Iterable[Row]) -> None:
    """Add vectors given as (key, stored vector, fingerprint); those of others are passed over."""
    index, facts = loading.index, loading.facts
    size = FLOAT_BYTES * (facts.dimensions or 0)
    with index.lock:
        ours = [row for row in page if row[1] is not None and index.holds(row[0])]
        alike = [
            (key, vector)
            for key, vector, fingerprint in ours
            if fingerprint == facts.fingerprint and type(vector) is bytes and len(vector) == size
        ]
        if alike:
            whole = read_vectors((vector for _, vector in alike), size)
            index.put_matrix([key for key, _ in alike], whole)
        for key, vector, fingerprint in ours:
            if fingerprint != facts.fingerprint:
                index.leave_out_vector(key, OTHER_MODEL)
            elif type(vector) is not bytes or len(vector) != size:
                take_vector(index, key, vector)


def add_memory_edges(index: AgentIndex, table: MemoryEdges, page: Iterable[Row]) -> None:
    """Add edges given as (key of a memory, *keys or slugs); those of others are passed over."""
    with index.lock:
        for key, *ends in page:
            if index.holds(key):
                index.put_ends(table, key, ends)


def add_concepts(index: AgentIndex, page: Iterable[Row]) -> None:
    """Add concepts given as (id, name, number of memories, slugs merged into it, aliases)."""
    with index.lock:
        for key, name, memories, merged, aliases in page:
            try:
                take_concept(index, key, (name, memories, merged, aliases))
            except CorruptRow as error:
                _leave_out(index, "concept", key, error)


def add_concept_edges(index: AgentIndex, table: EdgeTable, page: Iterable[Row]) -> None:
    """Add edges given as (id, weight, is_declared), the last two where there; the id has ends."""
    with index.lock:
        for key, *more in page:
            if len(key) != 3:
                continue
            weight, is_declared = more or (0, False)
            try:
                index.graph.put_edge(
                    table, (key[1], key[2]), weight or 0, is_declared=bool(is_declared)
                )
            except CorruptRow as error:
                _leave_out(index, table, key, error)


def add_edges(index: AgentIndex, page: Iterable[Row]) -> None:
    """Add edges given as (table, id, in, out)."""
    with index.lock:
        for table, key, source, target in page:
            try:
                take_edge(index, table, key, {"in": source, "out": target})
            except CorruptRow as error:
                _leave_out(index, table, key, error)


def _leave_out(index: AgentIndex, table: str, key: Any, error: CorruptRow) -> None:
    # A memory's id is the service's own; what names a concept is somebody's word.
    which = repr(key) if table == "memory" else "a row"
    log.warning("index of agent %s: left out %s of %s: it is corrupt", index.agent, which, table)
    log.debug("corrupt: %s", error)
    index.leave_out(table, key)
