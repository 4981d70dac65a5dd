"""Every answer has an id, every request a line and a count; no text and no key is ever logged."""

import logging
from collections.abc import Iterator
from threading import Event
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI
from pydantic import SecretStr

from embedding_server.app import create_app
from embedding_server.settings import Settings
from embedding_server.web.body_limit import MAX_BODY_BYTES
from tests.embedding_server.edge import (
    FAILING,
    NAME,
    GatedEncoder,
    post,
    read_metrics,
    serve_gated,
    wait_until,
)
from tests.embedding_server.running import serve

LOGGER = "embedding_server.request_log"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve_gated() as (url, _):
        yield url


def lines(caplog: pytest.LogCaptureFixture, path: str) -> list[logging.LogRecord]:
    """Return the lines about requests for this path, once there is one."""

    def find() -> list[logging.LogRecord]:
        found = [record for record in caplog.records if record.name == LOGGER]
        return [record for record in found if record.__dict__["path"] == path]

    # The client has its answer a moment before the server logs it.
    wait_until(lambda: bool(find()))
    return find()


AS_JSON: dict[str, Any] = {"headers": {"Content-Type": "application/json"}}
ANSWERS: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "200": ("POST", "/v1/embeddings", {"json": {"model": NAME, "input": "1"}}, 200),
    "400": ("POST", "/v1/embeddings", {"json": {}}, 400),
    "no JSON": ("POST", "/embeddings", AS_JSON | {"content": b"{"}, 400),
    "a form": ("POST", "/embeddings", {"content": b"{"}, 415),
    "404": ("GET", "/nowhere", {}, 404),
    "unknown model": ("GET", "/v1/models/a/b", {}, 404),
    "405": ("PUT", "/v1/embeddings", {}, 405),
    "413": ("POST", "/v1/embeddings", AS_JSON | {"content": b" " * (MAX_BODY_BYTES + 1)}, 413),
    "500 of the model": ("POST", "/v1/embeddings", {"json": {"model": NAME, "input": "666"}}, 500),
    "500 unforeseen": ("POST", "/v1/embeddings", {"json": {"model": NAME, "input": "broken"}}, 500),
    "health": ("GET", "/health", {}, 200),
    "metrics": ("GET", "/metrics", {}, 200),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_every_answer_carries_the_clients_id(url: str, case: str) -> None:
    method, path, content, status = ANSWERS[case]
    headers = {"X-Request-ID": "client's own id: 1"} | content.get("headers", {})
    told = content | {"headers": headers}
    answer = httpx.request(method, f"{url}{path}", timeout=60, **told)
    assert answer.status_code == status
    assert answer.headers.get_list("x-request-id") == ["client's own id: 1"]
    assert answer.headers["openai-processing-ms"].isdigit()


@pytest.mark.parametrize("given", [b"", b"a" * 129, b"a\tb", "ä".encode(), b"\xff", None])
def test_another_id_is_made_when_the_clients_is_not_sane(url: str, given: bytes | None) -> None:
    headers = {} if given is None else {b"X-Request-ID": given}
    made = {httpx.get(f"{url}/v1/models", headers=headers).headers["x-request-id"] for _ in "12"}
    assert len(made) == 2
    assert all(len(one) == 32 and one.isalnum() for one in made)


def test_an_id_of_128_characters_is_taken(url: str) -> None:
    answer = httpx.get(f"{url}/v1/models", headers={"X-Request-ID": "~" * 128})
    assert answer.headers["x-request-id"] == "~" * 128


def test_the_official_client_shows_the_id(url: str) -> None:
    headers = {"X-Request-ID": "mine"}
    with OpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0) as client:
        answer = client.embeddings.create(model=NAME, input="1", extra_headers=headers)
        assert answer._request_id == "mine"
        assert client.models.list()._request_id
        for text, error in (("1 " * 2000, openai.BadRequestError), ("broken", openai.APIError)):
            with pytest.raises(error) as caught:
                client.embeddings.create(model=NAME, input=text, extra_headers=headers)
            assert isinstance(caught.value, openai.APIStatusError)
            assert caught.value.request_id == "mine"


def test_requests_are_counted_by_status_but_those_of_operators() -> None:
    with serve_gated() as (url, _):
        post(url, ["1", "2 3"])
        post(url, "")
        post(url, "broken")
        httpx.get(f"{url}/nowhere")
        httpx.get(f"{url}/health")
        metrics = read_metrics(url)
        counts = {name: n for name, n in metrics.items() if name.startswith("requests_total")}
        assert counts == {
            f'requests_total{{status="{status}"}}': 1.0 for status in (200, 400, 404, 500)
        }
        assert metrics["request_duration_seconds_count"] == 4


def test_a_line_tells_what_was_asked_and_how_it_ended(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    post(url, ["1", "2 3"])
    [line] = lines(caplog, "/v1/embeddings")
    assert line.levelno == logging.DEBUG
    fields = line.__dict__
    assert (fields["method"], fields["status"], fields["texts"], fields["tokens"]) == (
        "POST",
        200,
        2,
        3,
    )
    assert fields["milliseconds"] > 0
    assert "error" not in fields
    assert line.getMessage().startswith("POST /v1/embeddings 200, ")
    assert line.getMessage().endswith(" ms, 2 texts, 3 tokens")


@pytest.mark.parametrize(
    ("text", "level", "error"),
    [
        ("1 " * 2000, logging.INFO, "context_length_exceeded"),
        (f"{FAILING}", logging.WARNING, "embedding_failed"),
        ("broken", logging.WARNING, "internal_error"),
    ],
)
def test_what_fails_is_logged_by_whose_fault_it_is(
    url: str, caplog: pytest.LogCaptureFixture, text: str, level: int, error: str
) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    post(url, text)
    [line] = lines(caplog, "/v1/embeddings")
    assert (line.levelno, line.__dict__["error"]) == (level, error)
    assert line.getMessage().endswith(f", {error}")


def test_a_path_cannot_forge_a_line(url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    httpx.get(f"{url}/a%0A2026-01-01%20ERROR%20all%20is%20lost?api_key=secret")
    [line] = lines(caplog, "/a%0A2026-01-01%20ERROR%20all%20is%20lost")
    assert "secret" not in line.getMessage()


def test_operators_requests_are_logged_for_debugging_only(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    httpx.post(f"{url}/health")
    assert [line.levelno for line in lines(caplog, "/health")] == [logging.DEBUG]


def test_neither_texts_nor_keys_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    key = "sk-a-very-secret-key"
    # Token ids stand for texts here; the numbers occur nowhere else.
    texts = ["777001 777002", f"777003 {FAILING}", "777004 " * 2000, "777005" * 20_000]
    texts += ["777006 broken", "777007\ud806"]
    with serve_gated(api_key=SecretStr(key), max_waiting_tokens=1) as (url, _):
        for given in (key, f"{key}x"):
            with OpenAI(base_url=f"{url}/v1", api_key=given, max_retries=0) as client:
                for text in texts:
                    try:
                        client.embeddings.create(model=NAME, input=text)
                    except (openai.APIError, UnicodeEncodeError):
                        continue
    # The client of this process logs as well, and is not meant.
    ours = [r for r in caplog.records if not r.name.startswith(("openai", "httpx", "httpcore"))]
    assert ours
    logged = "\n".join(logging.Formatter().format(record) for record in ours)
    assert "77700" not in logged
    assert key not in logged


def test_asking_while_the_model_loads_is_not_worth_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    may_load = Event()

    def load(_settings: Settings) -> GatedEncoder:
        may_load.wait()
        return GatedEncoder()

    with serve(create_app(Settings(), load)) as url:
        try:
            assert httpx.get(f"{url}/v1/models").status_code == 503
            assert [line.levelno for line in lines(caplog, "/v1/models")] == [logging.DEBUG]
        finally:
            may_load.set()
