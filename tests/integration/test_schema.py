"""What the schema itself promises: both ends of an edge, refused values, words that are found."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.errors import CannotStart, InvalidRequest, QueryFailed
from service.memories.screening import Pushed
from service.memories.storing import store
from service.opening import read_schema
from service.settings import Settings
from service.store.address import StoreAddress
from service.store.database import record
from service.store.queries import Query
from service.store.schema import SCHEMA_VERSION
from service.store.vector_forms import VectorForm
from service.text.words import query_words
from service.writing.removing import remove_documents
from tests.servers.outer_embeddings import outer_embeddings
from tests.servers.surreal_server import Credentials, SurrealServer
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio

RELATIONS = ("is_a", "derived_from", "supersedes")
# Rows with an end that does not exist.
DANGLING = (
    "references { id: $key, concepts: [['main', 'nothing']] }",
    "references { id: $key, concepts: [['main', 'about_gpu'], ['other', 'about_gpu']] }",
    "follows { id: $key, earlier: ['nobody'], later: [] }",
    "follows { id: $key, earlier: [], later: ['nobody'] }",
    "related_to { id: ['main', 'a', 'x'], agent: 'main', out: 'x', weight: 1, is_declared: false }",
    "related_to { id: ['main', 'a', 'x'], weight: 1 }",
)
SECOND = datetime(2026, 2, 13, 9, tzinfo=UTC)
MOMENTS = [SECOND + timedelta(milliseconds=part) for part in (0, 500, 1000)]
AS_IN_VERSION_1 = (
    "REMOVE INDEX by_moment ON memory", "REMOVE INDEX by_chain_moment ON memory",
    "REMOVE INDEX by_archived_moment ON memory", "REMOVE FIELD occurred_micros ON memory",
    "UPDATE memory UNSET occurred_micros, teaches", "ALTER TABLE memory CHANGEFEED 7d",
    "DEFINE INDEX by_time ON memory FIELDS agent, occurred_at",
)  # fmt: skip
OUT_OF_MEMORY = ("derived_from", "supersedes")


@asynccontextmanager
async def served_store(folder: Path) -> AsyncIterator[OpenStore]:
    """Open a store that a server holds."""
    known = Credentials()
    with outer_embeddings() as embeddings:
        async with SurrealServer(f"surrealkv://{folder / 'store'}") as server:
            served = OpenStore(
                folder, embeddings, StoreAddress(server.url, known.user, known.password),
                form="bytes",
            )  # fmt: skip
            try:
                await served.open()
                yield served
            finally:
                await served.close()


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path) as own:
        yield own


def ends(table: str) -> tuple[str, str]:
    near = "memory" if table in OUT_OF_MEMORY else "concept"
    return near, near


@pytest.mark.parametrize("table", RELATIONS)
async def test_an_edge_needs_both_ends(opened: OpenStore, table: str) -> None:
    near, far = ends(table)
    for start, end in ((f"{near}:nobody", f"{far}:nothing"), (f"{far}:x", f"{near}:y")):
        with pytest.raises((QueryFailed, InvalidRequest)):
            await opened.ask(
                f"INSERT RELATION INTO {table} "
                f"{{ in: {start}, out: {end}, weight: 1, is_declared: false }}"
            )
    assert await opened.ask(f"SELECT * FROM {table}") == []  # noqa: S608


async def test_a_deleted_memory_takes_its_edges_along(opened: OpenStore) -> None:
    ids = await opened.push("Rush and GPU.", "GPU and Rush.", session="s", title="About GPU")
    assert len(str(await opened.ask("SELECT VALUE id FROM follows"))) > 2
    for key in ids:
        await opened.ask("DELETE type::record('memory', $key)", key=key)
    assert await opened.ask("SELECT * FROM follows") == []
    assert await opened.ask("SELECT * FROM references") == []


@pytest.mark.parametrize("row", DANGLING)
async def test_a_row_of_edges_needs_both_ends(opened: OpenStore, row: str) -> None:
    [key] = await opened.push("All about it.", title="About GPU")
    before = await opened.ask("SELECT * FROM references, follows, related_to")
    table, _, content = row.partition(" ")
    with pytest.raises((QueryFailed, InvalidRequest)):
        await opened.ask(f"UPSERT {table} CONTENT {content}", key=key)
    assert await opened.ask("SELECT * FROM references, follows, related_to") == before


@pytest.mark.parametrize("form", ["bytes", "array"])
async def test_a_deleted_concept_takes_its_pairs_along(tmp_path: Path, form: VectorForm) -> None:
    """By an index, or row by row where the resident engine needs none."""
    async with open_store(tmp_path, form) as opened:
        texts = "Rush and GPU.", "GPU and Rush."
        await opened.push(*texts, title="About GPU", tags=["alpha", "zebra"])
        for slug in ("gpu", "about_gpu", "alpha"):
            assert f"'{slug}'" in str(await opened.ask("SELECT * FROM related_to"))
            await opened.ask("DELETE type::record('concept', ['main', $slug])", slug=slug)
            assert f"'{slug}'" not in str(await opened.ask("SELECT * FROM related_to"))
        assert await opened.ask("SELECT * FROM related_to") == []


@pytest.mark.parametrize("form", ["bytes", "array"])
async def test_a_concept_that_nothing_mentions_takes_its_pairs_along(
    tmp_path: Path, form: VectorForm
) -> None:
    """Those as well that no memory stands for any more: the writer names what leads to it."""
    strays = [
        {"id": record("related_to", ["main", *ends]), "agent": "main", "out": ends[1], "weight": 5,
         "is_declared": False}
        for ends in (("gpu", "middle"), ("middle", "zebra"))
    ]  # fmt: skip
    insert = Query(
        "own", "INSERT INTO related_to $rows RETURN NONE", frozenset({"rows"}), writes=True
    )
    async with open_store(tmp_path, form) as opened:
        for tag in ("gpu", "middle", "zebra"):
            await opened.read(f"of {tag}.md", f"Notes.\n\n#{tag}\n")
        await opened.db.run(insert, rows=strays)
        assert await remove_documents(opened.pipeline, "main", ["of middle.md"]) == 1
        left = str(await opened.ask("SELECT * FROM related_to"))
        assert "'of_zebra'" in left
        assert "'middle'" not in left
        assert await opened.ask("SELECT VALUE id FROM concept WHERE name = 'middle'") == []
        assert await opened.complaints() == []


@pytest.mark.parametrize(
    "change",
    [
        "kind = 'diary'", "type = 'odd'", "trust_tier = 'some'", "importance = 1.5",
        "origin = 'mine'", "origin = NONE", "client = 7",
        "importance = -0.1", "agent = ''", "occurred_at = 'today'", "is_embedded = 'no'",
        "tags = 'one'", "tags = [1]", "position = 'first'", "unknown_field = 1",
    ],
)  # fmt: skip
async def test_values_outside_the_schema_are_refused(opened: OpenStore, change: str) -> None:
    [key] = await opened.push("Words.")
    with pytest.raises((QueryFailed, InvalidRequest)):
        await opened.ask(f"UPDATE type::record('memory', $key) SET {change}", key=key)  # noqa: S608
    assert await opened.complaints() == []


@pytest.mark.parametrize(
    ("text", "query", "is_found"),
    [
        ("the servers were running", "server run", True),
        ("the RTX 5070 Ti has 16 GB", "rtx 5070", True),
        ("error E1234 in src/app.py", "app.py", True),
        ("error E1234 in src/app.py", "e1234", True),
        ("released v2.3.1 today", "2.3.1", True),
        ("오늘 회의를 했다", "회의", True),
        ("nothing of it", "server", False),
    ],
)
async def test_words_are_found_whole_and_in_parts(
    opened: OpenStore, text: str, query: str, is_found: bool
) -> None:
    # BM25 gives a word of every second text no weight: most must be about something else.
    await opened.push(text, *[f"A text about quite other things, number {n}." for n in range(9)])
    found = await opened.ask(
        "SELECT content, search::score(0) AS score FROM memory WHERE words @0,OR@ $words",
        words=query_words(query),
    )
    assert isinstance(found, list)
    assert [row["content"] for row in found] == ([text] if is_found else [])
    assert all(row["score"] > 0 for row in found)


async def test_the_nearest_vector_is_found_by_the_index(opened: OpenStore) -> None:
    ids = await opened.push("Alpha.", "Beta.", "Gamma.")
    vector = await opened.vectors.embed_query("Beta.")
    found = await opened.ask(
        "SELECT VALUE id FROM embedding WHERE vector <|1,40|> $vector", vector=vector.tolist()
    )
    assert found == [ids[1]]
    with pytest.raises((QueryFailed, InvalidRequest), match="dimension"):
        await opened.ask("UPDATE embedding SET vector = [1.0, 2.0]")


async def test_an_embedded_store_keeps_no_feed(opened: OpenStore) -> None:
    """Its one writer needs none, and with one a write waits for a clock that was set back."""
    await opened.push("Rush and GPU.", title="About GPU")
    assert await opened.ask("SHOW CHANGES FOR DATABASE SINCE 0 LIMIT 1000") == []


async def test_a_store_of_a_server_keeps_a_feed_and_loses_it_where_it_is_embedded(
    tmp_path: Path,
) -> None:
    async with served_store(tmp_path) as served:
        await served.push("Rush and GPU.", title="About GPU")
        changes = str(await served.ask("SHOW CHANGES FOR DATABASE SINCE 0 LIMIT 1000"))
        assert "RecordID" not in changes
        assert "Rush and GPU." in changes
        assert "'concepts': " in changes
    async with open_store(tmp_path, form="bytes") as embedded:
        assert "CHANGEFEED" not in str(await embedded.ask("INFO FOR DB"))
    async with served_store(tmp_path) as served:
        assert str(await served.ask("INFO FOR DB")).count("CHANGEFEED 1w") == 10


async def test_a_store_of_version_1_is_brought_over(tmp_path: Path) -> None:
    async with open_store(tmp_path, form="bytes") as old:
        pushed = [Pushed(f"Note {n}.", session="s", occurred_at=MOMENTS[n]) for n in range(3)]
        ids, _ = await store(old.pipeline, pushed)
        for statement in AS_IN_VERSION_1:
            await old.ask(statement)
        await old.db.set_meta("schema", {"version": 1})
        assert await old.ask("SELECT VALUE occurred_micros FROM memory") == [None] * 3
        assert "CHANGEFEED" in str(await old.ask("INFO FOR DB"))
    async with open_store(tmp_path, form="bytes") as new:
        by_moment = "SELECT VALUE id FROM memory WHERE agent = 'main' ORDER BY occurred_micros"
        assert await new.ask(by_moment) == ids
        assert "by_time" not in str(await new.ask("INFO FOR TABLE memory"))
        assert "CHANGEFEED" not in str(await new.ask("INFO FOR DB"))
        assert (await new.db.meta("schema"))["version"] == SCHEMA_VERSION
        assert await new.complaints() == []


@pytest.mark.parametrize(
    ("holds", "told"),
    [(None, "Is a directory"), (b"\xff", "no text in UTF-8"), (b"", "holds no schema"),
     (b"# Notes\n\nA crane.\n", "holds no schema")],
)  # fmt: skip
async def test_a_file_that_is_no_schema_is_told_with_the_setting(
    tmp_path: Path, holds: bytes | None, told: str
) -> None:
    file = tmp_path / "schema.surql"
    if holds is None:
        file.mkdir()
    else:
        file.write_bytes(holds)
    with pytest.raises(CannotStart, match=told) as refused:
        await read_schema(Settings(_env_file=None, schema_file=file))
    assert str(refused.value).startswith(f"MEMORY_SCHEMA_FILE: {file} ")
