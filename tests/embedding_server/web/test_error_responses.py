"""Every way to fail has OpenAI's error body, with the parameter that is to blame."""

from typing import Any

import httpx
import pytest

from embedding_server.encoders.hashing import NAME

GOOD = {"model": NAME, "input": "a text"}

BAD_BODIES: dict[str, tuple[dict[str, Any], str, str | None]] = {
    "no input": ({"model": NAME}, "input", "missing_required_parameter"),
    "no model": ({"input": "a"}, "model", "missing_required_parameter"),
    "null input": (GOOD | {"input": None}, "input", "invalid_value"),
    "empty string": (GOOD | {"input": ""}, "input", "invalid_value"),
    "empty list": (GOOD | {"input": []}, "input", "invalid_value"),
    "empty string in list": (GOOD | {"input": ["a", ""]}, "input", "invalid_value"),
    "null in list": (GOOD | {"input": ["a", None]}, "input", "invalid_value"),
    "number as input": (GOOD | {"input": 5}, "input", "invalid_value"),
    "object as input": (GOOD | {"input": {"text": "a"}}, "input", "invalid_value"),
    "mixed list": (GOOD | {"input": ["a", 5]}, "input", "invalid_value"),
    "list of empty lists": (GOOD | {"input": [[]]}, "input", "invalid_value"),
    "token ids": (GOOD | {"input": [1, 2, 3]}, "input", "invalid_value"),
    "lists of token ids": (GOOD | {"input": [[1, 2], [3]]}, "input", "invalid_value"),
    "too many inputs": (GOOD | {"input": ["a"] * 2049}, "input", "invalid_value"),
    "too long": (GOOD | {"input": "a " * 8193}, "input", "context_length_exceeded"),
    "number as model": (GOOD | {"model": 5}, "model", "invalid_type"),
    "zero dimensions": (GOOD | {"dimensions": 0}, "dimensions", "invalid_value"),
    "text as dimensions": (GOOD | {"dimensions": "256"}, "dimensions", "invalid_type"),
    "other dimensions": (GOOD | {"dimensions": 128}, "dimensions", None),
    "unknown format": (GOOD | {"encoding_format": "hex"}, "encoding_format", "invalid_value"),
    "unknown input type": (GOOD | {"input_type": "x"}, "input_type", "invalid_value"),
    "empty instruction": (GOOD | {"instruction": ""}, "instruction", "invalid_value"),
    "unused instruction": (GOOD | {"instruction": "Find"}, "instruction", None),
    "text as truncate": (GOOD | {"truncate": "yes"}, "truncate", "invalid_type"),
}


def assert_problem(
    answer: httpx.Response, status: int, param: str | None, code: str | None
) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/json"
    body: dict[str, Any] = answer.json()
    assert set(body) == {"error"}
    error: dict[str, Any] = body["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert (answer.status_code, error["param"], error["code"]) == (status, param, code)
    assert error["type"] == ("server_error" if status >= 500 else "invalid_request_error")
    assert error["message"]
    return error


@pytest.mark.parametrize("fault", BAD_BODIES)
def test_a_bad_body_is_400_and_names_the_parameter(hashing_url: str, fault: str) -> None:
    body, param, code = BAD_BODIES[fault]
    answer = httpx.post(f"{hashing_url}/v1/embeddings", json=body)
    error = assert_problem(answer, 400, param, code)
    assert param in error["message"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "missing_required_parameter"),
        (b"{", "invalid_json"),
        (b'{"model": "hashing-256", "input": "a",}', "invalid_json"),
        (b"[]", "invalid_type"),
        (b'"text"', "invalid_type"),
        (b"null", "invalid_type"),
        (b'{"input": "\xff"}', None),
        (b"[" * 100_000, None),
    ],
)
def test_a_body_that_is_no_request_is_400(
    hashing_url: str, content: bytes, code: str | None
) -> None:
    answer = httpx.post(
        f"{hashing_url}/v1/embeddings",
        content=content,
        headers={"Content-Type": "application/json"},
    )
    assert_problem(answer, 400, None, code)


def test_a_form_is_415_and_says_what_to_send(hashing_url: str) -> None:
    answer = httpx.post(f"{hashing_url}/v1/embeddings", data=GOOD)
    error = assert_problem(answer, 415, None, "unsupported_media_type")
    assert "Content-Type: application/json" in error["message"]


@pytest.mark.parametrize(
    ("content", "param"),
    [
        (b'{"model": "hashing-256", "input": "\\ud800"}', "input"),
        (b'{"model": "hashing-256", "input": ["a", "\\ud800"]}', "input"),
        (b'{"model": "\\ud800", "input": "a"}', "model"),
        (b'{"model": "hashing-256", "input": "a", "instruction": "\\udfff"}', "instruction"),
        (b'{"model": "hashing-256", "input": "a", "input_type": "\\udfff"}', "input_type"),
    ],
)
def test_half_a_surrogate_pair_is_400(hashing_url: str, content: bytes, param: str) -> None:
    answer = httpx.post(
        f"{hashing_url}/v1/embeddings",
        content=content,
        headers={"Content-Type": "application/json"},
    )
    assert_problem(answer, 400, param, "invalid_value")


def test_an_unknown_path_is_404(hashing_url: str) -> None:
    for path in ("/", "/v1", "/v1/completions", "/v1/embeddings/x"):
        assert_problem(httpx.get(f"{hashing_url}{path}"), 404, None, None)


def test_an_unknown_model_is_404(hashing_url: str) -> None:
    answer = httpx.post(f"{hashing_url}/v1/embeddings", json=GOOD | {"model": "gpt"})
    error = assert_problem(answer, 404, "model", "model_not_found")
    assert NAME in error["message"]
    assert_problem(httpx.get(f"{hashing_url}/v1/models/a/b"), 404, "model", "model_not_found")


def test_a_wrong_method_is_405_and_lists_the_right_one(hashing_url: str) -> None:
    answer = httpx.get(f"{hashing_url}/v1/embeddings")
    assert_problem(answer, 405, None, None)
    assert answer.headers["allow"] == "POST"
    assert_problem(httpx.delete(f"{hashing_url}/v1/models"), 405, None, None)
    assert_problem(httpx.post(f"{hashing_url}/health"), 405, None, None)


def test_the_largest_request_is_answered(hashing_url: str) -> None:
    answer = httpx.post(f"{hashing_url}/v1/embeddings", json=GOOD | {"input": ["a"] * 2048})
    assert answer.status_code == 200
    assert [item["index"] for item in answer.json()["data"]] == list(range(2048))


def test_the_longest_text_is_answered(hashing_url: str) -> None:
    answer = httpx.post(f"{hashing_url}/v1/embeddings", json=GOOD | {"input": "a " * 8192})
    assert answer.json()["usage"] == {"prompt_tokens": 8192, "total_tokens": 8192}


def test_openapi_promises_what_is_answered(hashing_url: str) -> None:
    paths = httpx.get(f"{hashing_url}/openapi.json").json()["paths"]
    api = {"/v1/embeddings", "/v1/models", "/v1/models/{name}"}
    assert set(paths) == api | {"/health", "/metrics"}
    assert set(paths["/v1/embeddings"]["post"]["responses"]) == {"200", "4XX", "5XX"}
