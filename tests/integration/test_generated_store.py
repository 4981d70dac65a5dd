"""A generated store against the pipeline's own: the same rows, and a service answers on it."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripts.generated.notes import SESSION_NOTES
from scripts.generated.store import StoreOrder, build, is_built
from scripts.servers.watched_service import fake_embedding_server
from service.memories.storing import store
from service.store.address import StoreAddress
from service.store.database import Database
from service.store.queries import Query
from service.store.vector_forms import VectorForm
from tests.servers.running import running_service
from tests.stores.graph_check import violations
from tests.stores.open_store import open_store
from tests.stores.template import SCHEMA

ORDER = StoreOrder(memories=300, dimensions=32, form="array")
QUERIES = {
    "concept": "SELECT id, agent, name, aliases, memories, is_declared, is_cased FROM concept",
    "references": "SELECT * FROM references",
    "related_to": "SELECT * FROM related_to",
    "follows": "SELECT * FROM follows",
    "candidate": "SELECT * FROM candidate",
    "memory": "SELECT * OMIT created_at, updated_at, archived_at, position FROM memory",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("generated")
    asyncio.run(build(built, ORDER))
    return built


@pytest.fixture(scope="module")
def words_url() -> Iterator[str]:
    with fake_embedding_server(ORDER.dimensions) as url:
        yield url


async def rows_of(db: Database) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for table, text in QUERIES.items():
        rows = await db.run(Query("own", text, frozenset(), writes=False))
        found[table] = {str(row["id"]): row for row in rows}
    return found


async def pushed_rows(folder: Path) -> dict[str, dict[str, Any]]:
    notes = ORDER.notes()
    async with open_store(folder) as opened:
        for start in range(0, ORDER.memories, SESSION_NOTES):
            numbers = range(start, start + SESSION_NOTES)
            await store(opened.pipeline, [notes.note(number).pushed for number in numbers])
        return await rows_of(opened.db)


async def generated_rows(folder: Path) -> tuple[dict[str, dict[str, Any]], list[str]]:
    db = Database(StoreAddress(f"surrealkv://{folder / 'store'}"))
    try:
        await db.open(SCHEMA)
        return await rows_of(db), await violations(db)
    finally:
        await db.close()


@pytest.mark.slow
def test_the_rows_are_those_of_the_pipeline(folder: Path, tmp_path: Path) -> None:
    pushed = asyncio.run(pushed_rows(tmp_path))
    generated, complaints = asyncio.run(generated_rows(folder))
    assert complaints == []
    # A name that one note had used before another gave it on purpose stays a candidate of the
    # first, to no effect.
    pushed["candidate"] = {
        key: row for key, row in pushed["candidate"].items() if key not in pushed["concept"]
    }
    for table, rows in pushed.items():
        assert generated[table] == rows, table


def test_a_service_answers_on_it_with_every_signal(folder: Path, words_url: str) -> None:
    with running_service(
        data_dir=folder, embedding_url=words_url, search_engine="database"
    ) as running:
        stats = running.client.get("/stats").json()
        counts = json.loads((folder / "built.json").read_text(encoding="utf-8"))["counts"]
        assert {name: stats[name] for name in counts} == counts
        signals = set[str]()
        for note in ORDER.notes().questions(10):
            body = {"query": note.question, "limit": 10, "scope": note.draft.scope}
            answer = running.client.post("/search", json=body).raise_for_status().json()
            assert note.draft.id in [hit["id"] for hit in answer["results"][:3]]
            assert {hit["scope"] for hit in answer["results"]} == {note.draft.scope}
            assert answer["receipt"]["missing_signals"] == []
            for hit in answer["results"]:
                signals |= hit["signals"].keys()
        assert signals >= {"vector", "text", "graph"}


@pytest.mark.parametrize("form", ["bytes", "array"])
def test_only_the_same_store_is_used_again(tmp_path: Path, form: VectorForm) -> None:
    order = replace(ORDER, memories=20, form=form)
    assert not is_built(tmp_path, order)
    asyncio.run(build(tmp_path, order))
    assert is_built(tmp_path, order)
    assert not is_built(tmp_path, replace(order, memories=40))
    assert not is_built(tmp_path, replace(order, form="bytes" if form == "array" else "array"))
