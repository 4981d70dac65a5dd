"""A store of an older schema is brought over when opened, whatever interrupted that before."""

from pathlib import Path
from typing import Any

import pytest

from service.errors import StoreUnavailable
from service.records import Filters
from service.store import upgrade as upgrading
from service.store.queries import Query
from service.store.vector_forms import read_vector
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio

VERSION_3 = {"version": 3}
TEXTS = [f"Note {number} about the GPU of machine {number}." for number in range(7)]


async def write_float32(opened: OpenStore) -> None:
    """Write the vectors as version 3 did."""
    rows = await opened.ask("SELECT * FROM embedding")
    assert isinstance(rows, list)
    for row in rows:
        vector = read_vector(row["vector"]).astype("<f4").tobytes()
        text = "UPDATE type::record('embedding', $key) SET vector = $vector"
        await opened.ask(text, key=row["id"], vector=vector)
    facts = await opened.db.meta("embedding")
    canary = read_vector(facts["canary"]).astype("<f4").tobytes()
    await opened.db.set_meta("embedding", {**facts, "canary": canary})
    await opened.db.set_meta("schema", VERSION_3)


async def vectors_of(opened: OpenStore) -> dict[str, bytes]:
    """Return the stored vectors, and the canary's, by key."""
    rows = await opened.ask("SELECT * FROM embedding")
    assert isinstance(rows, list)
    canary = (await opened.db.meta("embedding"))["canary"]
    return {**{row["id"]: row["vector"] for row in rows}, "canary": canary}


@pytest.mark.parametrize("pages", [0, 1, 2, 9])
async def test_vectors_of_float32_become_float16(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    """The bringing over is interrupted after some pages, and goes on at the next opening."""
    monkeypatch.setattr(upgrading, "_PAGE_VECTORS", 3)
    async with open_store(tmp_path, "bytes") as old:
        ids = await old.push(*TEXTS)
        before = await vectors_of(old)
        await write_float32(old)
    async with open_store(tmp_path, "bytes") as between:
        # Opening brought all over: what follows is done by hand, page by page.
        assert await vectors_of(between) == before
        await write_float32(between)
        await bring_over(between, pages)
    async with open_store(tmp_path, "bytes") as new:
        assert await vectors_of(new) == before
        question = await new.vectors.embed_query(TEXTS[3])
        found, _ = await new.engine.by_vector(question, Filters(), 1)
        assert [one.id for one in found] == [ids[3]]
        assert await new.complaints() == []


async def bring_over(opened: OpenStore, pages: int) -> None:
    """Bring a store over until so many pages are written."""

    class Interrupted:
        """A database that goes away after some writes."""

        def __init__(self) -> None:
            self.left = pages
            self.meta, self.set_meta = opened.db.meta, opened.db.set_meta

        async def run(self, query: Query, **params: Any) -> Any:
            if query.writes:
                if not self.left:
                    raise StoreUnavailable("gone")
                self.left -= 1
            return await opened.db.run(query, **params)

    try:
        await upgrading.upgrade(Interrupted(), VERSION_3)
    except StoreUnavailable:
        assert pages < 3
