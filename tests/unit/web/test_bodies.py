"""Bodies: strict JSON, each name once, and its own types; the description tells what is refused."""

import json
import re
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, FastAPI, Query
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, ValidationError

from service.field_types import (
    NUMBER,
    WHOLE,
    AgentName,
    Flag,
    Label,
    MemoryText,
    Moment,
    Question,
    Reference,
    Share,
    Text,
    Title,
)
from service.ingest.route import SourceName
from service.web.bodies import JsonRoute, _once
from service.web.fields import IN_A_QUERY, Strict
from service.web.problems import install_problems
from tests.linear_time import MOST_GROWTH, growth


class _Told(Strict):
    words: Text = ""


class _Wishes(Strict):
    flag: Flag = False
    whole: Annotated[int, WHOLE] = 5
    number: Annotated[float, NUMBER] = 0.5
    words: Text = ""
    moment: Moment | None = None
    many: list[Text] = Field([])
    inner: dict[str, Any] = Field({})
    told: list[_Told] = Field([])


class _Written(_Wishes):
    model_config = IN_A_QUERY

    inner: Annotated[str, "no query holds an object"] = ""  # type: ignore[assignment]
    told: Annotated[str, "nor several"] = ""  # type: ignore[assignment]


@pytest.fixture(scope="module")
def client() -> TestClient:
    app, router = FastAPI(), APIRouter(route_class=JsonRoute)
    install_problems(app)

    @router.post("/wishes")
    async def wishes(wishes: _Wishes) -> _Wishes:
        return wishes

    @router.get("/wishes")
    async def written(wishes: Annotated[_Written, Query()]) -> _Written:
        return wishes

    @router.delete("/cleared", status_code=204)
    async def cleared(project: str | None = None) -> None:
        """Clear those of a project, or of none."""

    app.include_router(router)
    app.state.operations = {"/wishes": {"post": "wishes", "get": "written"}}
    return TestClient(app, raise_server_exceptions=False)


# By the type of field: what JSON has for it, and what only looks like it.
RIGHT = {
    "flag": ["true", "false"], "whole": ["5", "5.0", "-3", "1e3"], "number": ["1", "0.5", "-2e-3"],
    "words": ['"5"', '"\\ud83d\\udc30"'], "moment": ['"2026-02-13"', '"2026-02-13T10:00:00Z"'],
    "many": ["[]", '["a"]'],
}  # fmt: skip
WRONG = {
    "flag": ['"off"', '"true"', '"yes"', "1", "0", "0.0", "null", "[]"],
    "whole": ['"5"', "5.5", "true", "null", "NaN", "Infinity"],
    "number": ['"0.5"', "true", "null", "[]"],
    "words": ["5", "true", "null", '["a"]', '"\\ud800"', '"\\u0000"'],
    "moment": ["5", "1700000000.5", "true", '"1700000000"', '"soon"'],
    "many": ['"a"', "{}", "[1]", "null"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in RIGHT.items() for v in vs])
def test_a_body_is_taken_with_jsons_own_types(client: TestClient, name: str, value: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post("/wishes", content=f'{{"{name}": {value}}}', headers=headers)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in WRONG.items() for v in vs])
def test_a_body_is_refused_with_any_other(client: TestClient, name: str, value: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post("/wishes", content=f'{{"{name}": {value}}}', headers=headers)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"].startswith(f"/{name}")


@pytest.mark.parametrize(
    ("written", "status"),
    [
        ("flag=true", 200), ("flag=false", 200), ("whole=5", 200), ("number=1e-3", 200),
        ("number=7", 200), ("moment=2026-02-13", 200), ("many=a&many=b", 200),
        ("flag=off", 422), ("flag=1", 422), ("flag=True", 422), ("flag=", 422), ("whole=5.0", 422),
        ("whole=1_000", 422), ("whole=%205", 422), ("whole=%2B5", 422), ("whole=٣", 422),
        ("number=nan", 422), ("number=inf", 422), ("number=1_0", 422), ("number=.5", 422),
        ("moment=5", 422), ("words=%00", 422),
    ],
)  # fmt: skip
def test_a_query_is_read_as_it_is_described(client: TestClient, written: str, status: int) -> None:
    assert client.get(f"/wishes?{written}").status_code == status


BROKEN = [
    (b'{"flag": true, "flag": false}', 422), (b'{"inner": {"a": 1, "\\u0061": 2}}', 422),
    (b'\xef\xbb\xbf{"flag": true}', 422), (b'{"flag": true} x', 422), (b'{"flag": true}{}', 422),
    (b"", 422), (b"   ", 422), (b"null", 422), (b'{"flag": True}', 422), (b"{'flag': true}", 422),
    (b'{"flag": true,}', 422), (b'{"whole": 05}', 422), (b'{"words": "\t"}', 422),
    (b'{"\\ud800": 1, "\\ud800": 1}', 422),
    ('{"flag": true}'.encode("utf-16"), 400), ('{"flag": true}'.encode("utf-16-le"), 422),
    ('{"words": "é"}'.encode("latin-1"), 400), (b'{"words": "\xed\xa0\x80"}', 400),
    (b'{"inner": ' + b'{"a":' * 100_000, 400), (b"[" * 100_000, 400),
    (b'{"whole": ' + b"9" * 5000 + b"}", 400),
]  # fmt: skip


@pytest.mark.parametrize(("content", "status"), BROKEN)
def test_a_body_that_is_not_json_is_told_so(
    client: TestClient, content: bytes, status: int
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post("/wishes", content=content, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert "JSON" in answer.json()["detail"]


@pytest.mark.parametrize("given", [{}, {"Content-Type": "text/plain"}, {"Content-Type": "json"}])
def test_a_body_that_does_not_say_it_is_json_is_refused(
    client: TestClient, given: dict[str, str]
) -> None:
    answer = client.post("/wishes", content=b'{"flag": true}', headers=given)
    assert answer.status_code == 422
    assert "Content-Type: application/json" in answer.json()["detail"]


def test_a_name_that_stands_twice_is_named(client: TestClient) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post("/wishes", content=b'{"flag": true, "flag": false}', headers=headers)
    assert "'flag' stands twice" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ('{"project": "app"}', 422), ('["app"]', 422), ("app", 422),
        ("", 204), ("{}", 204), (" null\n", 204),
    ],
)  # fmt: skip
def test_what_is_deleted_is_said_in_the_query_and_nowhere_else(
    client: TestClient, content: str, status: int
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.request("DELETE", "/cleared", content=content, headers=headers)
    assert answer.status_code == status
    assert status == 204 or "in the query" in answer.json()["errors"][0]["detail"]


MANY = {f"unknown {n}": 0 for n in range(50_000)}


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({"a": 1, "b": 2, "many": [1, 2]}, ["/many/0", "/many/1", "/a", "/b"]),
        (MANY, [""]),
        ({"many": [1] * 101}, [""]),
        ({"told": [{"a": 1}] * 101}, [""]),
        ({"told": [MANY, {"a": 1}]}, ["/told/0", "/told/1/a"]),
    ],
)
def test_few_faults_are_told_one_by_one_and_many_by_their_number(
    client: TestClient, body: dict[str, Any], pointers: list[str]
) -> None:
    answer = client.post("/wishes", json=body)
    assert answer.status_code == 422
    errors = answer.json()["errors"]
    assert [one["pointer"] for one in errors] == pointers
    assert pointers != [""] or "faults, too many to tell" in errors[0]["detail"]


def test_a_name_that_stands_twice_is_found_in_linear_time() -> None:
    def reading(count: int) -> Callable[[], None]:
        pairs = [*((f"name {n}", 0) for n in range(count)), ("twice", 0), ("twice", 1)]

        def read() -> None:
            with pytest.raises(json.JSONDecodeError, match="'twice' stands twice"):
                _once(pairs)

        return read

    assert growth(reading, 2_000) < MOST_GROWTH


@pytest.mark.parametrize("method", ["OPTIONS", "HEAD", "PUT", "DELETE", "TRACE"])
def test_allow_tells_the_methods_of_every_route_of_a_path(client: TestClient, method: str) -> None:
    answer = client.request(method, "/wishes")
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == {"GET", "POST"}


TEXTS: dict[str, Any] = {
    "agent": AgentName, "label": Label, "memory": MemoryText, "question": Question,
    "reference": Reference, "source": SourceName, "text": Text, "title": Title,
}  # fmt: skip
# What validators look at: blanks of every kind, separators of paths, drives, dots, controls.
_LETTERS = st.sampled_from(
    [*"ab.C:/\\~_- \t\n\r\0\x1c\x1f\x7f\x85", "\ufeff", "\u2003", "猫", "🐰"]
)


@pytest.mark.parametrize("name", TEXTS)
@given(text=st.text(_LETTERS, max_size=12))
def test_the_description_of_a_text_tells_what_is_refused(name: str, text: str) -> None:
    told = TypeAdapter(TEXTS[name])
    schema = told.json_schema()
    is_told = (
        schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 10**9)
        and re.search(schema["pattern"].replace("$", r"\Z"), text) is not None
    )
    try:
        told.validate_python(text)
    except ValidationError:
        assert not is_told
    else:
        assert is_told


@given(st.floats() | st.integers() | st.booleans() | st.text())
def test_a_share_is_a_number_between_0_and_1(value: object) -> None:
    told: TypeAdapter[float] = TypeAdapter(Share)
    is_share = type(value) in {int, float} and 0 <= value <= 1  # type: ignore[operator]
    try:
        told.validate_python(value, strict=True)
    except ValidationError:
        assert not is_share
    else:
        assert is_share
