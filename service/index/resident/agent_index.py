"""Everything the service holds in RAM of one agent: rows, filters, words, vectors and edges.

A memory keeps its row for as long as the index lives; a deleted one leaves it empty, so that
changes may come in any order. `lock` guards it all: methods that read take it, methods that change
something expect their caller to hold it. Any thread may call.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.index.numbered import Hits
from service.index.resident.adjacency import put_ends
from service.index.resident.columns import Columns, Mask
from service.index.resident.facts import Facts
from service.index.resident.graph import AgentGraph, MemoryEdges
from service.index.resident.packed_memories import PackedMemories
from service.index.resident.scanning import kth_greatest
from service.index.resident.text import TextIndex
from service.index.resident.vectors import (
    NO_DIRECTION,
    Floats,
    UnfitVector,
    VectorIndex,
    has_direction,
)
from service.records import Filters

# A key of 64 characters, its places in a dict and in a list.
_KEY_BYTES: Final = 230
# Measured of an index that holds nothing.
_EMPTY_BYTES: Final = 12_000
CORRUPT: Final = "a corrupt row"
BEYOND_BUDGET: Final = "does not fit in MEMORY_INDEX_MEMORY_MB"


class AgentIndex:
    """What one service knows of one agent's memories.

    `corrupt` names rows of the store that make no sense, by table and key; `beyond_budget` counts
    the memories that were too many to load: of those stored before `cut_at` (microseconds). `keys`
    are ids by row, `rows` the rows by id. `packed` is None where others write to the store, which
    then has the last word on what is shown. `loaded_bytes` is what it held when it was loaded.
    """

    def __init__(
        self, agent: str, vectors: VectorIndex | None = None, *, packs: bool = False
    ) -> None:
        self.agent = agent
        self.lock = threading.RLock()
        self.columns = Columns()
        self.text = TextIndex()
        self.vectors = vectors
        self.packed = PackedMemories() if packs else None
        self.graph = AgentGraph(agent)
        self.corrupt: set[tuple[str, str]] = set()
        self.beyond_budget = self.cut_at = self.loaded_bytes = 0
        # Edges written by hand: their ids do not tell their ends.
        self.strange_edges: dict[tuple[str, str], tuple[str, str]] = {}
        self.keys: list[str] = []
        self.rows: dict[str, int] = {}
        # What was found of the question that was asked last.
        self.told: object = None
        # What was asked last and leaves memories out, the mask of the rest of it, and its own.
        self._narrowed: tuple[Filters, Mask, Mask] | None = None
        # Memories whose vector cannot stand among the others, and why.
        self.unfit: dict[str, str] = {}

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""
        parts = (self.columns, self.text, self.graph, self.vectors, self.packed)
        names = _EMPTY_BYTES + len(self.keys) * _KEY_BYTES
        return names + sum(part.bytes for part in parts if part)

    @property
    def memories(self) -> int:
        """The number of memories."""
        return int(np.count_nonzero(self.columns.present))

    @property
    def wasted_rows(self) -> int:
        """The number of places that no memory stands in any more."""
        return len(self.keys) - self.memories

    def counts(self) -> dict[str, int]:
        """Return how much there is of everything, by the names of the store's tables."""
        with self.lock:
            vectors = self.vectors.count if self.vectors else 0
            return {"memory": self.memories, "embedding": vectors, **self.graph.counts()}

    def left_out(self) -> dict[str, int]:
        """Return how much of the store is not in here, by reason; without the lock."""
        reasons = Counter(list(self.unfit.values()))
        reasons[CORRUPT] += len(self.corrupt)
        reasons[BEYOND_BUDGET] += self.beyond_budget
        return dict(+reasons)

    def leave_out(self, table: str, key: Any) -> None:
        """Forget what stands under a key whose row makes no sense, and remember that."""
        if table == "memory" and isinstance(key, str):
            self.remove_memory(key)
        elif table == "concept" and isinstance(key, list) and isinstance(key[-1], str):
            self.graph.remove_concept(key[-1])
        self.corrupt.add((table, str(key)))

    def admit(self, table: str, key: Any) -> None:
        """Forget that a row made no sense: it does now, or is gone."""
        self.corrupt.discard((table, str(key)))

    def holds(self, key: object) -> bool:
        """Return whether a memory stands in a row; without the lock, as changes ask it."""
        row = self.rows.get(key) if isinstance(key, str) else None
        if row is None or row >= len(self.columns.present):
            return False
        return bool(self.columns.present[row])

    def held(self, keys: Iterable[str]) -> dict[str, int]:
        """Return the rows of those memories that stand here, by key, in the order of the keys."""
        present, rows = self.columns.present, self.rows
        known = ((key, rows[key]) for key in keys if key in rows)
        return {key: row for key, row in known if row < len(present) and present[row]}

    def reserve(self, memories: int) -> None:
        """Make room for so many memories at once."""
        self.columns.reserve(memories)
        if self.vectors:
            self.vectors.reserve(memories)

    def finish(self) -> None:
        """Bring what was loaded in pages into its final form."""
        with self.lock:
            for part in (self.text, self.packed, self.vectors, self.graph):
                if part:
                    part.finish()

    def knows(self, key: object) -> bool:
        """Return whether a memory stands or once stood here; without the lock too."""
        return isinstance(key, str) and key in self.rows

    # Methods that change it.

    def put_memories(self, facts: Sequence[Facts]) -> None:
        """Take in memories, or what they are now."""
        rows = [self._row_of(one.key) for one in facts]
        self.columns.put(rows, facts)
        self.text.put(rows, [one.words for one in facts])
        if self.packed:
            self.packed.put(rows, [one.packed for one in facts])

    def remove_memory(self, key: str) -> None:
        """Forget a memory and its vector; its edges are taken away by themselves."""
        if self.holds(key):
            self.columns.remove(self.rows[key])
            self.text.remove(self.rows[key])
            if self.packed:
                self.packed.remove(self.rows[key])
            self.remove_vector(key)

    def remove_edges_of_memory(self, key: str) -> None:
        """Forget the edges of a memory that is deleted: the store deletes them with it."""
        if key in self.rows:
            self.graph.remove_edges_of_memory(self.rows[key])

    def put_vectors(self, keys: Sequence[str], vectors: Sequence[Floats]) -> None:
        """Take in vectors; one that cannot stand among the others is left out and counted."""
        rows, fit = [], []
        for key, vector in zip(keys, vectors, strict=True):
            self.vectors = self.vectors or VectorIndex(len(vector))
            try:
                self.vectors.check(vector)
            except UnfitVector as error:
                self.leave_out_vector(key, str(error))
                continue
            self.unfit.pop(key, None)
            rows.append(self._row_of(key))
            fit.append(vector)
        if self.vectors and fit:
            self.vectors.put(rows, np.stack(fit))

    def put_matrix(self, keys: Sequence[str], vectors: Floats) -> None:
        """Take in many vectors of the right length, a row for each key, as `put_vectors` does."""
        if self.vectors is None or not keys:
            return
        passes = has_direction(vectors)
        for position in np.flatnonzero(~passes).tolist():
            self.leave_out_vector(keys[position], NO_DIRECTION)
        fit = np.flatnonzero(passes).tolist()
        for position in fit:
            self.unfit.pop(keys[position], None)
        self.vectors.put([self._row_of(keys[position]) for position in fit], vectors[fit])

    def leave_out_vector(self, key: str, reason: str) -> None:
        """Leave a memory without a vector, and remember why."""
        self.remove_vector(key)
        self.unfit[key] = reason

    def remove_vector(self, key: str) -> None:
        """Forget a memory's vector."""
        self.unfit.pop(key, None)
        if self.vectors and key in self.rows:
            self.vectors.remove(self.rows[key])

    def put_ends(self, table: MemoryEdges, key: str, ends: Iterable[str]) -> None:
        """Take in the keys or slugs that a table's edges lead to from a memory: no others do."""
        number_of = self._row_of if table == "follows" else self.graph.number_of
        put_ends(self.graph.edges[table], self._row_of(key), list(map(number_of, ends)))

    def _row_of(self, key: str) -> int:
        """Return a memory's row, a new empty one if need be."""
        row = self.rows.setdefault(key, len(self.keys))
        if row == len(self.keys):
            self.keys.append(key)
        return row

    # Methods that read.

    def by_text(self, words: str, filters: Filters, limit: int) -> Hits:
        """Return the rows that hold any of the words, best first (BM25); ties as in _best."""
        with self.lock:
            return self._best(*self.text.search(words, self.mask(filters)), limit)

    def by_all_words(self, words: str, filters: Filters, limit: int) -> Hits:
        """Return the rows that hold all of the words, best first (BM25); ties as in _best."""
        with self.lock:
            return self._best(*self.text.search_all(words, self.mask(filters)), limit)

    def holding(self, phrases: Iterable[str], limit: int) -> dict[str, set[str]]:
        """Return by phrase the ids of the memories that hold all its words, whatever their filters.

        The lock is let go between two phrases: a document may name thousands.
        """
        held = {}
        for words in phrases:
            with self.lock:
                found = self.text.search_all(words, self.columns.present)
                held[words] = {self.keys[row] for row in self._best(*found, limit).numbers}
        return held

    def by_vector(self, vector: Floats, filters: Filters, limit: int) -> tuple[Hits, int]:
        """Return the rows nearest by cosine, and how many were filtered out."""
        with self.lock:
            vectors = self.vectors
            if vectors is None or vectors.dimensions != len(vector):
                return Hits(), 0
            every, mask = self.mask(filters.walls()), self.mask(filters)
            filtered = int(np.count_nonzero(every)) - int(np.count_nonzero(mask))
        # The long part, without the lock: what changes meanwhile is seen after it.
        rows = vectors.candidates(vector, mask, limit)
        with self.lock:
            nearest = vectors.compare(rows, vector, self.mask(filters), limit)
            return self._best(*nearest, limit), filtered

    def seen(self, keys: Iterable[str], filters: Filters) -> dict[str, int]:
        """Return the rows of those memories that pass the filters, by key, in the keys' order."""
        with self.lock:
            held = self.held(keys)
            passing = set(self.passing(list(held.values()), filters))
        return {key: row for key, row in held.items() if row in passing}

    def passing(self, rows: Sequence[int], filters: Filters) -> list[int]:
        """Return those of the rows that pass the filters, in their order."""
        with self.lock:
            held = self.columns.standing(rows)
            passes = self.columns.passes(held, filters, time.time_ns() // 1000)
            left_out = {self.rows.get(key) for key in filters.without}
        return [row for row in held[passes].tolist() if row not in left_out]

    def mask(self, filters: Filters) -> Mask:
        """Return which rows pass the filters now; not to be changed."""
        whole = replace(filters, without=()) if filters.without else filters
        mask, known = self.columns.mask(whole, time.time_ns() // 1000), self._narrowed
        if whole is filters:
            return mask
        if known is None or known[0] is not filters or known[1] is not mask:
            known = self._narrowed = filters, mask, mask.copy()
            known[2][list(self.held(filters.without).values())] = False
        return known[2]

    def _best(self, rows: NDArray[Any], scores: NDArray[np.float32], limit: int) -> Hits:
        """Return the `limit` best rows, best first, of equal ones the newest, then by id."""
        if len(rows) > limit:
            kept = scores >= kth_greatest(scores, limit)
            rows, scores = rows[kept], scores[kept]
        moments = self.columns.occurred_at[rows]
        order = np.lexsort((-moments, -scores))
        rows, scores, moments = rows[order], scores[order], moments[order]
        if ((scores[1:] == scores[:-1]) & (moments[1:] == moments[:-1])).any():
            names = np.array([self.keys[row] for row in rows.tolist()])
            order = np.lexsort((names, -moments, -scores))
            rows, scores = rows[order], scores[order]
        return Hits(rows[:limit].tolist(), scores[:limit].tolist())
