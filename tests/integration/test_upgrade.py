"""A store of an older schema is brought over when opened, whatever interrupted that before."""

import asyncio
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from service.access.origins import SCANNED
from service.drafts.drafts import DocumentText
from service.errors import StoreRefused
from service.records import Filters
from service.store import schema as schemas
from service.store.address import StoreAddress
from service.store.database import Database, record
from service.store.queries import Query
from service.store.schema import SCHEMA_VERSION
from service.store.vector_forms import VectorForm
from service.writing.pipeline import sync_documents
from tests.effort import amount
from tests.stores.graph_check import violations
from tests.stores.open_store import open_store
from tests.stores.template import SCHEMA
from tests.stores.version_3 import make_version_3
from tests.stores.version_4 import make_version_4

pytestmark = [pytest.mark.anyio, pytest.mark.soak]

TEXTS = [f"Note {number} about the GPU of Anna Berg, number {number}." for number in range(7)]
KEPT = ("memory", "embedding", "concept", "references", "follows", "related_to", "is_a")
SUMMARY = Query(
    "own", """
UPDATE $summary SET source_kind = "consolidation" RETURN NONE;
FOR $one IN $sources { RELATE $summary->derived_from->$one };
""", frozenset({"summary", "sources"}), writes=True,
)  # fmt: skip
DECLARED = '[[concept]]\nname = "Graphics card"\nis_a = ["Hardware"]\nrelated_to = ["GPU"]\n'
# Opens a store with pages of three rows; kills itself some seconds after its nth write began.
KILLED = """
import asyncio, os, signal, sys, threading
from pathlib import Path
from service.store import upgrade, upgrade_edges, upgrade_origins
from service.store.address import StoreAddress
from service.store.database import Database

folder, nth, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
upgrade._PAGE_VECTORS = upgrade_edges._PAGE_EDGES = upgrade_origins._PAGE_MEMORIES = 3
written, write = [], Database._write

async def counted(self, *asked):
    written.append(1)
    if len(written) == nth:
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return await write(self, *asked)

Database._write = counted
db = Database(StoreAddress("surrealkv://" + folder))
asyncio.run(db.open(Path("schema.surql").read_text(encoding="utf-8")))
asyncio.run(db.close())
"""


async def rows_of(db: Database) -> dict[str, Any]:
    """Return everything that bringing a store over must leave as it is."""
    found = {
        table: await db.run(Query("all", f"SELECT * FROM {table}", frozenset(), writes=False))  # noqa: S608
        for table in KEPT
    }
    return found | {"meta": await db.meta("embedding")}


async def write_old(folder: Path, form: VectorForm) -> dict[str, Any]:
    """Leave a store of version 3; returns the rows that it had as one of version 4."""
    async with open_store(folder, form) as opened:
        await opened.push(*TEXTS, session="s", tags=["harbour"])
        await opened.read("log.md", "# Log\n\n## Alpha\n\nThe GPU.\n\n## Beta\n\nAnna Berg.\n")
        await opened.declare(DECLARED)
        assert await opened.complaints() == []
        rows = await rows_of(opened.db)
        await make_version_3(opened.db)
    return rows


@pytest.mark.parametrize("form", ["bytes", "array"])
async def test_a_store_of_version_3_is_brought_over(tmp_path: Path, form: VectorForm) -> None:
    before = await write_old(tmp_path, form)
    async with open_store(tmp_path, form) as new:
        assert await rows_of(new.db) == before
        definitions = str(await new.ask("INFO FOR DB"))
        assert [f"DEFINE TABLE {table} TYPE NORMAL" in definitions for table in KEPT[3:6]] == [
            True, True, True,
        ]  # fmt: skip
        assert "by_ends" not in str(await new.ask("INFO FOR TABLE references"))
        # Nothing points along the edges that were.
        assert await new.ask("SELECT VALUE ->references FROM memory") == [[]] * 9
        assert (await new.db.meta("schema")).keys() == {"version", "digest"}
        found, _ = await new.engine.by_vector(await new.vectors.embed_query(TEXTS[3]), Filters(), 1)
        assert len(found) == 1
        ids = await new.push("The GPU once more.", session="s")
        assert set(ids) <= set(await new.memories_of("gpu"))
        assert await new.complaints() == []
    async with open_store(tmp_path, form) as again:
        assert set(ids) <= set(await again.memories_of("gpu"))


@pytest.mark.parametrize("seed", range(amount("upgrades")))
async def test_killed_while_it_is_brought_over_nothing_is_lost(tmp_path: Path, seed: int) -> None:
    before = await write_old(tmp_path, "bytes")
    chance, store = random.Random(seed), tmp_path / "store"
    for _ in range(5):
        nth, seconds = chance.randrange(1, 12), chance.choice((0, 0.001, 0.003))
        code = [sys.executable, "-c", KILLED, str(store), str(nth), str(seconds)]
        await asyncio.to_thread(subprocess.run, code, check=False, timeout=60)
        await refused_by_older(store)
    db = Database(StoreAddress(f"surrealkv://{store}"))
    try:
        await db.open(SCHEMA)
        assert await rows_of(db) == before
        assert await violations(db) == []
    finally:
        await db.close()


async def refused_by_older(store: Path) -> None:
    """Assert that the program of version 3 opens a store only as long as nothing is moved."""
    db = Database(StoreAddress(f"surrealkv://{store}"))
    try:
        await db._connection.client()
        stored = await db.meta("schema")
        moved = await db.run(Query("own", "SELECT * FROM references:..[]", frozenset(), False))
    finally:
        await db.close()
    if stored["version"] == SCHEMA_VERSION:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(schemas, "SCHEMA_VERSION", 3)
            with pytest.raises(StoreRefused):
                schemas.refuse_newer(stored, "MEMORY_DATA_DIR")
    else:
        assert all("in" in row for row in moved)


async def write_version_4(folder: Path) -> dict[str, tuple[str, str]]:
    """Leave a store of version 4; returns the origins and tiers its memories should get, by id."""
    async with open_store(folder) as opened:
        own = await opened.push("The GPU of Anna Berg.", "An own note of the harbour.")
        others = await opened.push("A page about the GPU.", source_kind="web")
        told = await opened.push("A page that a summary tells.", source_kind="web")
        doubted = await opened.push("A doubted word.", trust_tier="untrusted")
        scanned = DocumentText("log.md", "# Log\n\nThe GPU.\n", folder="/notes", sender=SCANNED)
        await sync_documents(opened.pipeline, [scanned])
        await opened.read("pushed.md", "# Pushed\n\nThe GPU.\n")
        documents = await opened.ask(
            "SELECT VALUE [record::id(id), source.uri] FROM memory WHERE source.uri IS NOT NONE"
        )
        uris: dict[str, str] = dict(documents)  # type: ignore[call-overload]
        [summary] = await opened.push("A summary.")
        await opened.db.run(
            SUMMARY, summary=record("memory", summary),
            sources=[record("memory", key) for key in (own[0], doubted[0])],
        )  # fmt: skip
        # A page was trusted, as all that nobody said more of.
        await opened.ask("UPDATE memory SET trust_tier = 'trusted' WHERE source_kind = 'web'")
        await opened.ask(
            "UPDATE type::record('memory', $told) SET consolidated_into = $summary",
            told=told[0], summary=record("memory", summary),
        )  # fmt: skip
        await make_version_4(opened.db)
    return {
        **dict.fromkeys(own, ("agent", "trusted")),
        **dict.fromkeys((*others, *doubted), ("untrusted", "untrusted")),
        **dict.fromkeys((*told, summary), ("untrusted", "trusted")),
        **{key: ("owner" if uri == "log.md" else "agent", "trusted") for key, uri in uris.items()},
    }


async def origins_of(db: Database) -> dict[str, tuple[str, str]]:
    """Return the origins and tiers of all memories by id."""
    query = Query("own", "SELECT id, origin, trust_tier FROM memory", frozenset(), writes=False)
    return {row["id"]: (row["origin"], row["trust_tier"]) for row in await db.run(query)}


async def test_memories_of_version_4_get_the_origin_of_their_way_in(tmp_path: Path) -> None:
    expected = await write_version_4(tmp_path)
    async with open_store(tmp_path) as new:
        assert await origins_of(new.db) == expected
        assert {origin for origin, _ in expected.values()} == {"owner", "agent", "untrusted"}
        assert (await new.db.meta("schema")).keys() == {"version", "digest"}
        found = str(await new.engine.by_text("gpu", Filters(origins=("owner",)), 9))
        assert {origin for key, (origin, _) in expected.items() if key in found} == {"owner"}


async def test_killed_while_origins_are_given_it_goes_on(tmp_path: Path) -> None:
    expected = await write_version_4(tmp_path)
    for nth in range(1, 6):
        code = [sys.executable, "-c", KILLED, str(tmp_path / "store"), str(nth), "0"]
        await asyncio.to_thread(subprocess.run, code, check=False, timeout=60)
    async with open_store(tmp_path) as new:
        assert await origins_of(new.db) == expected
