"""The report on a store that is larger than its samples."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from service.graph import edge_kinds, pair_vectors, report
from service.graph.reading import (
    BROADER_AND_NARROWER,
    NEWEST_KEYS,
    concept_neighbours,
    newest_keys,
)
from service.graph.report import GraphReport, report_on
from service.index.resident.engine import ResidentEngine
from service.index.resident.graph import AgentGraph
from service.index.resident.residency import Residency
from service.memories.storing import remove, store
from service.records import RelatedEdge
from service.settings import Settings
from service.store.database import record
from service.store.vector_forms import VectorForm
from tests.integration.test_engines_agree import Chance
from tests.stores.asked import note_asked, queries_of
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio
SETTINGS = Settings(_env_file=None)


def residency_of(store: OpenStore) -> Residency | None:
    return store.engine.residency if isinstance(store.engine, ResidentEngine) else None


async def report_of(store: OpenStore) -> GraphReport:
    return await report_on(store.db, store.engine, residency_of(store), SETTINGS, "main")


@pytest.mark.parametrize("form", ["bytes", "array"])
async def test_samples_stand_for_a_larger_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: VectorForm
) -> None:
    async with open_store(tmp_path, form) as store:
        await store.push(*(f"Otter Creek has a heron, number {n}." for n in range(15)))
        await store.push(*(f"nothing of note on day {n}" for n in range(45)), session="days")
        whole = await report_of(store)
        monkeypatch.setattr(report, "_NEWEST", 50)
        monkeypatch.setattr(report, "_MOST_MEMORIES", 20)
        monkeypatch.setattr(pair_vectors, "_MOST_VECTORS", 30)
        monkeypatch.setattr(pair_vectors, "_MOST_REACH_PAIRS", 5)
        monkeypatch.setattr(edge_kinds, "MOST_PAIRS", 40)
        part = await report_of(store)
        again = await report_of(store)
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
        await report_of(store)
    # The edges of a thousand memories' concepts: 0.8 s for 100,000.
    assert listed
    assert not any(listed)


@pytest.mark.parametrize("form", ["bytes", "array"])
async def test_concepts_along_is_a_are_asked_for_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: VectorForm
) -> None:
    async with open_store(tmp_path, form) as store:
        await store.declare(
            '[[concept]]\nname = "GPU"\nis_a = ["hardware", "part"]\n'
            '[[concept]]\nname = "RTX 5070"\nis_a = ["GPU"]\nrelated_to = ["part"]\n'
        )
        await store.push("The RTX 5070 is a GPU.", "Hardware wears out.", concepts=["kettle"])
        slugs = await store.ask("SELECT VALUE record::id(id)[1] FROM concept WHERE agent = 'main'")
        assert isinstance(slugs, list)
        asked = note_asked(monkeypatch)
        found = await concept_neighbours(store.db, store.engine, "main", [*slugs, "nothing"])
        assert queries_of(asked).count(BROADER_AND_NARROWER) == 1
        for slug in slugs:
            one_by_one = await store.ask(
                "RETURN array::concat($id->is_a->concept, $id<-is_a<-concept)"
                ".map(|$one| record::id($one)[1])",
                id=record("concept", ["main", slug]),
            )
            assert [*found[slug].is_a] == one_by_one
        assert [*found["gpu"].is_a] != []
        assert (found["nothing"].related_to, found["nothing"].is_a) == ({}, ())


async def test_the_index_knows_the_newest_memories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Chance(7)
    async with open_store(tmp_path, "bytes") as opened:
        # Of a few moments only; archived, over and quarantined ones are as new as any.
        await store(opened.pipeline, [chance.memory(("main", "bob")) for _ in range(60)])
        await remove(opened.pipeline, "main", min(await opened.ids()))
        residency = residency_of(opened)
        asked = note_asked(monkeypatch)
        for agent in ("main", "bob", "nobody"):
            for most in (1, 7, 20, 1000):
                asked.clear()
                held = await newest_keys(opened.db, residency, agent, most)
                assert NEWEST_KEYS not in queries_of(asked)
                assert held == await newest_keys(opened.db, None, agent, most)
        assert residency
        (await residency.index_of("main")).beyond_budget = 1
        asked.clear()
        await newest_keys(opened.db, residency, "main", 5)
        assert NEWEST_KEYS in queries_of(asked)
