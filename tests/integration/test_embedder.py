"""The embedding client against real HTTP servers of every temper."""

import asyncio
import gzip
import math
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.errors import EmbedderForbids, EmbedderRefused, EmbedderUnavailable
from service.inference.breaker import Breaker
from service.inference.embedder import Embedder
from service.inference.model import EmbedderAddress, Patience
from service.records import Vector
from tests.servers.outer_embeddings import (
    Answer,
    OuterEmbeddings,
    encoded,
    outer_embeddings,
    vector_of,
)
from tests.servers.running import free_port
from tests.stores.open_store import open_store

pytestmark = pytest.mark.anyio


@pytest.fixture
def outer() -> Iterator[OuterEmbeddings]:
    with outer_embeddings() as server:
        yield server


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Collect the seconds that the client rests before it asks again; they do not pass."""
    seconds = list[float]()
    go_on, here = asyncio.sleep, threading.get_ident()

    async def rest(wanted: float) -> None:
        # Servers of other tests sleep in threads of their own; they go on as ever.
        is_ours = threading.get_ident() == here
        if is_ours:
            seconds.append(wanted)
        await go_on(0 if is_ours else wanted)

    monkeypatch.setattr("service.inference.embedder.asyncio.sleep", rest)
    return seconds


@asynccontextmanager
async def client_of(
    url: str, breaker: Breaker | None = None, **settings: Any
) -> AsyncIterator[Embedder]:
    embedder = Embedder(EmbedderAddress(url, **settings), breaker)
    try:
        yield embedder
    finally:
        await embedder.close()


def is_unit_of(vector: Vector, text: str) -> bool:
    wanted = np.asarray(vector_of(text))
    return bool(np.allclose(vector, wanted / np.linalg.norm(wanted), atol=1e-6))


def asked_inputs(outer: OuterEmbeddings) -> list[Any]:
    return [asked.body["input"] for asked in outer.requests if asked.path == "/v1/embeddings"]


async def test_vectors_come_at_unit_length_in_the_order_of_the_texts(
    outer: OuterEmbeddings,
) -> None:
    texts = [f"text {n}" for n in range(20)]
    async with client_of(outer.url, batch_size=8, api_key="key-1") as embedder:
        vectors = await embedder.embed_documents(texts)
    assert all(is_unit_of(v, text) for v, text in zip(vectors, texts, strict=True))
    assert {vector.dtype for vector in vectors} == {np.dtype(np.float32)}
    assert [len(batch) for batch in asked_inputs(outer)] == [1, 8, 8, 4]
    assert {asked.headers["authorization"] for asked in outer.requests} == {"Bearer key-1"}


async def test_items_are_put_in_order_by_their_index(outer: OuterEmbeddings) -> None:
    async with client_of(outer.url) as embedder:
        await embedder.describe()
        good = outer.embeddings(["a", "b", "c"]).body
        outer.next_answers.append(Answer(good | {"data": good["data"][::-1]}))
        vectors = await embedder.embed_documents(["a", "b", "c"])
    assert [is_unit_of(v, text) for v, text in zip(vectors, "abc", strict=True)] == [True] * 3


async def test_lists_and_missing_indexes_are_taken_too(outer: OuterEmbeddings) -> None:
    async with client_of(outer.url) as embedder:
        await embedder.describe()
        data = [{"embedding": vector_of("a")}, {"embedding": vector_of("b")}]
        outer.next_answers.append(Answer({"data": data}))
        vectors = await embedder.embed_documents(["a", "b"])
    assert is_unit_of(vectors[0], "a")
    assert is_unit_of(vectors[1], "b")


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ([], "0 vectors for 1 texts"),
        ([{"embedding": encoded([1.0] * 16)}] * 2, "2 vectors for 1 texts"),
        ([{"embedding": encoded([1.0] * 15)}], "16 were expected"),
        ([{"embedding": encoded([1.0] * 17)}], "16 were expected"),
        ([{"embedding": [[1.0] * 16]}], "16 were expected"),
        ([{"embedding": []}], "16 were expected"),
        ([{"embedding": None}], "16 were expected"),
        ([{}], "16 were expected"),
        ([{"embedding": encoded([math.nan] * 16)}], "NaN, infinity or only zeros"),
        ([{"embedding": encoded([math.inf] + [0.0] * 15)}], "NaN, infinity or only zeros"),
        ([{"embedding": [1e300] * 16}], "NaN, infinity or only zeros"),
        ([{"embedding": [0.0] * 16}], "NaN, infinity or only zeros"),
        ([{"embedding": "?" * 8}], "cannot be read"),
        ([{"embedding": "AAAA"}], "cannot be read"),
        ([{"embedding": ["a"] * 16}], "cannot be read"),
        ([{"embedding": {"x": 1}}], "cannot be read"),
        ([{"index": 1, "embedding": encoded([1.0] * 16)}], "`index` is wrong"),
        ([{"index": [], "embedding": encoded([1.0] * 16)}], "`index` is wrong"),
        (["text"], "no list of objects"),
        ({"embedding": encoded([1.0] * 16)}, "no list of objects"),
    ],
)
async def test_vectors_of_no_use_are_refused(
    outer: OuterEmbeddings, data: Any, complaint: str
) -> None:
    async with client_of(outer.url) as embedder:
        await embedder.describe()
        outer.next_answers.append(Answer({"data": data}))
        with pytest.raises(EmbedderRefused, match=complaint):
            await embedder.embed_documents(["a"])
        assert not outer.next_answers


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (Answer(b"<html>busy</html>"), "not JSON"),
        (Answer(b""), "not JSON"),
        (Answer([1, 2]), "not an object"),
        (Answer(b"\x00\x01", headers={"content-encoding": "gzip"}), "cannot be unpacked"),
        (
            Answer({"error": {"message": "no such model"}}, 404),
            "MEMORY_EMBEDDING_URL and .*: the embedding server answered 404: no such model",
        ),
        (Answer({"error": "input too long"}, 400), "answered 400: input too long"),
        (Answer(b"nginx", 401), "at MEMORY_EMBEDDING_API_KEY: the .* answered 401: nginx"),
        (Answer(b"", 301, {"location": "https://x/v1"}), "answered 301, .* leads: https://x/v1"),
        (Answer({"error": {"message": "no credit"}}), "answered 200 with an error: no credit"),
        (Answer({"error": {"code": 429}, "data": None}), 'with an error: {"error": {"code": 429}'),
    ],
)
async def test_answers_of_no_use_are_refused_at_once(
    outer: OuterEmbeddings, answer: Answer, complaint: str
) -> None:
    async with client_of(outer.url) as embedder:
        await embedder.describe()
        outer.next_answers.append(answer)
        with pytest.raises(EmbedderRefused, match=complaint):
            await embedder.embed_documents(["a"])
        assert asked_inputs(outer).count(["a"]) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504])
async def test_a_busy_server_is_asked_again_after_a_growing_rest(
    outer: OuterEmbeddings, rests: list[float], status: int
) -> None:
    async with client_of(outer.url) as embedder:
        await embedder.describe()
        outer.requests.clear()
        outer.next_answers.extend([Answer({"error": "busy"}, status)] * 2)
        [vector] = await embedder.embed_documents(["a"])
    assert is_unit_of(vector, "a")
    assert len(outer.requests) == 3
    assert rests == pytest.approx([0.2, 0.6])


async def test_the_server_says_how_long_to_wait(outer: OuterEmbeddings, rests: list[float]) -> None:
    async with client_of(outer.url) as embedder:
        await embedder.describe()
        outer.requests.clear()
        outer.next_answers.extend([Answer(b"", 429, {"retry-after": s}) for s in ("0.7", "60")])
        await embedder.embed_documents(["a"])
    assert len(outer.requests) == 3
    assert rests == [0.7, 5]


async def test_a_server_may_forbid_to_ask_again(outer: OuterEmbeddings) -> None:
    async with client_of(outer.url) as embedder:
        await embedder.describe()
        outer.next_answers.append(Answer(b"full", 503, {"x-should-retry": "false"}))
        with pytest.raises(EmbedderRefused, match="answered 503: full"):
            await embedder.embed_documents(["a"])
        assert asked_inputs(outer).count(["a"]) == 1


async def test_a_server_that_stays_busy_is_unavailable(outer: OuterEmbeddings) -> None:
    hasty = Answer({"error": {"message": "busy"}}, 503, {"retry-after": "0.01"})
    async with client_of(outer.url) as embedder:
        await embedder.describe()
        outer.requests.clear()
        outer.next_answers.extend([hasty] * 9)
        with pytest.raises(EmbedderUnavailable, match="answered 503: busy"):
            await embedder.embed_documents(["a"])
        assert len(outer.requests) == 4
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_query("a")
        assert len(outer.requests) == 6


async def test_after_a_refused_connection_nobody_is_asked_for_a_moment() -> None:
    port = free_port()
    resting = Breaker(first_rest_seconds=60)
    async with client_of(f"http://127.0.0.1:{port}", resting) as embedder:
        told = "No embedding server answers at http.*: start it, or set MEMORY_EMBEDDING_URL"
        with pytest.raises(EmbedderUnavailable, match=told):
            await embedder.embed_query("a")
        with outer_embeddings(port) as outer:
            with pytest.raises(EmbedderUnavailable, match="did not answer a moment ago"):
                await embedder.embed_documents(["a"])
            assert outer.requests == []


async def test_a_server_that_comes_back_is_found_again() -> None:
    port = free_port()
    async with client_of(f"http://127.0.0.1:{port}") as embedder:
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_query("a")
        with outer_embeddings(port):
            await asyncio.sleep(1.1)
            assert is_unit_of(await embedder.embed_query("a"), "a")


async def test_a_foreign_server_gets_the_instruction_as_a_prompt(outer: OuterEmbeddings) -> None:
    async with client_of(outer.url, instruction="Find the note", dimensions=16) as embedder:
        await embedder.embed_query("where?")
        await embedder.embed_documents(["here", "x" * 40_000])
    _, query, documents = [a.body for a in outer.requests if a.path == "/v1/embeddings"]
    assert query["input"] == ["Instruct: Find the note\nQuery:where?"]
    assert [len(text) for text in documents["input"]] == [4, 30_000]
    assert (query["dimensions"], query["encoding_format"]) == (16, "base64")
    assert not {"input_type", "instruction", "truncate"} & (query.keys() | documents.keys())


async def test_our_own_server_is_told_what_is_a_question(outer: OuterEmbeddings) -> None:
    outer.owned_by = "graph-memory"
    async with client_of(outer.url, instruction="Find the note") as embedder:
        await embedder.embed_query("where?")
        await embedder.embed_documents(["here"])
    _, _, query, documents = [a.body for a in outer.requests if a.path == "/v1/embeddings"]
    assert (query["input"], query["input_type"]) == (["where?"], "query")
    assert query["instruction"] == "Find the note"
    assert (documents["input_type"], documents["truncate"]) == ("document", True)
    assert "instruction" not in documents


@pytest.mark.parametrize("url", ["http://", "http://ann:word@127.0.0.1:{port}"])
async def test_an_address_that_cannot_be_used_is_told(outer: OuterEmbeddings, url: str) -> None:
    port = outer.url.rpartition(":")[2]
    async with client_of(url.format(port=port), api_key="another") as embedder:
        with pytest.raises(EmbedderRefused, match="MEMORY_EMBEDDING_URL cannot be used"):
            await embedder.describe()


async def test_an_instruction_that_the_model_does_not_take_is_told_at_once(
    embedding_url: str,
) -> None:
    async with client_of(embedding_url, instruction="Find the note") as embedder:
        with pytest.raises(EmbedderRefused, match="takes no 'instruction'"):
            await embedder.describe()


async def test_our_own_server_is_known_by_a_name_that_it_does_not_list(
    outer: OuterEmbeddings,
) -> None:
    outer.owned_by = "graph-memory"
    named = f"somebody/{outer.model}"
    async with client_of(outer.url, model=named, instruction="Find the note") as embedder:
        await embedder.embed_query("where?")
    asked = [a.body for a in outer.requests if a.path == "/v1/embeddings"][-1]
    assert (asked["model"], asked["input"]) == (named, ["where?"])
    assert (asked["input_type"], asked["instruction"]) == ("query", "Find the note")


@pytest.mark.parametrize("name", [7, ["a"], {"b": 1}, None])
async def test_a_name_of_a_model_that_is_none_is_refused(
    outer: OuterEmbeddings, name: object
) -> None:
    outer.model = name  # type: ignore[assignment]
    async with client_of(outer.url) as embedder:
        with pytest.raises(EmbedderRefused, match="set MEMORY_EMBEDDING_MODEL"):
            await embedder.describe()


async def test_the_model_is_the_configured_or_the_first_listed(outer: OuterEmbeddings) -> None:
    async with client_of(outer.url) as embedder:
        model, _ = await embedder.describe()
        assert (model.name, model.dimensions) == ("outer-model", 16)
        assert model.fingerprint == "outer-model/16/default"
    async with client_of(outer.url, model="unlisted-model") as embedder:
        assert (await embedder.describe())[0].name == "unlisted-model"
    outer.model = ""
    async with client_of(outer.url) as embedder:
        with pytest.raises(EmbedderRefused, match="set MEMORY_EMBEDDING_MODEL"):
            await embedder.describe()


async def test_an_error_in_place_of_the_list_of_models_is_told(outer: OuterEmbeddings) -> None:
    outer.listed = Answer({"error": {"message": "unknown project"}})
    async with client_of(outer.url) as embedder:
        with pytest.raises(EmbedderRefused, match="answered 200 with an error: unknown project"):
            await embedder.describe()


async def test_a_named_model_needs_no_list_of_models(outer: OuterEmbeddings) -> None:
    # Text Embeddings Inference serves no /v1/models.
    outer.lists_models = False
    async with client_of(outer.url, model="outer-model") as embedder:
        assert (await embedder.describe())[0].dimensions == outer.dimensions
    async with client_of(outer.url) as embedder:
        with pytest.raises(EmbedderRefused):
            await embedder.describe()


def gzipped(size: int) -> bytes:
    return gzip.compress(bytes(size))


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (Answer(b"[" * 3_000_000), "has more than 1,000,512 bytes"),
        (Answer(b"{}", announced_bytes=10**12), "has more than 1,000,512 bytes"),
        (Answer(gzipped(30_000_000), headers={"content-encoding": "gzip"}), "has more than"),
        (Answer(gzipped(9)[:-4], headers={"content-encoding": "gzip"}), "cannot be unpacked"),
        (Answer(b"?", headers={"content-encoding": "br"}), "packed by 'br'"),
        (Answer(b"[" * 900_000), "not JSON"),
        (Answer(b"", 307, {"location": "/v1/embeddings"}), "answered 307"),
    ],
)
async def test_an_answer_beyond_its_bounds_is_refused(
    outer: OuterEmbeddings, answer: Answer, complaint: str
) -> None:
    async with client_of(outer.url) as embedder:
        await embedder.describe()
        outer.next_answers.append(answer)
        with pytest.raises(EmbedderRefused, match=complaint):
            await embedder.embed_documents(["a"])
        # The connection is of no use any more, the next one is.
        assert is_unit_of((await embedder.embed_documents(["a"]))[0], "a")


async def test_an_answer_that_drips_ends_with_its_time(outer: OuterEmbeddings) -> None:
    async with client_of(outer.url, timeout_seconds=0.8) as embedder:
        await embedder.describe()
        good = outer.embeddings(["a"]).body
        outer.next_answers.append(Answer(good, drips_seconds=0.05))
        started = time.monotonic()
        # Something else is embedded: it lies in this text.
        with pytest.raises(EmbedderRefused, match=r"did not answer within 0\.8 s"):
            await embedder.embed_documents(["a"])
        assert time.monotonic() - started < 5


async def test_of_long_texts_it_is_told_how_many_were_cut(
    outer: OuterEmbeddings, embedding_url: str
) -> None:
    """Ours says so, for it reads 8,192 words; a foreign one is sent no more than 30,000 letters."""
    words = ["a " * 8192, "a " * 8193, "short", "a " * 9000]
    letters = ["a" * 30_000, "a" * 30_001, "short"]
    for url, texts, cut in ((embedding_url, words, 2), (outer.url, letters, 1)):
        async with client_of(url, batch_size=2) as embedder:
            made = await embedder.embed_some(texts, Patience(20.0))
            assert (len(made.vectors), made.failure, made.cut) == (len(texts), None, cut)


async def test_a_call_that_runs_out_of_time_says_nothing_of_the_server(
    outer: OuterEmbeddings,
) -> None:
    breaker, texts = Breaker(), [f"text {n}" for n in range(8)]

    async def embed(embedder: Embedder) -> tuple[int, str]:
        made, failure, _ = await embedder.embed_some(texts, Patience(1.0, 1.0))
        assert failure is not None
        return len(made), failure.detail

    async with client_of(outer.url, breaker, batch_size=1) as embedder:
        await embedder.describe()
        outer.before_answering = lambda: time.sleep(0.3)
        for made, told in await asyncio.gather(*[embed(embedder) for _ in range(3)]):
            assert 0 < made < len(texts)
            assert told == "There was no time left for the embedding server."
        assert not breaker.is_open
        # One that has all its time and is not answered does.
        outer.before_answering = lambda: time.sleep(1.5)
        for made, told in await asyncio.gather(*[embed(embedder) for _ in range(2)]):
            assert (made, "did not answer within 1.0 s" in told) == (0, True)
        assert breaker.is_open


async def test_a_rest_that_is_longer_than_the_time_left_is_not_taken(
    outer: OuterEmbeddings, rests: list[float]
) -> None:
    async with client_of(outer.url, query_seconds=1.0) as embedder:
        await embedder.describe()
        outer.next_answers.append(Answer(b"busy", 429, {"retry-after": "2"}))
        with pytest.raises(EmbedderUnavailable, match="answered 429: busy"):
            await embedder.embed_query("a")
    assert rests == []


async def test_a_server_that_refuses_everything_is_not_asked_for_each_text(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        opened.embeddings.requests.clear()
        opened.embeddings.next_answers.extend([Answer(b"no", 401)] * 99)
        with pytest.raises(EmbedderForbids, match="401"):
            await opened.vectors.embed_each([f"text {n}" for n in range(8)])
        # The batch, and the canary.
        assert len(opened.embeddings.requests) == 2


@contextmanager
def serving_tls(folder: Path) -> Iterator[str]:
    """Answer no request, but the handshakes of a server whose certificate nobody vouches for."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
         "/CN=127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with suppress(OSError):
                    context.wrap_socket(connection, server_side=True).close()

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="NOT TRIED: openssl is not installed")
async def test_a_server_whose_certificate_is_not_good_is_away(tmp_path: Path) -> None:
    with serving_tls(tmp_path) as url:
        async with client_of(url, Breaker(first_rest_seconds=60)) as embedder:
            for _ in range(4):
                with pytest.raises(EmbedderUnavailable, match=r"is not trusted .*self-signed"):
                    await embedder.embed_query("a")
            with pytest.raises(EmbedderUnavailable, match="is left alone"):
                await embedder.embed_query("a")
