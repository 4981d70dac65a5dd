"""Problems: where a field is wrong, what to do about it, and one shape for every failure."""

import logging

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field

from service.errors import FieldError, InvalidRequest, MemoryNotFound, StoreUnavailable
from service.web.problems import install_problems


class _Inner(BaseModel):
    a_b: int = Field(alias="a/b~c", default=0)


class _Body(BaseModel):
    limit: int = Field(5, ge=1)
    name: str = Field("kit", max_length=5)
    inner: list[_Inner] = []
    required: str


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()
    install_problems(app)

    @app.post("/things")
    def things(body: _Body, most: int = 1) -> int:
        return body.limit + most

    @app.get("/things/{number}")
    def thing(number: int) -> None:
        raise MemoryNotFound(f"There is no {number}.")

    @app.get("/away")
    def away() -> None:
        raise StoreUnavailable

    @app.get("/fields")
    def fields() -> None:
        raise InvalidRequest("Half a \ud800.", (FieldError("/a", "Take another."),))

    @app.get("/refused")
    def refused() -> None:
        raise InvalidRequest("That is no decision.")

    @app.get("/broken")
    def broken() -> None:
        raise ZeroDivisionError

    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"required": "x", "limit": 0}, "/limit"),
        ({}, "/required"),
        ({"required": "x", "inner": [{}, {"a/b~c": "x"}]}, "/inner/1/a~1b~0c"),
    ],
)
def test_a_pointer_leads_to_the_field(client: TestClient, body: object, pointer: str) -> None:
    problem = client.post("/things", json=body).json()
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert problem["detail"].startswith(f"{pointer}: ")


def test_a_query_parameter_and_a_path_have_their_own_pointers(client: TestClient) -> None:
    answer = client.post("/things?most=x", json={"required": "x"})
    assert answer.json()["errors"][0]["pointer"] == "?most"
    assert client.get("/things/x").json()["errors"][0]["pointer"] == "/number"


def test_several_fields_are_all_told(client: TestClient) -> None:
    problem = client.post("/things", json={"limit": 0, "name": "too long"}).json()
    assert {error["pointer"] for error in problem["errors"]} == {"/limit", "/name", "/required"}
    assert problem["detail"].endswith("(and 2 more)")
    assert problem["type"] == "/problems/invalid-request"


@pytest.mark.parametrize("content", [b"{", b"", b"[1]", b'"text"', b"limit=1"])
def test_a_body_that_is_no_object_is_told_what_to_send(client: TestClient, content: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/things", content=content, headers=headers)
    assert answer.status_code == 422
    assert "JSON" in answer.json()["errors"][0]["detail"]


@pytest.mark.parametrize("body", [{"required": "x", "limit": "many"}, {"required": None}, {}])
def test_advice_is_a_sentence(client: TestClient, body: object) -> None:
    (error,) = client.post("/things", json=body).json()["errors"]
    assert error["detail"][0].isupper()
    assert error["detail"].endswith(".")
    assert not error["detail"].endswith("..")


def test_every_failure_has_the_same_shape(client: TestClient) -> None:
    told = {"type", "title", "status", "detail", "instance", "request_id"}
    for path, status in (("/things/7", 404), ("/away", 503), ("/nowhere", 404), ("/broken", 500)):
        answer = client.get(path, headers={"x-request-id": "r-1"})
        problem = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        assert told <= set(problem)
        assert (answer.status_code, problem["status"]) == (status, status)
        assert (problem["instance"], problem["request_id"]) == (path, "r-1")
        assert answer.headers["x-request-id"] == "r-1"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_what_is_refused_as_a_whole_tells_its_fault_too(client: TestClient) -> None:
    answer = client.get("/refused")
    fault = {"pointer": "", "detail": "That is no decision."}
    assert (answer.status_code, answer.json()["errors"]) == (422, [fault])


def test_a_named_error_says_its_own_words(client: TestClient) -> None:
    problem = client.get("/things/7").json()
    assert problem["type"] == "/problems/memory-not-found"
    assert problem["title"] == "There is no memory with this id"
    assert problem["detail"] == "There is no 7."


def test_only_what_passes_by_itself_says_when_to_come_back(client: TestClient) -> None:
    assert client.get("/away").headers["retry-after"] == "2"
    assert "retry-after" not in client.get("/things/7").headers


def test_half_a_character_in_an_error_is_shown_escaped(client: TestClient) -> None:
    answer = client.get("/fields")
    assert answer.status_code == 422
    assert "\\ud800" in answer.json()["detail"]


def test_an_unexpected_failure_is_logged_and_keeps_its_secret(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        problem = client.get("/broken", headers={"x-request-id": "r-9"}).json()
    assert "ZeroDivisionError" not in str(problem)
    assert any("r-9" in record.getMessage() and record.exc_info for record in caplog.records)


@pytest.mark.parametrize("given", ["", "a b", "x" * 101, "<script>"])
def test_a_strange_request_id_is_replaced(client: TestClient, given: str) -> None:
    answer = client.get("/away", headers={"x-request-id": given})
    assert answer.json()["request_id"] != given
    assert len(answer.json()["request_id"]) == 32
