"""The official openai client against the real server with the real MiniLM."""

import asyncio
import struct
from base64 import b64decode
from typing import Literal

import httpx
import numpy as np
import openai
import pytest
from numpy.typing import NDArray
from openai import AsyncOpenAI, Omit, OpenAI, omit

MODEL = "all-MiniLM-L6-v2"
CAT = "My cat sleeps on the sofa and purrs."
FINANCE = "The central bank raised interest rates by half a percentage point."


def embed(
    client: OpenAI,
    texts: str | list[str],
    *,
    dimensions: int | Omit = omit,
    encoding_format: Literal["float", "base64"] | Omit = omit,
    **extra: object,
) -> NDArray[np.float32]:
    answer = client.embeddings.create(
        model=MODEL,
        input=texts,
        dimensions=dimensions,
        encoding_format=encoding_format,
        extra_body=extra,
    )
    return np.array([item.embedding for item in answer.data], dtype=np.float32)


def post(url: str, **body: object) -> httpx.Response:
    return httpx.post(f"{url}/v1/embeddings", json={"model": MODEL, **body}, timeout=60)


def cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosine of each row with its counterpart; the rows are of unit length."""
    products: NDArray[np.float32] = np.sum(left * right, axis=1)
    return products


def test_client_defaults_get_unit_vectors_of_the_models_length(openai_client: OpenAI) -> None:
    answer = openai_client.embeddings.create(model=MODEL, input=[CAT, FINANCE])
    assert answer.object == "list"
    assert answer.model == MODEL
    assert [(item.index, item.object) for item in answer.data] == [
        (0, "embedding"),
        (1, "embedding"),
    ]
    vectors = np.array([item.embedding for item in answer.data])
    assert vectors.shape == (2, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_a_single_string_gives_one_vector(openai_client: OpenAI) -> None:
    np.testing.assert_array_equal(embed(openai_client, CAT), embed(openai_client, [CAT]))


def test_base64_and_float_carry_the_same_numbers(minilm_url: str, openai_client: OpenAI) -> None:
    plain = post(minilm_url, input=CAT, encoding_format="float").json()
    coded = post(minilm_url, input=CAT, encoding_format="base64").json()
    numbers = struct.unpack("<384f", b64decode(coded["data"][0]["embedding"]))
    np.testing.assert_array_equal(
        np.array(plain["data"][0]["embedding"], dtype=np.float32),
        np.array(numbers, dtype=np.float32),
    )
    asked = embed(openai_client, CAT, encoding_format="float")
    np.testing.assert_array_equal(asked[0], np.array(numbers, dtype=np.float32))
    assert plain["usage"] == coded["usage"]


def test_float_is_the_default_on_the_wire(minilm_url: str) -> None:
    body = post(minilm_url, input=CAT, encoding_format=None, user="someone", unknown=1).json()
    assert set(body) == {"object", "data", "model", "usage"}
    assert set(body["data"][0]) == {"object", "index", "embedding"}
    assert all(isinstance(number, float) for number in body["data"][0]["embedding"])


def test_usage_counts_the_models_own_tokens(openai_client: OpenAI) -> None:
    # [CLS] hello world [SEP], and [CLS] em ##bed ##ding [SEP].
    answer = openai_client.embeddings.create(model=MODEL, input=["hello world", "embedding"])
    assert answer.usage.prompt_tokens == 4 + 5
    assert answer.usage.total_tokens == answer.usage.prompt_tokens


def test_a_query_is_nearer_to_its_subject(openai_client: OpenAI) -> None:
    query = embed(openai_client, "Do cats purr?", input_type="query")[0]
    cat, finance = embed(openai_client, [CAT, FINANCE], input_type="passage")
    assert query @ cat > 0.5
    assert query @ finance < 0.2


def test_a_batch_gives_the_vectors_of_single_texts(openai_client: OpenAI) -> None:
    texts = [("word " * length) + str(length) for length in (1, 40, 3, 120, 7, 200, 2, 90, 15, 60)]
    together = embed(openai_client, texts)
    alone = np.vstack([embed(openai_client, text) for text in texts])
    assert cosines(together, alone).min() > 0.9999


def test_every_client_gets_its_own_vectors_in_order(minilm_url: str, openai_client: OpenAI) -> None:
    topics = ("cats", "banks", "rockets", "bread", "violins", "glaciers", "chess", "tides")
    requests = [
        [f"Fact {number} about {topic}." + " More." * (number * 7 % 40) for topic in topics[:size]]
        for number, size in enumerate([1, 8, 2, 5, 1, 1, 7, 3] * 4)
    ]

    async def ask_all() -> list[NDArray[np.float32]]:
        async with AsyncOpenAI(base_url=f"{minilm_url}/v1", api_key="unused") as client:
            answers = await asyncio.gather(
                *(client.embeddings.create(model=MODEL, input=texts) for texts in requests)
            )
        for answer in answers:
            assert [item.index for item in answer.data] == list(range(len(answer.data)))
        return [np.array([item.embedding for item in answer.data]) for answer in answers]

    concurrent = np.vstack(asyncio.run(ask_all()))
    distinct = [text for texts in requests for text in texts]
    assert cosines(concurrent, embed(openai_client, distinct)).min() > 0.9999


def test_a_long_list_goes_through_many_batches_in_order(openai_client: OpenAI) -> None:
    texts = [f"item {number}" for number in range(100)]
    vectors = embed(openai_client, texts)
    assert vectors.shape == (100, 384)
    picked = [0, 13, 57, 99]
    alone = np.vstack([embed(openai_client, texts[number]) for number in picked])
    assert cosines(vectors[picked], alone).min() > 0.9999
    # Each is itself and no neighbour: the order is not only right by similarity of all items.
    assert (vectors[picked] @ vectors.T).argmax(axis=1).tolist() == picked


def test_models_are_listed_and_found_by_every_name(openai_client: OpenAI) -> None:
    listed = openai_client.models.list().data
    assert [(model.id, model.object) for model in listed] == [(MODEL, "model")]
    found = openai_client.models.retrieve(f"sentence-transformers/{MODEL}")
    assert found.id == MODEL
    assert found.to_dict()["dimensions"] == 384
    assert found.to_dict()["max_model_len"] == 256


def test_health_names_the_model(minilm_url: str) -> None:
    answer = httpx.get(f"{minilm_url}/health")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "model": MODEL,
        "dimensions": 384,
        "device": "cpu",
    }


def test_paths_without_v1_answer_as_well(minilm_url: str) -> None:
    answer = httpx.post(f"{minilm_url}/embeddings", json={"model": MODEL, "input": CAT})
    assert len(answer.json()["data"][0]["embedding"]) == 384
    assert httpx.get(f"{minilm_url}/models").json()["data"][0]["id"] == MODEL


def test_dimensions_are_only_the_models_own(openai_client: OpenAI) -> None:
    assert embed(openai_client, CAT, dimensions=384).shape == (1, 384)
    with pytest.raises(openai.BadRequestError, match="only 384") as caught:
        embed(openai_client, CAT, dimensions=256)
    assert caught.value.param == "dimensions"


def test_an_instruction_needs_a_model_that_takes_one(openai_client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="takes no 'instruction'") as caught:
        embed(openai_client, CAT, instruction="Find cats")
    assert caught.value.param == "instruction"


def test_a_long_text_is_refused_with_its_length(openai_client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="'input\\[1\\]' has 302 tokens") as caught:
        embed(openai_client, [CAT, "word " * 300])
    assert caught.value.param == "input"
    assert caught.value.code == "context_length_exceeded"


def test_a_long_text_is_cut_on_request_and_the_answer_says_so(minilm_url: str) -> None:
    body = post(minilm_url, input=[CAT, "word " * 300, "cat " * 254], truncate=True).json()
    assert body["truncated"] == [1]
    short = post(minilm_url, input=["word " * 254], truncate=True).json()
    assert "truncated" not in short
    assert short["usage"]["prompt_tokens"] == 256
    cut, whole = (
        np.array(answer["data"][row]["embedding"]) for answer, row in ((body, 1), (short, 0))
    )
    assert cut @ whole > 0.9999


def test_an_unknown_model_is_not_found(openai_client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        openai_client.embeddings.create(model="text-embedding-3-small", input=CAT)
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.NotFoundError) as caught:
        openai_client.models.retrieve("some/other")
    assert caught.value.code == "model_not_found"


def test_token_ids_are_refused_with_the_way_out(openai_client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="check_embedding_ctx_length=False"):
        openai_client.embeddings.create(model=MODEL, input=[[57668, 53901]])
    with pytest.raises(openai.BadRequestError, match="check_embedding_ctx_length=False"):
        openai_client.embeddings.create(model=MODEL, input=[57668, 53901])
