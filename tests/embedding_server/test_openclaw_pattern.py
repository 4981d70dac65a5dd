"""Two clients as they are: OpenClaw's request pattern, and openai-python with its defaults."""

import asyncio
import json
import math
from collections.abc import Iterator, Sequence
from random import Random

import httpx
import numpy as np
import openai
import pytest
from numpy.typing import NDArray
from openai import AsyncOpenAI, DefaultHttpxClient, OpenAI

MODEL = "all-MiniLM-L6-v2"
# OpenClaw fills a request with chunks until their UTF-8 bytes reach this, four requests at once.
REQUEST_BYTES = 8000
REQUESTS_AT_ONCE = 4
SENTENCE = (
    "the agent wrote a note about its port and restarted the server after the disk was full so "
    "that every test could run again before the release went out on friday evening with two fixes"
)
WORDS = SENTENCE.split()
Vectors = NDArray[np.float32]


def make_chunks(count: int, characters: int) -> list[str]:
    """Return notes of about this length, some in Korean, as a memory folder gives them."""
    chooser = Random(5)
    chunks = []
    for number in range(count):
        length = chooser.randint(characters // 2, characters)
        words, text = (
            ["회의", "기록을", "저장했다"] if number % 9 == 8 else WORDS,
            f"# Note {number}\n",
        )
        while len(text) < (length // 4 if number % 9 == 8 else length):
            text += chooser.choice(words) + " "
        chunks.append(text)
    return chunks


def pack(chunks: Sequence[str]) -> Iterator[list[str]]:
    """Yield the chunks in requests, each as full as it may be."""
    request: list[str] = []
    for chunk in chunks:
        if request and sum(len(c.encode()) for c in [*request, chunk]) > REQUEST_BYTES:
            yield request
            request = []
        request.append(chunk)
    yield request


def read_strictly(answer: httpx.Response, count: int) -> list[list[float]]:
    """Return the vectors as OpenClaw takes them: nothing missing, no base64, no doubt about order.

    Fails on anything at which that client gives up.
    """
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/json")
    data = json.loads(answer.text, parse_constant=pytest.fail)["data"]
    assert isinstance(data, list)
    assert len(data) == count
    vectors: list[list[float]] = [[]] * count
    assert sorted(item["index"] for item in data) == list(range(count))
    for item in data:
        assert isinstance(item["embedding"], list)
        assert item["embedding"]
        assert all(type(number) is float and math.isfinite(number) for number in item["embedding"])
        vectors[item["index"]] = item["embedding"]
    return vectors


async def ask(client: httpx.AsyncClient, texts: list[str], input_type: str) -> list[list[float]]:
    body = {"model": MODEL, "input": texts, "input_type": input_type}
    return read_strictly(await client.post("/v1/embeddings", json=body), len(texts))


async def index_and_search(url: str, chunks: Sequence[str], query: str) -> tuple[Vectors, Vectors]:
    """Do what OpenClaw does: probe, index all chunks, then ask; returns both kinds of vectors."""
    headers = {"authorization": "Bearer k"}
    gate = asyncio.Semaphore(REQUESTS_AT_ONCE)
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=120) as client:
        assert len(await ask(client, ["ping"], "passage")) == 1

        async def index(texts: list[str]) -> list[list[float]]:
            async with gate:
                return await ask(client, texts, "passage")

        found = await asyncio.gather(*(index(texts) for texts in pack(chunks)))
        query_vectors = await ask(client, [query], "query")
    passages = [vector for vectors in found for vector in vectors]
    return np.array(passages, dtype=np.float32), np.array(query_vectors, dtype=np.float32)


@pytest.fixture(scope="module")
def client(minilm_url: str) -> Iterator[OpenAI]:
    """Yield the official client with nothing set that a user would not set."""
    with OpenAI(base_url=f"{minilm_url}/v1", api_key="k") as client:
        yield client


def embed(client: OpenAI, texts: list[str]) -> Vectors:
    answer = client.embeddings.create(model=MODEL, input=texts)
    return np.array([item.embedding for item in answer.data], dtype=np.float32)


def test_openclaw_indexes_a_folder_and_finds_a_note(minilm_url: str, client: OpenAI) -> None:
    chunks = make_chunks(60, 1000)
    chunks[37] = "# Cats\nMy cat sleeps on the sofa and purrs."
    requests = list(pack(chunks))
    assert len(requests) > REQUESTS_AT_ONCE
    assert all(sum(len(text.encode()) for text in texts) <= REQUEST_BYTES for texts in requests)
    passages, query = asyncio.run(index_and_search(minilm_url, chunks, "Which animal purrs?"))
    assert int((passages @ query[0]).argmax()) == 37
    np.testing.assert_allclose(np.linalg.norm(passages, axis=1), 1.0, atol=1e-6)
    # Whatever shared a batch with it, each chunk has the vector that it has alone.
    alone = np.vstack([embed(client, [chunks[place]]) for place in (0, 8, 37, 59)])
    assert np.sum(alone * passages[[0, 8, 37, 59]], axis=1).min() > 0.9999


def test_many_short_chunks_fill_a_request(minilm_url: str) -> None:
    chunks = [f"- item {number}" for number in range(700)]
    assert max(len(texts) for texts in pack(chunks)) > 500
    passages, query = asyncio.run(index_and_search(minilm_url, chunks, "item 123"))
    assert passages.shape == (700, 384)
    assert int((passages @ query[0]).argmax()) == 123


def test_forty_two_inputs_in_one_request(minilm_url: str) -> None:
    """The request at which an earlier server of this kind failed: more texts than one batch."""
    chunks = make_chunks(42, 1000)
    body = {"model": MODEL, "input": chunks, "input_type": "passage"}
    answer = httpx.post(f"{minilm_url}/v1/embeddings", json=body, timeout=120)
    vectors = np.array(read_strictly(answer, 42), dtype=np.float32)
    assert np.unique(vectors, axis=0).shape == (42, 384)


def test_openai_defaults_ask_for_base64_and_get_it(minilm_url: str) -> None:
    seen: list[tuple[bytes, bytes]] = []
    hooks = {"response": [lambda answer: seen.append((answer.request.content, answer.read()))]}
    http = DefaultHttpxClient(event_hooks=hooks)
    with OpenAI(base_url=f"{minilm_url}/v1", api_key="k", http_client=http) as client:
        answer = client.embeddings.create(model=MODEL, input="ping")
    [(asked, answered)] = seen
    assert json.loads(asked)["encoding_format"] == "base64"
    assert isinstance(json.loads(answered)["data"][0]["embedding"], str)
    assert len(answer.data[0].embedding) == 384
    assert answer.usage.total_tokens == 3


def test_openai_gives_up_at_once_on_what_would_fail_again(minilm_url: str) -> None:
    statuses: list[int] = []
    hooks = {"response": [lambda answer: statuses.append(answer.status_code)]}
    http = DefaultHttpxClient(event_hooks=hooks)
    with (
        OpenAI(base_url=f"{minilm_url}/v1", api_key="k", http_client=http) as client,
        pytest.raises(openai.BadRequestError),
    ):
        client.embeddings.create(model=MODEL, input=[""])
    assert statuses == [400]


def test_thirty_two_asynchronous_calls_get_their_own_vectors(
    minilm_url: str, client: OpenAI
) -> None:
    texts = [f"{WORDS[number]} and {number} " + "more " * (number * 5) for number in range(32)]

    async def ask_all() -> list[list[float]]:
        async with AsyncOpenAI(base_url=f"{minilm_url}/v1", api_key="k") as many:
            answers = await asyncio.gather(
                *(many.embeddings.create(model=MODEL, input=text) for text in texts)
            )
        return [answer.data[0].embedding for answer in answers]

    together = np.array(asyncio.run(ask_all()), dtype=np.float32)
    one_by_one = np.vstack([embed(client, [text]) for text in texts])
    assert np.sum(together * one_by_one, axis=1).min() > 0.9999
