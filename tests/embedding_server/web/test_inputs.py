"""How long texts may be, alone and together; what is far too long is not even tokenised."""

import httpx
import numpy as np

from tests.embedding_server.edge import MAX_TOKENS, post, read_metrics, serve_gated

# The bound of a model that takes 1,000 tokens.
MAX_CHARACTERS = 100_000


def assert_refused(answer: httpx.Response, code: str) -> str:
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["code"]) == (400, "input", code)
    return str(error["message"])


def test_the_tokens_of_a_request_are_limited_together() -> None:
    with serve_gated(max_request_tokens=10) as (url, _):
        assert post(url, ["1 2 3 4 5", "1 2 3 4 5"]).status_code == 200
        refused = post(url, ["1 2 3 4 5", "1 2 3 4 5", "1"])
        assert "more than 10 tokens together" in assert_refused(refused, "request_too_long")
        # What is cut does not count.
        cut = post(url, ["1 " * 2000], truncate=True)
        assert_refused(cut, "request_too_long")
    with serve_gated(max_request_tokens=MAX_TOKENS) as (url, _):
        assert post(url, ["1 " * 2000], truncate=True).status_code == 200


def test_a_request_far_too_long_is_not_tokenised_to_its_end() -> None:
    with serve_gated(max_request_tokens=100) as (url, encoder):
        assert_refused(post(url, ["1 2"] * 2048), "request_too_long")
        assert len(encoder.texts) == 64
        encoder.texts.clear()
        long = ("1 " * 101).ljust(90_000)
        assert_refused(post(url, [long] * 3), "request_too_long")
        # Two of the three are a portion by their characters.
        assert len(encoder.texts) == 2
        metrics = read_metrics(url)
        assert (metrics["waiting_texts"], metrics["waiting_tokens"]) == (0, 0)


def test_a_text_far_too_long_never_reaches_the_tokenizer() -> None:
    with serve_gated() as (url, encoder):
        answer = post(url, ["1", " " * 15_000_000 + "1"])
        message = assert_refused(answer, "context_length_exceeded")
        assert "'input[1]' has 15,000,001 characters, and more than 100,000 are not" in message
        assert encoder.texts == []
        # The bound itself is taken: what is inside decides.
        assert post(url, "1".ljust(MAX_CHARACTERS)).status_code == 200
        assert_refused(post(url, "1".ljust(MAX_CHARACTERS + 1)), "context_length_exceeded")


def test_a_text_far_too_long_is_cut_on_request_before_the_tokenizer() -> None:
    with serve_gated() as (url, encoder):
        texts = ["1", "2 " * 5_000_000, "3 " * 2000, "4".ljust(MAX_CHARACTERS + 1)]
        answer = post(url, texts, truncate=True)
        body = answer.json()
        # The last had but one token; it was cut nonetheless, and that is said.
        assert body["truncated"] == [1, 2, 3]
        assert body["usage"]["prompt_tokens"] == 1 + MAX_TOKENS + MAX_TOKENS + 1
        assert max(len(text) for text in encoder.texts) == MAX_CHARACTERS
        vectors = np.array([item["embedding"] for item in body["data"]])
        expected = np.array([[1, 1], [MAX_TOKENS, 1], [MAX_TOKENS, 1], [1, 1]])
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
        np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_the_right_text_is_named_in_a_later_portion() -> None:
    with serve_gated() as (url, _):
        refused = post(url, ["1"] * 100 + ["1 " * 1001])
        message = assert_refused(refused, "context_length_exceeded")
        assert message.startswith("'input[100]' has 1001 tokens")
        cut = post(url, ["1"] * 100 + ["1 " * 1001] + ["1"] * 100, truncate=True).json()
        assert cut["truncated"] == [100]
        assert len(cut["data"]) == 201


def test_the_server_may_cut_for_clients_that_say_nothing() -> None:
    long = "1 " * (MAX_TOKENS + 1)
    with serve_gated(truncate=True) as (url, _):
        assert post(url, [long]).json()["truncated"] == [0]
        assert post(url, ["1 " * MAX_CHARACTERS]).json()["truncated"] == [0]
        assert_refused(post(url, [long], truncate=False), "context_length_exceeded")
