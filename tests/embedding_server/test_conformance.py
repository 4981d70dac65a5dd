"""The official openai client against the real server with the real MiniLM.

Where the model does not matter, the encoder without weights answers; where one has to fail, one
that does so on purpose.
"""

import asyncio
import struct
from base64 import b64decode
from collections.abc import Iterator
from threading import Event
from typing import Any, Literal

import httpx
import numpy as np
import openai
import pytest
from numpy.typing import NDArray
from openai import AsyncOpenAI, Omit, OpenAI, omit

from embedding_server.app import create_app
from embedding_server.encoder import Encoder
from embedding_server.encoders import hashing
from embedding_server.settings import Settings
from embedding_server.web.body_limit import MAX_BODY_BYTES
from tests.embedding_server.edge import FAILING, GatedEncoder, read_metrics, serve_gated, wait_until
from tests.embedding_server.edge import NAME as GATED
from tests.embedding_server.running import serve, wait_until_ready

MODEL = "all-MiniLM-L6-v2"
CAT = "My cat sleeps on the sofa and purrs."
FINANCE = "The central bank raised interest rates by half a percentage point."


@pytest.fixture(scope="module")
def hashing_client(hashing_url: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{hashing_url}/v1", api_key="unused", max_retries=0) as client:
        yield client


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


@pytest.mark.parametrize("path", ["/v1/embeddings", "/embeddings"])
def test_langchains_default_body_is_refused_with_the_way_out(minilm_url: str, path: str) -> None:
    body = {"input": [[57668, 53901]], "model": MODEL, "encoding_format": "base64"}
    answer = httpx.post(f"{minilm_url}{path}", json=body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["param"] == "input"
    assert "OpenAIEmbeddings(check_embedding_ctx_length=False)" in error["message"]


@pytest.mark.parametrize("ids", [[57668, 53901], [[57668, 53901]], [[101], [102, 103]]])
def test_token_ids_of_whatever_tokenizer_are_refused(openai_client: OpenAI, ids: Any) -> None:
    with pytest.raises(openai.BadRequestError, match="check_embedding_ctx_length=False") as caught:
        openai_client.embeddings.create(model=MODEL, input=ids)
    assert caught.value.param == "input"


def test_the_clients_default_is_base64_on_the_wire(openai_client: OpenAI) -> None:
    raw = openai_client.embeddings.with_raw_response.create(model=MODEL, input=CAT)
    assert raw.headers["content-type"] == "application/json"
    coded = raw.http_response.json()["data"][0]["embedding"]
    assert isinstance(coded, str)
    numbers = raw.parse().data[0].embedding
    np.testing.assert_array_equal(
        np.frombuffer(b64decode(coded), "<f4"), np.array(numbers, dtype=np.float32)
    )


def test_2048_inputs_are_answered_and_2049_refused(hashing_client: OpenAI) -> None:
    texts = [f"text {number}" for number in range(2049)]
    answer = hashing_client.embeddings.create(model=hashing.NAME, input=texts[:2048])
    assert [item.index for item in answer.data] == list(range(2048))
    assert answer.usage.prompt_tokens == answer.usage.total_tokens == 2 * 2048
    with pytest.raises(openai.BadRequestError, match="2049 texts; at most 2048") as caught:
        hashing_client.embeddings.create(model=hashing.NAME, input=texts)
    assert caught.value.param == "input"


@pytest.mark.parametrize("empty", ["", [], [""], ["a", ""]])
def test_empty_input_is_refused(openai_client: OpenAI, empty: str | list[str]) -> None:
    with pytest.raises(openai.BadRequestError, match="must not be an empty") as caught:
        openai_client.embeddings.create(model=MODEL, input=empty)
    assert (caught.value.param, caught.value.type) == ("input", "invalid_request_error")


def test_fields_of_other_servers_and_nulls_are_ignored(openai_client: OpenAI) -> None:
    extra = {
        "encoding_format": None,
        "dimensions": None,
        "user": None,
        "input_type": None,
        "instruction": None,
        "truncate": None,
        "truncate_prompt_tokens": 5,
        "prompt_name": "query",
        "normalize": False,
        "add_special_tokens": [1, {"nested": None}],
    }
    answer = openai_client.embeddings.create(model=MODEL, input=CAT, extra_body=extra)
    assert np.array(answer.data[0].embedding) @ embed(openai_client, CAT)[0] > 0.9999


def test_shorter_vectors_are_cut_and_of_unit_length() -> None:
    settings = Settings(model=MODEL, device="cpu", min_dimensions=32)
    with serve(create_app(settings)) as url:
        wait_until_ready(url)
        with OpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0) as client:
            whole = embed(client, [CAT, FINANCE])
            for dimensions in (32, 100, 384):
                for cut in (
                    embed(client, [CAT, FINANCE], dimensions=dimensions),
                    embed(client, [CAT, FINANCE], dimensions=dimensions, encoding_format="float"),
                ):
                    expected = whole[:, :dimensions]
                    expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
                    assert cut.shape == (2, dimensions)
                    np.testing.assert_allclose(np.linalg.norm(cut, axis=1), 1.0, atol=1e-6)
                    np.testing.assert_allclose(cut, expected, atol=1e-5)
            for dimensions in (-1, 0, 1, 31, 385):
                with pytest.raises(openai.BadRequestError) as caught:
                    embed(client, CAT, dimensions=dimensions)
                assert caught.value.param == "dimensions"


def test_inputs_of_8000_bytes_in_four_parallel_requests(hashing_url: str) -> None:
    sentence = "A note of some length about nothing in particular. "
    texts = [(f"{number}. " + sentence * 16)[:800] for number in range(10)]

    async def ask_all() -> list[int]:
        async with AsyncOpenAI(base_url=f"{hashing_url}/v1", api_key="unused") as client:
            asked = [client.embeddings.create(model=hashing.NAME, input=texts) for _ in range(4)]
            return [len(answer.data) for answer in await asyncio.gather(*asked)]

    assert asyncio.run(ask_all()) == [10, 10, 10, 10]


AS_JSON: dict[str, Any] = {"headers": {"Content-Type": "application/json"}}
FAILURES: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "no such path": ("GET", "/v1/completions", {}, 404),
    "no such model": ("GET", "/v1/models/some/other", {}, 404),
    "wrong method": ("GET", "/v1/embeddings", {}, 405),
    "too large": (
        "POST",
        "/v1/embeddings",
        AS_JSON | {"content": b" " * (MAX_BODY_BYTES + 1)},
        413,
    ),
    "no fields": ("POST", "/v1/embeddings", {"json": {}}, 400),
    "wrong types": ("POST", "/v1/embeddings", {"json": {"model": 1, "input": 1}}, 400),
    "no JSON": ("POST", "/v1/embeddings", AS_JSON | {"content": b"model=a&input=b"}, 400),
    "a form": ("POST", "/v1/embeddings", {"content": b"model=a&input=b"}, 415),
    "another host": ("GET", "/v1/models", {"headers": {"Host": "evil.example"}}, 421),
    "a page": ("GET", "/v1/models", {"headers": {"Origin": "http://evil.example"}}, 403),
    "model fails": ("POST", "/v1/embeddings", {"json": {"model": GATED, "input": "666"}}, 500),
    "defect": ("POST", "/v1/embeddings", {"json": {"model": GATED, "input": "broken"}}, 500),
}


@pytest.mark.parametrize("case", FAILURES)
def test_every_failure_has_the_four_fields(case: str) -> None:
    method, path, content, status = FAILURES[case]
    with serve_gated() as (url, _):
        answer = httpx.request(method, f"{url}{path}", timeout=60, **content)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == ("invalid_request_error" if status < 500 else "server_error")
    assert isinstance(error["message"], str)
    assert all(error[field] is None or isinstance(error[field], str) for field in error)


def test_the_client_does_not_repeat_what_would_fail_again() -> None:
    with serve_gated() as (url, _):
        with OpenAI(base_url=f"{url}/v1", api_key="unused") as client:
            assert client.max_retries == 2
            with pytest.raises(openai.InternalServerError) as caught:
                client.embeddings.create(model=GATED, input=f"1 {FAILING}")
        assert caught.value.response.headers["x-should-retry"] == "false"
        assert (caught.value.param, caught.value.code) == ("input", "embedding_failed")
        assert read_metrics(url)['requests_total{status="500"}'] == 1


def test_the_client_waits_for_a_model_that_loads() -> None:
    may_open = Event()

    def open_late(_settings: Settings) -> Encoder:
        may_open.wait()
        return GatedEncoder()

    with serve(create_app(Settings(), open_late)) as url:
        try:
            answer = httpx.get(f"{url}/v1/models")
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
            assert answer.json()["error"]["code"] == "model_loading"
            wait_until(lambda: read_metrics(url)['requests_total{status="503"}'] == 1)
        finally:
            may_open.set()
        with OpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=5) as client:
            assert client.embeddings.create(model=GATED, input="1 2").data[0].index == 0


def test_a_long_answer_has_no_gap(hashing_url: str) -> None:
    texts = [f"text {number}" for number in range(300)]
    body = {"model": hashing.NAME, "input": texts}
    for encoding_format in ("float", "base64"):
        answer = httpx.post(
            f"{hashing_url}/v1/embeddings", json=body | {"encoding_format": encoding_format}
        )
        assert int(answer.headers["content-length"]) == len(answer.content)
        assert [item["index"] for item in answer.json()["data"]] == list(range(300))
        assert b"NaN" not in answer.content
        assert b"null" not in answer.content
