"""Vectors of one model in one store: waiting for it, telling another one, embedding anew."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from service.commands.reembed import reembed
from service.errors import (
    EmbedderForbids,
    EmbedderRefused,
    EmbedderUnavailable,
    FingerprintMismatch,
    ModelSwapped,
)
from service.inference.model import CANARY
from service.settings import Settings
from service.store import vector_pages
from service.store.vector_forms import VectorForm
from service.writing.embed_later import embed_pending, keep_embedding
from tests.servers.outer_embeddings import Answer, outer_embeddings
from tests.servers.running import free_port
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def store_without_server(folder: Path, port: int) -> AsyncIterator[OpenStore]:
    """Open a store whose embedding server is not there yet."""
    with outer_embeddings() as nobody:
        nobody.url = f"http://127.0.0.1:{port}"
        opened = OpenStore(folder, nobody)
    try:
        await opened.db.open(await asyncio.to_thread(_schema))
        yield opened
    finally:
        await opened.close()


def _schema() -> str:
    return Settings(_env_file=None).schema_file.read_text(encoding="utf-8")


async def embedded(opened: OpenStore) -> list[bool]:
    flags = await opened.ask("SELECT VALUE is_embedded FROM memory")
    assert isinstance(flags, list)
    return sorted(flags)


async def test_the_first_model_becomes_the_stores(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        facts = await opened.db.meta("embedding")
        assert len(facts.pop("canary")) == 16 * 2
        assert facts == {"fingerprint": "outer-model/16/default", "dimensions": 16, "form": "array"}
        assert opened.vectors.problem is None
        await opened.push("Words.")
        rows = await opened.ask("SELECT VALUE fingerprint FROM embedding")
        assert rows == [opened.vectors.fingerprint]


@pytest.mark.parametrize("change", [{"model": "other-model"}, {"dimensions": 24}])
async def test_another_model_is_refused_and_the_way_out_named(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push("Words.")
    with outer_embeddings(**change) as other:
        opened = OpenStore(tmp_path, other)
        try:
            with pytest.raises(FingerprintMismatch, match="run `graph-memory reembed`"):
                await opened.open()
            with pytest.raises(FingerprintMismatch):
                await opened.vectors.embed_query("Words.")
            await opened.push("More words.")
            assert await embedded(opened) == [False, True]
            assert await opened.complaints() == []
        finally:
            await opened.close()


async def test_memories_wait_for_a_server_that_is_away(tmp_path: Path) -> None:
    port = free_port()
    async with store_without_server(tmp_path, port) as opened:
        synced = await opened.read("log.md", "## Alpha\n\nFirst.\n\n## Beta\n\nSecond.\n")
        assert synced.embedded == 0
        assert "2 memories are stored without vectors yet" in synced.warnings[0]
        assert isinstance(opened.vectors.problem, EmbedderUnavailable)
        assert await opened.complaints() == []
        waiting = asyncio.create_task(keep_embedding(opened.pipeline))
        with outer_embeddings(port):
            for _ in range(200):
                if await embedded(opened) == [True, True]:
                    break
                await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert await embedded(opened) == [True, True]
        assert await opened.complaints() == []


async def test_what_comes_while_the_server_is_away_is_embedded_later(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        waiting = asyncio.create_task(keep_embedding(opened.pipeline))
        await asyncio.sleep(0.1)
        full = Answer(b"full", 503, {"x-should-retry": "false"})
        opened.embeddings.next_answers.append(full)
        await opened.push("Words that must wait.")
        for _ in range(100):
            if await embedded(opened) == [True]:
                break
            await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert await embedded(opened) == [True]


async def test_a_vector_of_an_older_text_is_not_kept(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        opened.embeddings.next_answers.append(Answer({"data": []}))
        [key] = await opened.push("First words.", source_ref="r")
        loop = asyncio.get_running_loop()

        def change_text() -> None:
            """Change the memory while its old text is being embedded."""
            text = "UPDATE type::record('memory', $key) SET content_hash = 'newer'"
            asyncio.run_coroutine_threadsafe(opened.ask(text, key=key), loop).result(5)

        opened.embeddings.before_answering = change_text
        assert await embed_pending(opened.pipeline) == 1
        opened.embeddings.before_answering = None
        assert await embedded(opened) == [False]
        assert await opened.complaints() == []


async def test_a_failing_answer_leaves_the_memory_without_a_vector(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        opened.embeddings.next_answers.append(Answer({"data": []}))
        await opened.push("Words.")
        assert await embedded(opened) == [False]
        opened.embeddings.next_answers.append(Answer({"data": []}))
        with pytest.raises(EmbedderRefused):
            await embed_pending(opened.pipeline)
        assert await embed_pending(opened.pipeline) == 1
        assert await embed_pending(opened.pipeline) == 0
        assert await opened.complaints() == []


@pytest.mark.parametrize("status", [503, 401])
async def test_what_was_made_before_the_server_went_away_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr("service.inference.embedder._FIRST_WAIT_SECONDS", 0.001)
    async with open_store(tmp_path) as opened:
        opened.embeddings.next_answers.append(Answer({"data": []}))
        await opened.push(*[f"Words number {n}." for n in range(20)])
        opened.embeddings.requests.clear()

        def go_away() -> None:
            """Answer the first batch alone."""
            if len(opened.embeddings.requests) > 1:
                opened.embeddings.next_answers.append(Answer(b"away", status))

        opened.embeddings.before_answering = go_away
        assert await embed_pending(opened.pipeline) == 7
        with pytest.raises((EmbedderUnavailable, EmbedderForbids)):
            await embed_pending(opened.pipeline)
        # Of another model nothing is kept: the canary goes with each batch.
        opened.embeddings.before_answering = None
        opened.embeddings.next_answers.clear()
        opened.embeddings.weights = "another"
        with pytest.raises(ModelSwapped):
            await embed_pending(opened.pipeline)
        assert sum(await embedded(opened)) == 7


async def test_a_text_that_the_server_refuses_holds_up_no_other(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        opened.embeddings.refused_words = "poison"
        await opened.push("A poison text.", *[f"Words number {n}." for n in range(40)])
        assert await embedded(opened) == [False] * 41
        assert await embed_pending(opened.pipeline) == 40
        with pytest.raises(EmbedderRefused, match="too long"):
            await embed_pending(opened.pipeline)
        assert await opened.complaints() == []


async def test_pages_of_texts_that_are_refused_hold_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.writing.embed_later._PAGE", 4)
    async with open_store(tmp_path) as opened:
        opened.embeddings.refused_words = "poison"
        opened.embeddings.next_answers.append(Answer({"data": []}))
        await opened.push(*[f"Words number {n}." for n in range(8)])
        await opened.push(*[f"A poison text number {n}." for n in range(60)])
        waiting = asyncio.create_task(keep_embedding(opened.pipeline))
        for _ in range(200):
            if sum(await embedded(opened)) == 8:
                break
            await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert sum(await embedded(opened)) == 8
        # What was refused is asked for again: once the server takes it, nothing waits.
        opened.embeddings.refused_words = None
        while await embed_pending(opened.pipeline):
            pass
        assert all(await embedded(opened))


@pytest.mark.parametrize(
    ("status", "breaks_off"),
    [(500, False), (500, True), (504, False), (408, False), (403, False)],
)
async def test_a_text_that_the_server_fails_at_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, breaks_off: bool
) -> None:
    monkeypatch.setattr("service.inference.embedder._FIRST_WAIT_SECONDS", 0.001)
    async with open_store(tmp_path) as opened:
        # So llama.cpp answers a text that is too long for it, a gateway one that takes too long,
        # and a firewall one with a line of some script in it; others end in the middle.
        said = {"error": {"code": status, "message": "input is too large to process"}}
        opened.embeddings.refusal = Answer(said, status, breaks_off=breaks_off)
        opened.embeddings.refused_words = "poison"
        await opened.push("A poison text.", *[f"Words number {n}." for n in range(20)])
        assert await embed_pending(opened.pipeline) == 20
        with pytest.raises(EmbedderRefused):
            await embed_pending(opened.pipeline)
        assert await embedded(opened) == [False] + [True] * 20


async def test_a_server_that_fails_at_everything_is_not_asked_for_each_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.inference.embedder._FIRST_WAIT_SECONDS", 0.001)
    async with open_store(tmp_path) as opened:
        opened.embeddings.requests.clear()
        opened.embeddings.next_answers.extend([Answer({"error": "sick"}, 500)] * 99)
        with pytest.raises(EmbedderUnavailable, match="answered 500: sick"):
            await opened.vectors.embed_each([f"text {n}" for n in range(8)])
        # Four tries, and one for the canary.
        assert len(opened.embeddings.requests) == 5


async def test_texts_that_take_too_long_together_are_asked_for_in_halves(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        opened.embedder.address = replace(opened.embedder.address, timeout_seconds=2.0)

        def work() -> None:
            time.sleep(0.6 * len(opened.embeddings.requests[-1].body["input"]))

        opened.embeddings.before_answering = work
        made = await opened.vectors.embed_each([f"Text {n}." for n in range(4)])
        assert all(vector is not None for vector in made)


async def test_a_text_that_takes_too_long_holds_up_no_other(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        opened.embedder.address = replace(opened.embedder.address, timeout_seconds=1.0)
        opened.embeddings.hangs_on = "poison"
        try:
            made = await opened.vectors.embed_each(["One.", "Two.", "A poison text.", "Three."])
        finally:
            opened.embeddings.let_go.set()
        assert [vector is None for vector in made] == [False, False, True, False]


async def test_a_server_that_hangs_is_not_asked_for_each_text(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        opened.embedder.address = replace(opened.embedder.address, timeout_seconds=0.3)
        opened.embeddings.requests.clear()
        opened.embeddings.hangs_on = ""
        try:
            with pytest.raises(EmbedderUnavailable, match="did not answer"):
                await opened.vectors.embed_each([f"text {n}" for n in range(8)])
        finally:
            opened.embeddings.let_go.set()
        # The batch, and the canary.
        assert len(opened.embeddings.requests) == 2


@pytest.mark.parametrize(("count", "requests"), [(1, 1), (7, 1), (8, 2), (9, 2)])
async def test_the_canary_goes_with_the_last_of_what_is_pushed(
    tmp_path: Path, count: int, requests: int
) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push("Words.")
        opened.embeddings.requests.clear()
        await opened.push(*[f"Words number {n}." for n in range(count)])
        assert [asked.path for asked in opened.embeddings.requests] == ["/v1/embeddings"] * requests
        assert opened.embeddings.requests[-1].body["input"][-1] == CANARY
        assert await embedded(opened) == [True] * (count + 1)
        # Another model under the same name, over the same connection, while the text is embedded.
        opened.embeddings.weights = "another"
        await opened.push(*[f"Other words number {n}." for n in range(count)])
        assert await embedded(opened) == [False] * count + [True] * (count + 1)


async def test_a_canary_that_was_refused_once_is_asked_for_again(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push("Words.")
        texts = [f"Words number {n}." for n in range(8)]
        refusal = Answer({"error": {"message": "busy"}}, status=400)
        # Eight fill a request, the canary comes alone.
        opened.embeddings.next_answers.extend([opened.embeddings.embeddings(texts), refusal])
        assert len(await opened.vectors.embed_documents(texts)) == 8
        assert not opened.embeddings.next_answers


async def test_refused_texts_among_64_are_found_by_halving(tmp_path: Path) -> None:
    texts = [f"Words number {n}." for n in range(64)]
    texts[13] = "A poison text."
    async with open_store(tmp_path) as opened:
        whole = await opened.vectors.embed_documents([texts[12], texts[14]])
        opened.embeddings.refused_words = "poison"
        opened.embeddings.requests.clear()
        made = await opened.vectors.embed_each(texts)
        # Nine batches of seven and the canary, of the one that is refused two halves, thrice; the
        # last text, and the canary.
        assert len(opened.embeddings.requests) == 9 + 2 * 3 + 2
        assert [n for n, vector in enumerate(made) if vector is None] == [13]
        assert [vector.tolist() for vector in (made[12], made[14]) if vector is not None] == [
            vector.tolist() for vector in whole
        ]
        some = await opened.vectors.embed_each(["One.", "poison 1", "poison 2", "poison 3", "Two."])
        assert [vector is None for vector in some] == [False, True, True, True, False]
        assert await opened.vectors.embed_each([]) == []


@pytest.mark.parametrize("count", [1, 20])
async def test_a_server_that_refuses_every_text_is_told_of(tmp_path: Path, count: int) -> None:
    async with open_store(tmp_path) as opened:
        opened.embeddings.refused_words = "poison"
        with pytest.raises(EmbedderRefused, match="too long"):
            await opened.vectors.embed_each([f"poison {n}" for n in range(count)])


@pytest.mark.parametrize("form", ["bytes", "array"])
async def test_vectors_are_read_in_pages_without_those_of_other_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: VectorForm
) -> None:
    monkeypatch.setattr(vector_pages, "_PAGE_VECTORS", 2)
    async with open_store(tmp_path, form) as opened:
        keys = await opened.push(*[f"Words number {n}." for n in range(5)])
        text = "UPDATE type::record('embedding', $key) SET fingerprint = 'other'"
        await opened.ask(text, key=keys[1])
        facts = await opened.db.meta("embedding")
        wanted = [*keys, "nobody"]
        pages = [page async for page in vector_pages.pages_of_vectors(opened.db, wanted, facts)]
        assert [page for page, _ in pages] == [keys[:1], keys[2:4], keys[4:]]
        assert [rows.shape for _, rows in pages] == [(1, 16), (2, 16), (1, 16)]
        longer = {**facts, "dimensions": 17}
        assert [page async for page in vector_pages.pages_of_vectors(opened.db, keys, longer)] == []


async def test_a_changed_text_without_a_server_loses_its_old_vector(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push("First words.", source_ref="r")
        opened.embeddings.next_answers.append(Answer({"data": []}))
        await opened.push("Second words.", source_ref="r")
        assert await embedded(opened) == [False]
        assert await opened.ask("SELECT * FROM embedding") == []


async def test_reembed_gives_every_memory_a_vector_of_the_new_model(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push(*[f"Words number {n}." for n in range(70)])
    with outer_embeddings(model="other-model", dimensions=24) as other:
        settings = Settings(
            _env_file=None, database_url=f"surrealkv://{tmp_path / 'store'}",
            embedding_url=other.url, embedding_batch_size=32,
            search_engine="database",
        )  # fmt: skip
        assert await reembed(settings, Console(quiet=True)) == (70, [])
        opened = OpenStore(tmp_path, other)
        await opened.open()
        lengths = await opened.ask("SELECT VALUE array::len(vector) FROM embedding")
        assert lengths == [24] * 70
        nearest = await opened.ask(
            "SELECT VALUE id FROM embedding WHERE vector <|1,40|> $vector",
            vector=(await opened.vectors.embed_query("Words number 7.")).tolist(),
        )
        assert isinstance(nearest, list)
        assert len(nearest) == 1
        assert await opened.complaints() == []
        await opened.close()


async def test_reembed_tells_which_texts_were_refused(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        [poison, *_] = await opened.push("Words of poison.", *[f"Words {n}." for n in range(70)])
    with outer_embeddings(model="other-model", refused_words="poison") as other:
        settings = Settings(
            _env_file=None, database_url=f"surrealkv://{tmp_path / 'store'}",
            embedding_url=other.url,
        )  # fmt: skip
        assert await reembed(settings, Console(quiet=True)) == (70, [poison])
        # Not the canary.
        other.refused_words = "Words"
        with pytest.raises(EmbedderRefused):
            await reembed(settings, Console(quiet=True))


async def test_reembed_without_an_answer_forgets_nothing(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push("Words.")
    settings = Settings(
        _env_file=None, database_url=f"surrealkv://{tmp_path / 'store'}",
        embedding_url=f"http://127.0.0.1:{free_port()}",
    )  # fmt: skip
    with pytest.raises(EmbedderUnavailable):
        await reembed(settings, Console(quiet=True))
    async with open_store(tmp_path) as again:
        assert await embedded(again) == [True]
        assert await again.complaints() == []


async def test_reembed_of_an_empty_store_does_nothing(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        assert await opened.ids() == []
    with outer_embeddings() as other:
        settings = Settings(
            _env_file=None, database_url=f"surrealkv://{tmp_path / 'store'}",
            embedding_url=other.url,
        )  # fmt: skip
        assert await reembed(settings, Console(quiet=True)) == (0, [])
