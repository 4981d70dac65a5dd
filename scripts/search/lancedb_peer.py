"""The peer: LanceDB's hybrid search with its own RRF reranker, on the same texts and vectors.

In-process, without HTTP, text and vector index on disk, as a user at this size would build it:
a full-text index with its defaults, a vector index with its defaults, a bitmap over the scopes.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

# Read when lancedb is loaded: it warns twice for each question, which would count as its time.
os.environ.setdefault("LANCE_LOG", "error")
os.environ.setdefault("LANCEDB_LOG", "error")
import lancedb
import numpy as np
import pyarrow as pa
from lancedb.rerankers import RRFReranker
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from scripts.generated.notes import Notes
from scripts.generated.word_vectors import WordVectors

_BATCH_NOTES: Final = 5000
# Product quantisation trains 256 centres.
LEAST_FOR_INDEX: Final = 1000

console = Console()


class LancePeer:
    """An opened table and how to ask it."""

    def __init__(self, folder: Path, index_type: str) -> None:
        self.index_type = index_type
        self.has_index = False
        self._folder = folder / f"lancedb-{index_type}"
        self._reranker = RRFReranker()
        self._table: Any = None

    def open(self, notes: Notes, vectors: WordVectors) -> None:
        """Open the table, built first unless it was built whole before."""
        self.has_index = notes.count >= LEAST_FOR_INDEX
        mark, facts = self._folder / "built.json", {"version": lancedb.__version__}
        store = lancedb.connect(self._folder)
        if mark.exists() and json.loads(mark.read_text(encoding="utf-8")) == facts:
            self._table = store.open_table("notes")
            return
        started = time.perf_counter()
        batches = _batches(notes, vectors)
        schema = _schema(vectors.dimensions)
        self._table = store.create_table("notes", batches, schema=schema, mode="overwrite")
        with console.status("LanceDB's indexes"):
            self._table.create_fts_index("text")
            self._table.create_scalar_index("scope", index_type="BITMAP")
            if self.has_index:
                self._table.create_index(metric="cosine", index_type=self.index_type)
        mark.write_text(json.dumps(facts), encoding="utf-8")
        console.print(f"LanceDB built in {time.perf_counter() - started:.0f} s")

    def open_built(self) -> None:
        """Open the table that was built before."""
        self._table = lancedb.connect(self._folder).open_table("notes")

    def ask(
        self, text: str, vector: NDArray[np.float32], *, scope: str | None, exact: bool
    ) -> list[str]:
        """Return the ids of the ten best by both signals; `exact` passes by the vector index."""
        return [row["id"] for row in self.rows(text, vector, scope=scope, exact=exact)]

    def rows(
        self, text: str, vector: NDArray[np.float32], *, scope: str | None, exact: bool
    ) -> list[dict[str, Any]]:
        """Return the ten best with their texts."""
        asked = self._table.search(query_type="hybrid").vector(vector).text(text)
        asked = asked.distance_type("cosine")
        if exact:
            asked = asked.bypass_vector_index()
        if scope is not None:
            asked = asked.where(f"scope = '{scope}'", prefilter=True)
        found: list[dict[str, Any]] = (
            asked.limit(10).select(["id", "text"]).rerank(self._reranker).to_list()
        )
        return found


def _schema(dimensions: int) -> pa.Schema:
    return pa.schema(
        [
            ("id", pa.string()), ("text", pa.string()), ("scope", pa.string()),
            ("vector", pa.list_(pa.float32(), dimensions)),
        ]
    )  # fmt: skip


def _batches(notes: Notes, vectors: WordVectors) -> Iterator[pa.RecordBatch]:
    schema = _schema(vectors.dimensions)
    for start in track(range(0, notes.count, _BATCH_NOTES), "LanceDB", transient=True):
        numbers = range(start, min(start + _BATCH_NOTES, notes.count))
        drafts = [notes.note(number).draft for number in numbers]
        matrix = np.concatenate([vectors.embed(draft.text) for draft in drafts])
        columns = [
            pa.array([draft.id for draft in drafts]),
            pa.array([draft.text for draft in drafts]),
            pa.array([draft.scope for draft in drafts]),
            pa.FixedSizeListArray.from_arrays(pa.array(matrix), vectors.dimensions),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
