"""What is nothing, and what the resident engine never asks for, takes no room in the store."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from service.commands.switch_engine import switch_store
from service.errors import StoreUnavailable
from service.memories.storing import find
from service.records import Concept
from service.store import database_indexes
from service.store.database import Database
from service.store.database_indexes import WRITE_ENDS
from service.store.queries import Query
from service.store.vector_forms import VectorForm
from tests.servers.outer_embeddings import outer_embeddings
from tests.stores.open_store import OpenStore, open_store
from tests.stores.template import SCHEMA

pytestmark = pytest.mark.anyio

BOTH = pytest.mark.parametrize("form", ["bytes", "array"])
TEXTS = ("Rush and the GPU at Blue Harbour.", "The GPU of Rush.", "Blue Harbour has a GPU.")
TAGS = ["alpha", "zebra"]
DECLARED = '[[concept]]\nname = "Hardware"\nrelated_to = ["GPU"]\n'
ROWS = "SELECT id, weight, is_declared = true AS is_declared FROM related_to"
QUIET = Console(quiet=True)


async def rows_of(opened: OpenStore, table: str) -> list[dict[str, Any]]:
    rows = await opened.ask(f"SELECT * FROM {table}")  # noqa: S608
    assert isinstance(rows, list)
    return rows


async def fill(opened: OpenStore) -> None:
    await opened.declare(DECLARED)
    await opened.push(*TEXTS, title="About GPU", tags=TAGS)


async def switch_to(form: VectorForm, folder: Path) -> None:
    with outer_embeddings() as embeddings:
        opened = OpenStore(folder, embeddings, form=form)
        try:
            await opened.db.open(SCHEMA)
            await switch_store(opened.db, opened.vectors, SCHEMA, QUIET)
        finally:
            await opened.close()


async def indexed(opened: OpenStore) -> list[Any]:
    """Return the pairs that lead to a concept, as the index over them tells."""
    found = await opened.ask(
        "SELECT VALUE record::id(id) FROM related_to WHERE agent = 'main' AND out = 'gpu'"
    )
    assert isinstance(found, list)
    return sorted(found)


@BOTH
async def test_a_memory_has_no_fields_of_nothing(tmp_path: Path, form: VectorForm) -> None:
    async with open_store(tmp_path, form) as opened:
        [key] = await opened.push("Words.")
        [row] = await rows_of(opened, "memory")
        unset = {
            "pinned", "access_count", "votes", "helpful", "unhelpful", "media", "archived_at",
        }  # fmt: skip
        assert not row.keys() & unset
        memory = await find(opened.db, ["main"], key)
        assert (memory.helpful, memory.unhelpful, memory.pinned) == (0, 0, False)
        await opened.push("Words that stay.", pinned=True)
        assert [row.get("pinned") for row in await rows_of(opened, "memory")].count(True) == 1


@BOTH
async def test_a_pair_has_ends_for_the_database_engine_alone(
    tmp_path: Path, form: VectorForm
) -> None:
    async with open_store(tmp_path, form) as opened:
        await fill(opened)
        rows = await rows_of(opened, "related_to")
        for row in rows:
            agent, _, out = row["id"]
            ends = {"agent": agent, "out": out} if form == "array" else {}
            assert {n: v for n, v in row.items() if n in {"agent", "out"}} == ends
            assert row.get("is_declared", True) is True
        assert [row["id"] for row in rows if "is_declared" in row] == [["main", "gpu", "hardware"]]
        await opened.declare("")
        assert not any("is_declared" in row for row in await rows_of(opened, "related_to"))
        assert await opened.complaints() == []


async def test_rows_of_older_versions_do_no_harm(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        await fill(opened)
        await opened.ask(
            "UPDATE related_to SET agent = 'main', out = record::id(id)[2], "
            "is_declared = is_declared ?? false"
        )
        await opened.ask(
            "UPDATE memory SET pinned = false, access_count = 0, helpful = 0, unhelpful = 0, "
            "media = []"
        )
        assert await opened.complaints() == []
        edges = await opened.engine.related_edges("main", ["gpu", "alpha"])
    async with open_store(tmp_path, "bytes") as again:
        assert set(await again.engine.related_edges("main", ["gpu", "alpha"])) == set(edges)
        await again.push("Once more: Rush and the GPU.", title="About GPU", tags=TAGS)
        assert await again.complaints() == []
        # What is written anew is written as it is now.
        [row] = [r for r in await rows_of(again, "related_to") if r["id"][1:] == TAGS]
        assert row.keys() == {"id", "weight"}


async def test_an_engine_finds_what_the_other_one_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_indexes, "_PAGE_PAIRS", 2)
    async with open_store(tmp_path, "bytes") as opened:
        await fill(opened)
        before = await opened.ask(ROWS)
        told = await rows_of(opened, "concept")
        slugs = [row["id"][1] for row in told]
        edges = set(await opened.engine.related_edges("main", slugs))
        concepts = [Concept((r["id"][0], r["id"][1]), r["name"], r["memories"]) for r in told]
        beside = await opened.engine.related_concepts(["main"], concepts, ["related_to"])
        assert await indexed(opened) == []
    for form in ("array", "bytes", "array"):
        await switch_to(form, tmp_path)
        async with open_store(tmp_path, form) as opened:
            assert set(await opened.engine.related_edges("main", slugs)) == edges
            found = await opened.engine.related_concepts(["main"], concepts, ["related_to"])
            assert found == beside
            assert await opened.ask(ROWS) == before
            assert await opened.complaints() == []
            assert len(await indexed(opened)) == sum(edge.target == "gpu" for edge in edges)


async def test_a_switch_that_is_cut_short_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_indexes, "_PAGE_PAIRS", 2)
    async with open_store(tmp_path, "bytes") as opened:
        await fill(opened)
        count = len(await rows_of(opened, "related_to"))
    run, pages = Database.run, list[int]()

    async def cut_short(self: Database, query: Query, **params: Any) -> Any:
        if query is WRITE_ENDS:
            pages.append(len(params["pairs"]))
            if len(pages) == 2:
                raise StoreUnavailable("The database gave no answer.")
        return await run(self, query, **params)

    monkeypatch.setattr(Database, "run", cut_short)
    with pytest.raises(StoreUnavailable):
        await switch_to("array", tmp_path)
    async with open_store(tmp_path, "bytes") as opened:
        assert sum("out" in row for row in await rows_of(opened, "related_to")) == 2
        assert "by_out" not in str(await opened.ask("INFO FOR TABLE related_to"))
    await switch_to("array", tmp_path)
    assert sum(pages) == count + 2
    async with open_store(tmp_path) as opened:
        assert all("out" in row for row in await rows_of(opened, "related_to"))
        assert await opened.complaints() == []


async def test_rows_by_hand_stop_no_switch(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        await fill(opened)
        await opened.ask(
            "LET $ends_exist = true; INSERT INTO related_to [{ id: 'odd', weight: 1 }, "
            "{ id: ['main'], weight: 1 }, { id: ['main', 'gpu', 7], weight: 1 }, "
            "{ id: ['main', 'gpu', 'nothing'], weight: 1 }]"
        )
        count = len(await rows_of(opened, "related_to"))
    await switch_to("array", tmp_path)
    async with open_store(tmp_path) as opened:
        assert sum("out" in row for row in await rows_of(opened, "related_to")) == count - 3
