"""Resident indexes for tests: opened without HTTP, written past the pipeline, told whole."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from service.index.resident.agent_index import AgentIndex
from service.index.resident.columns import Columns
from service.index.resident.engine import ResidentEngine
from service.index.resident.packing import unpack
from service.index.resident.residency import Residency
from service.records import Filters, Memory
from service.store.database import Database, record
from service.store.queries import Query
from tests.servers.outer_embeddings import vector_of

AT: Final = datetime(2026, 2, 13, 9, tzinfo=UTC)
PLENTY_BYTES: Final = 100_000_000
EVERYTHING: Final = Filters(
    include_archived=True, trust=("trusted", "untrusted", "quarantined"),
    as_of=None, since=None, until=None,
)  # fmt: skip
FINGERPRINT_WORDS: Final = "SELECT VALUE fingerprint FROM ONLY meta:embedding"

Row = dict[str, Any]


@asynccontextmanager
async def resident_engine(
    db: Database, budget_bytes: int = PLENTY_BYTES
) -> AsyncIterator[ResidentEngine]:
    """Open an engine over indexes of its own; nothing follows the feed but `catch_up`."""
    engine = ResidentEngine(Residency(db, budget_bytes, None), threads=2)
    try:
        yield engine
    finally:
        engine.close()


async def run(db: Database, text: str, **params: Any) -> Any:
    """Run a query of the test's own, as `surreal sql` would.

    In an embedded store nobody else can: there it counts as this process's write.
    """
    answer = await db.run(Query("by_hand", text, frozenset(params), writes=False), **params)
    db.written.add(db.written.records_in(params))
    return answer


def memory_row(key: str, words: str, **fields: Any) -> Row:
    """Return a row of table `memory` that the pipeline might have written."""
    row = {
        "id": key, "agent": "main", "kind": "note", "type": "semantic", "title": "",
        "heading_path": [], "content": words, "words": words, "tags": [], "source_kind": "push",
        "position": 0, "concepts": [], "occurred_at": AT, "created_at": AT, "updated_at": AT,
        "importance": 0.5, "origin": "agent", "trust_tier": "trusted", "sensitivity": "normal",
        "content_hash": key, "is_embedded": False,
    }  # fmt: skip
    return row | fields


async def write_memories(db: Database, rows: Sequence[Row]) -> None:
    """Write memories by hand, with the count that the pipeline keeps."""
    for start in range(0, len(rows), 500):
        page = [{**row, "id": record("memory", row["id"])} for row in rows[start : start + 500]]
        await run(db, "INSERT INTO memory $rows RETURN NONE", rows=page)
    text = (
        "FOR $agent IN array::distinct((SELECT VALUE agent FROM memory)) { "
        "UPSERT type::record('meta', ['dictionary', $agent]) SET version = version ?? 0, "
        "memories = array::len((SELECT VALUE id FROM memory WHERE agent = $agent)) }"
    )
    await run(db, text)


async def write_vector(db: Database, key: str, vector: Any, fingerprint: str | None = None) -> None:
    """Write a vector by hand, by default with the fingerprint that the store has."""
    stored = (await db.meta("embedding")).get("fingerprint")
    text = (
        "UPSERT type::record('embedding', $key) SET vector = $vector, fingerprint = $mark "
        "RETURN NONE; UPDATE type::record('memory', $key) SET is_embedded = true RETURN NONE"
    )
    await run(db, text, key=key, vector=vector, mark=fingerprint or stored)


def numbers_of(text: str, dimensions: int = 16) -> bytes:
    """Return a vector of a text, as the resident engine stores it."""
    return np.array(vector_of(text, dimensions), "<f2").tobytes()


def told(index: AgentIndex, *words: str) -> Row:
    """Return everything that an index holds, by names, so that two can be compared."""
    graph, keys = index.graph, index.keys
    slugs = [*map(graph.concepts.slug, range(len(graph.concepts._slugs)))]
    present = np.flatnonzero(index.columns.present).tolist()
    ends: dict[str, tuple[Sequence[str], Sequence[str]]] = {
        "references": (keys, slugs), "follows": (keys, keys),
        "related_to": (slugs, slugs), "is_a": (slugs, slugs),
    }  # fmt: skip
    edges = {
        table: sorted((ends[table][0][a], ends[table][1][b], edges.weight(a, b)) for a, b in edges)
        for table, edges in graph.edges.items()
    }
    return {
        "memories": {keys[row]: _columns_of(index.columns, row) for row in present},
        "vectors": _vectors_of(index),
        "edges": edges,
        "declared": sorted((slugs[a], slugs[b]) for a, b in graph._declared),
        "concepts": sorted((c.id, c.name, c.memories) for c in graph.concepts),
        "words": {
            word: [
                (hit.id, round(hit.score, 4))
                for hit in index.by_text(word, EVERYTHING, 9999).named(keys)
            ]
            for word in words
        },
        "votes": {keys[row]: votes for row, votes in index.columns.votes.items()},
        "left_out": index.left_out(),
        "whole": {keys[row]: _memory_of(index, row) for row in present},
    }


def _columns_of(columns: Columns, row: int) -> Row:
    """Return one row of the columns with its codes as values."""
    values: Row = {
        name: list(columns._labels[name].codes)[codes[row]]
        for name, codes in columns._codes.items()
    }
    values |= {name: int(times[row]) for name, times in columns._times.items()}
    values["tags"] = list(columns._tag_sets.codes)[columns._tags[row]]
    values["subject"] = int(columns.subjects[row])
    values["archived"] = bool(columns._is_archived[row])
    return values


def _memory_of(index: AgentIndex, row: int) -> Memory | None:
    packed = index.packed.get(row) if index.packed else None
    return unpack(index.keys[row], packed) if packed else None


def _vectors_of(index: AgentIndex) -> Row:
    vectors = index.vectors
    if vectors is None:
        return {}
    rows = np.flatnonzero(vectors._is_present).tolist()
    return {index.keys[row]: vectors._fine[row].tolist() for row in rows}
