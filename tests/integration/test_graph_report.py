"""The report on a store that is larger than its samples."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from service.graph import edge_kinds, pair_vectors, report
from service.graph.report import report_on
from service.index.resident.graph import AgentGraph
from service.records import RelatedEdge
from service.settings import Settings
from service.store.vector_forms import VectorForm
from tests.stores.open_store import open_store

pytestmark = pytest.mark.anyio
SETTINGS = Settings(_env_file=None)


@pytest.mark.parametrize("form", ["bytes", "array"])
async def test_samples_stand_for_a_larger_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: VectorForm
) -> None:
    async with open_store(tmp_path, form) as store:
        await store.push(*(f"Otter Creek has a heron, number {n}." for n in range(15)))
        await store.push(*(f"nothing of note on day {n}" for n in range(45)), session="days")
        whole = await report_on(store.db, store.engine, SETTINGS, "main")
        monkeypatch.setattr(report, "_NEWEST", 50)
        monkeypatch.setattr(report, "_MOST_MEMORIES", 20)
        monkeypatch.setattr(pair_vectors, "_MOST_VECTORS", 30)
        monkeypatch.setattr(pair_vectors, "_MOST_REACH_PAIRS", 5)
        monkeypatch.setattr(edge_kinds, "MOST_PAIRS", 40)
        part = await report_on(store.db, store.engine, SETTINGS, "main")
        again = await report_on(store.db, store.engine, SETTINGS, "main")
    assert (whole.memories, whole.sampled_memories, whole.sampled_vectors) == (60, 60, 60)
    assert (part.memories, part.sampled_memories, part.sampled_vectors) == (60, 20, 30)
    assert part.bands == whole.bands
    named = {(edge.edge, edge.kind): edge for edge in whole.edges}
    for edge in part.edges:
        of_all = named[edge.edge, edge.kind]
        assert abs(edge.share - of_all.share) < 0.4
        assert edge.pairs == min(40, of_all.pairs) or edge.edge == "follows"
        assert edge.edges == of_all.edges or edge.edge == "follows"
    creek, follows = named["references", "proper"], named["follows", None]
    assert (creek.memories, creek.pairs) == (15, 105)
    assert (follows.edges, follows.memories, follows.pairs) == (44, 45, 44)
    assert replace(part, took_ms=0, stages_ms={}) == replace(again, took_ms=0, stages_ms={})


async def test_nobody_waits_while_edges_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, edges_of = list[bool](), AgentGraph.related_edges

    def watched(graph: AgentGraph, slug: str) -> list[RelatedEdge]:
        listed.append(threading.current_thread() is threading.main_thread())
        return edges_of(graph, slug)

    monkeypatch.setattr(AgentGraph, "related_edges", watched)
    async with open_store(tmp_path, "bytes") as store:
        await store.push(*(f"Otter Creek has a Grey Heron, number {n}." for n in range(3)))
        await report_on(store.db, store.engine, SETTINGS, "main")
    # The edges of a thousand memories' concepts: 0.8 s for 100,000.
    assert listed
    assert not any(listed)
