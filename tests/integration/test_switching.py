"""Vectors in two forms in one store: what each engine takes, what it refuses, and the switch."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from rich.console import Console

from service.commands import switch_engine as switching
from service.commands.reembed import FORGET_VECTORS, reembed
from service.commands.switch_engine import switch_engine, switch_store
from service.errors import QueryFailed, StoreUnavailable, TextIndexMissing, VectorFormMismatch
from service.inference.embedder import Embedder
from service.inference.fitting import Fitting
from service.inference.model import EmbedderAddress
from service.inference.vectors import Vectors
from service.records import Filters
from service.settings import Settings
from service.store import database_indexes
from service.store.database_indexes import DATABASE_INDEXES, fit_indexes, switch_indexes
from service.store.queries import Query
from service.store.vector_forms import VectorForm, read_vector
from service.writing.embed_later import embed_pending, keep_embedding
from tests.servers.outer_embeddings import Answer, OuterEmbeddings, outer_embeddings
from tests.servers.running import free_port
from tests.stores.open_store import NO_DIGEST, OpenStore, open_store
from tests.stores.template import SCHEMA

pytestmark = pytest.mark.anyio

QUIET: Final = Console(quiet=True)
TEXTS: Final = tuple(f"Words number {n}." for n in range(7))
# The table as the versions before the two forms defined it.
OLD_FIELD: Final = "DEFINE FIELD OVERWRITE vector ON embedding TYPE array<float>;"
VECTOR: Final = "type::record('embedding', $key).vector"
SET_VECTOR: Final = "UPDATE type::record('embedding', $key) SET vector = $vector RETURN NONE"
BOTH: Final = pytest.mark.parametrize("form", ["bytes", "array"])


async def has_index(opened: OpenStore) -> bool:
    told = await opened.ask("INFO FOR TABLE embedding")
    assert isinstance(told, dict)
    return "by_meaning" in told["indexes"]


async def has_words(opened: OpenStore) -> bool:
    """Return whether there are the indexes of words and edges: all of them, or none."""
    names = await opened.db.run(DATABASE_INDEXES)
    assert len(names) in {0, 3}
    return bool(names)


async def marked(opened: OpenStore) -> object:
    return (await opened.db.meta("embedding")).get("form")


async def vectors_of(opened: OpenStore) -> Mapping[str, Any]:
    """Return the stored vectors of the memories, by text."""
    rows = await opened.ask(
        "SELECT content, type::record('embedding', record::id(id)).vector AS vector FROM memory"
    )
    assert isinstance(rows, list)
    return {row["content"]: row["vector"] for row in rows}


async def count_of_each(opened: OpenStore) -> tuple[int, int]:
    """Return how many vectors lie there as bytes, and how many as arrays."""
    stored = [v for v in (await vectors_of(opened)).values() if v is not None]
    as_bytes = sum(isinstance(vector, bytes) for vector in stored)
    return as_bytes, len(stored) - as_bytes


async def assert_right(opened: OpenStore, *texts: str) -> None:
    """Assert that these texts have the vectors that the model gives them, as float16."""
    stored = await vectors_of(opened)
    made = await opened.embedder.embed_documents(list(texts))
    for text, vector in zip(texts, made, strict=True):
        assert np.array_equal(read_vector(stored[text]).astype("<f2"), vector.astype("<f2"))


async def write_old_store(folder: Path) -> None:
    """Leave a store as the versions before the two forms left it."""
    async with open_store(folder) as opened:
        await opened.db.apply(OLD_FIELD)
        await opened.db.set_meta("schema", NO_DIGEST)
        facts = await opened.db.meta("embedding")
        await opened.db.set_meta("embedding", {k: v for k, v in facts.items() if k != "form"})
        await opened.push(*TEXTS)
        assert await has_index(opened)


def nobody() -> OuterEmbeddings:
    """Return an embedding server that is away."""
    with outer_embeddings() as away:
        away.url = f"http://127.0.0.1:{free_port()}"
    return away


@asynccontextmanager
async def closed_later(opened: OpenStore) -> AsyncIterator[OpenStore]:
    try:
        yield opened
    finally:
        await opened.close()


async def switch_to(form: VectorForm, folder: Path) -> int | None:
    """Switch the store in `folder` without any embedding server; returns what the switch does."""
    async with closed_later(OpenStore(folder, nobody(), form=form)) as opened:
        await opened.db.open(SCHEMA)
        return await switch_store(opened.db, opened.vectors, SCHEMA, QUIET)


@BOTH
async def test_an_empty_store_takes_the_form_it_is_opened_for(
    tmp_path: Path, form: VectorForm
) -> None:
    other: VectorForm = "array" if form == "bytes" else "bytes"
    for now in (form, other, form):
        async with open_store(tmp_path, now) as opened:
            assert (await marked(opened), await has_index(opened)) == (now, now == "array")
            assert await has_words(opened) == (now == "array")
    async with open_store(tmp_path, form) as opened:
        await opened.push(*TEXTS)
        assert await count_of_each(opened) == ((7, 0) if form == "bytes" else (0, 7))
        await assert_right(opened, *TEXTS)
        assert await opened.complaints() == []


@BOTH
async def test_a_vector_that_waited_is_stored_in_the_same_form(
    tmp_path: Path, form: VectorForm
) -> None:
    async with open_store(tmp_path, form) as opened:
        opened.embeddings.next_answers.append(Answer({"data": []}))
        await opened.push(*TEXTS)
        assert await count_of_each(opened) == (0, 0)
        assert await embed_pending(opened.pipeline) == 7
        assert await count_of_each(opened) == ((7, 0) if form == "bytes" else (0, 7))
        await assert_right(opened, *TEXTS)


async def test_an_old_store_takes_bytes_beside_its_arrays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await write_old_store(tmp_path)
    caplog.set_level("INFO")
    async with open_store(tmp_path, "bytes") as opened:
        assert (await marked(opened), await has_index(opened)) == ("mixed", False)
        assert "run `graph-memory switch-engine`" in caplog.text
        await opened.push("More words.")
        assert await count_of_each(opened) == (1, 7)
        await assert_right(opened, *TEXTS, "More words.")
    async with open_store(tmp_path, "bytes") as opened:
        assert (await marked(opened), await has_index(opened)) == ("mixed", False)
        assert await opened.complaints() == []


async def test_an_old_store_goes_on_with_arrays(tmp_path: Path) -> None:
    await write_old_store(tmp_path)
    async with open_store(tmp_path) as opened:
        assert (await marked(opened), await has_index(opened)) == ("array", True)
        await opened.push("More words.")
        assert await count_of_each(opened) == (0, 8)


async def test_a_switch_there_and_back_changes_no_number(tmp_path: Path) -> None:
    await write_old_store(tmp_path)
    assert await switch_to("array", tmp_path) is None
    assert await switch_to("bytes", tmp_path) == 7
    assert await switch_to("bytes", tmp_path) is None
    async with open_store(tmp_path, "bytes") as opened:
        assert (await marked(opened), await has_index(opened)) == ("bytes", False)
        assert await count_of_each(opened) == (7, 0)
        await assert_right(opened, *TEXTS)
        await opened.push("More words.")
        # The resident engine makes its index of the texts.
        words = "SELECT VALUE words FROM memory WHERE content = 'More words.'"
        assert await opened.ask(words) == [None]
    assert await switch_to("array", tmp_path) == 8
    assert await switch_to("array", tmp_path) is None
    async with open_store(tmp_path) as opened:
        assert (await marked(opened), await has_index(opened)) == ("array", True)
        assert len(await opened.engine.by_text("number", Filters(), 10)) == 7
        assert len(await opened.engine.by_text("more", Filters(), 10)) == 1
        assert await count_of_each(opened) == (0, 8)
        await assert_right(opened, *TEXTS, "More words.")
        vector = await opened.vectors.embed_query(TEXTS[3])
        found = await opened.ask(
            "SELECT VALUE type::record('memory', record::id(id)).content FROM embedding "
            "WHERE vector <|1,40|> $vector",
            vector=vector.tolist(),
        )
        assert found == [TEXTS[3]]
        assert await opened.complaints() == []


@BOTH
async def test_an_interrupted_switch_is_finished_by_another(
    tmp_path: Path, form: VectorForm, monkeypatch: pytest.MonkeyPatch
) -> None:
    before: VectorForm = "array" if form == "bytes" else "bytes"
    monkeypatch.setattr(switching, "_PAGE", 3)
    async with open_store(tmp_path, before) as opened:
        await opened.push(*TEXTS)
        await opened.vectors.fitting.begin_switch(await opened.db.meta("embedding"))
        # The second page cannot be read: the switch ends there.
        broken = (await opened.ids())[4]
        kept = await opened.ask(VECTOR, key=broken)
        await opened.ask(SET_VECTOR, key=broken, vector=b"" if before == "bytes" else [])
    with pytest.raises(ValueError, match="empty"):
        await switch_to(form, tmp_path)
    async with closed_later(OpenStore(tmp_path, nobody(), form=form)) as opened:
        await opened.db.open(SCHEMA)
        assert (await marked(opened), await has_index(opened)) == ("mixed", False)
        assert await count_of_each(opened) == ((3, 4) if form == "bytes" else (4, 3))
        await opened.ask(SET_VECTOR, key=broken, vector=kept)
    assert await switch_to(form, tmp_path) == 4
    async with open_store(tmp_path, form) as opened:
        assert (await marked(opened), await has_index(opened)) == (form, form == "array")
        await assert_right(opened, *TEXTS)
        assert await opened.complaints() == []


@pytest.mark.parametrize("has_arrays", [False, True])
async def test_the_database_engine_refuses_bytes_until_they_are_switched(
    tmp_path: Path, has_arrays: bool, caplog: pytest.LogCaptureFixture
) -> None:
    if has_arrays:
        await write_old_store(tmp_path)
    async with open_store(tmp_path, "bytes") as opened:
        await opened.push(*TEXTS, "Words of the resident engine.")
    with outer_embeddings() as embeddings:
        opened = OpenStore(tmp_path, embeddings)
        with pytest.raises(TextIndexMissing, match="run `graph-memory switch-engine`"):
            await opened.open()
        # A switch that was interrupted between words and vectors.
        assert await switch_indexes(opened.db, SCHEMA, "database")
        with pytest.raises(VectorFormMismatch, match="run `graph-memory switch-engine`"):
            await opened.open()
        assert isinstance(opened.vectors.problem, VectorFormMismatch)
        with pytest.raises(VectorFormMismatch):
            await opened.vectors.embed_query(TEXTS[0])
        synced = await opened.read("log.md", "## Alpha\n\nFirst.\n")
        assert synced.embedded == 0
        assert "run `graph-memory switch-engine`" in synced.warnings[0]
        await keep_embedding(opened.pipeline)
        assert "run `graph-memory switch-engine`" in caplog.text
        assert await count_of_each(opened) == ((1, 7) if has_arrays else (8, 0))
        assert not await has_index(opened)
        assert await opened.complaints() == []
        await opened.close()
    assert await switch_to("array", tmp_path) == (1 if has_arrays else 8)
    async with open_store(tmp_path) as opened:
        assert opened.vectors.problem is None
        assert await embed_pending(opened.pipeline) == 1
        assert await count_of_each(opened) == (0, 9)
        assert await opened.complaints() == []


async def test_a_switch_there_and_back_makes_words_of_older_versions_anew(tmp_path: Path) -> None:
    async with open_store(tmp_path, "array") as opened:
        await opened.push("हिन्दी में नोट", "Words of today.")
        key = next(iter(await opened.ids()))
        was = await opened.ask("SELECT VALUE words FROM ONLY type::record('memory', $key)", key=key)
        await opened.ask("UPDATE type::record('memory', $key) SET words = 'ह न द'", key=key)
        assert await switch_indexes(opened.db, SCHEMA, "resident")
        assert await switch_indexes(opened.db, SCHEMA, "database")
        now = await opened.ask("SELECT VALUE words FROM ONLY type::record('memory', $key)", key=key)
        assert now == was
        assert await opened.complaints() == []


async def test_words_that_a_switch_was_making_when_it_ended_are_made_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path, "array") as opened:
        await opened.push(*TEXTS)
        every = "SELECT VALUE words FROM memory ORDER BY id"
        was = await opened.ask(every)
        assert await switch_indexes(opened.db, SCHEMA, "resident")
        await opened.ask("UPDATE memory SET words = 'of an older version' RETURN NONE")
        monkeypatch.setattr(database_indexes, "_PAGE_MEMORIES", 2)
        run, pages = opened.db.run, list[str]()

        async def ends(query: Query, *args: Any, **params: Any) -> Any:
            pages.append(query.name)
            if pages.count("write_words") == 3:
                raise StoreUnavailable("It ends here.")
            return await run(query, *args, **params)

        with monkeypatch.context() as patch:
            patch.setattr(opened.db, "run", ends)
            with pytest.raises(StoreUnavailable):
                await switch_indexes(opened.db, SCHEMA, "database")
        half = await opened.ask(every)
        assert isinstance(half, list)
        assert isinstance(was, list)
        assert half == [*was[:4], *["of an older version"] * 3]
        # Nobody searches them: the engine of the database does not open without its index.
        assert not await has_words(opened)
        with pytest.raises(TextIndexMissing, match="run `graph-memory switch-engine`"):
            await fit_indexes(opened.db, SCHEMA, "database")
        assert await switch_indexes(opened.db, SCHEMA, "database")
        assert await opened.ask(every) == was
        assert await opened.complaints() == []


async def test_the_index_takes_no_bytes(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push("Words.")
        with pytest.raises(QueryFailed, match="cannot be converted to a vector"):
            await opened.ask("UPDATE embedding SET vector = $vector", vector=bytes(64))


async def test_a_store_without_any_vector_fits_already(tmp_path: Path) -> None:
    assert await switch_to("bytes", tmp_path) is None
    assert await switch_to("array", tmp_path) == 0
    assert await switch_to("array", tmp_path) is None
    async with open_store(tmp_path) as opened:
        assert await opened.ids() == []
    assert await switch_to("bytes", tmp_path) == 0
    async with open_store(tmp_path, "bytes") as opened:
        assert (await marked(opened), await has_index(opened)) == ("bytes", False)


async def test_the_command_asks_no_embedding_server_and_fits_the_configured_engine(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        await opened.push(*TEXTS)
    settings = Settings(
        _env_file=None, database_url=f"surrealkv://{tmp_path / 'store'}",
        embedding_url=f"http://127.0.0.1:{free_port()}", search_engine="database",
    )  # fmt: skip
    assert await switch_engine(settings, QUIET) == 7
    assert await switch_engine(settings, QUIET) is None
    async with open_store(tmp_path) as opened:
        assert await count_of_each(opened) == (0, 7)


@pytest.mark.parametrize("is_mixed", [False, True])
async def test_reembed_leaves_one_form_and_its_index(tmp_path: Path, is_mixed: bool) -> None:
    if is_mixed:
        await write_old_store(tmp_path)
    async with open_store(tmp_path, "bytes") as opened:
        await opened.push(*TEXTS, "More words.")
    with outer_embeddings() as embeddings:
        settings = Settings(
            _env_file=None, database_url=f"surrealkv://{tmp_path / 'store'}",
            embedding_url=embeddings.url, search_engine="database",
        )  # fmt: skip
        assert await reembed(settings, QUIET) == (8, [])
    async with open_store(tmp_path) as opened:
        assert (await marked(opened), await has_index(opened)) == ("array", True)
        assert await count_of_each(opened) == (0, 8)
        await assert_right(opened, *TEXTS, "More words.")


async def test_vectors_forgotten_come_back_as_bytes(tmp_path: Path) -> None:
    await write_old_store(tmp_path)
    async with open_store(tmp_path, "bytes") as opened:
        await opened.db.run(FORGET_VECTORS)
        embedder = Embedder(EmbedderAddress(opened.embeddings.url))
        opened.pipeline.vectors = Vectors(embedder, Fitting(opened.db, SCHEMA, "bytes"))
        assert await embed_pending(opened.pipeline) == 7
        await embedder.close()
        assert (await marked(opened), await has_index(opened)) == ("bytes", False)
        assert await count_of_each(opened) == (7, 0)
        assert await opened.complaints() == []


async def test_a_store_of_an_older_version_loses_the_indexes_that_nobody_asks(
    tmp_path: Path,
) -> None:
    """Versions before had those over edges in every store; the next start finds nothing to do."""
    async with open_store(tmp_path, "bytes") as opened:
        await opened.push(*TEXTS)
        await opened.db.define_index(SCHEMA, "edges")
        assert set(await opened.db.run(DATABASE_INDEXES)) == {"by_concept", "by_out"}
    async with open_store(tmp_path, "bytes") as opened:
        assert not await has_words(opened)
        before = opened.db.last_write
        await fit_indexes(opened.db, SCHEMA, "resident")
        assert opened.db.last_write == before


async def test_the_database_engine_makes_the_indexes_over_edges_that_a_store_lacks(
    tmp_path: Path,
) -> None:
    """An upgrade from before version 4 leaves none."""
    async with open_store(tmp_path) as opened:
        ids = await opened.push("Rush and [[GPU]].", "[[GPU]] and Rush.")
        await opened.db.apply(
            "REMOVE INDEX by_concept ON references; REMOVE INDEX by_out ON related_to"
        )
    async with open_store(tmp_path) as opened:
        assert await has_words(opened)
        assert await opened.engine.referencing("main", ["gpu"]) == set(ids)
