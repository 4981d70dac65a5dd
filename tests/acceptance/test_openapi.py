"""GET /openapi.json: a valid description, complete enough to try every operation from it."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from scripts.measure_contract import ENGINES as SEARCHING
from scripts.measure_contract import PHASES, ask
from tests.conftest import Start
from tests.effort import IS_SOAK, SEED, amount

Json = dict[str, Any]

OPERATIONS = {
    ("/search", "post"), ("/search", "get"), ("/graph-recall", "post"), ("/graph-recall", "get"),
    ("/memories", "post"), ("/memories", "get"), ("/memories/batch", "post"),
    ("/memories/{id}", "get"),
    ("/memories/{id}", "patch"), ("/memories/{id}", "delete"), ("/documents", "get"),
    ("/ingest", "post"),
    ("/ingest/scan", "post"), ("/ingest/jobs/{id}", "get"), ("/hooks/session-start", "post"),
    ("/concepts", "get"), ("/concepts/{id}", "get"),
    ("/graph/report", "get"), ("/stats", "get"), ("/health/live", "get"),
    ("/health/ready", "get"),
}  # fmt: skip


@pytest.fixture(scope="module")
def description(client: httpx.Client) -> Json:
    """Yield the service's own description."""
    found: Json = client.get("/openapi.json").json()
    return found


def _operations(description: Json) -> dict[tuple[str, str], Json]:
    return {
        (path, method): operation
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    }


def test_the_description_is_valid_openapi(description: Json) -> None:
    assert [str(error) for error in OpenAPIV31SpecValidator(description).iter_errors()] == []


def test_every_operation_of_the_contract_is_there_and_described(description: Json) -> None:
    operations = _operations(description)
    assert operations.keys() >= OPERATIONS
    ids = [operation["operationId"] for operation in operations.values()]
    assert len(set(ids)) == len(ids)
    for place, operation in operations.items():
        assert operation["summary"], place
        assert len(operation["description"]) > 15, place
        assert operation["tags"], place


def test_every_list_is_read_page_by_page(description: Json) -> None:
    lists = {
        operation["operationId"]: {one["name"] for one in operation["parameters"]}
        for operation in _operations(description).values()
        if operation["operationId"].startswith("list_")
    }
    assert len(lists) > 5
    assert [name for name, taken in lists.items() if not taken >= {"limit", "cursor"}] == []


def test_every_request_body_has_an_example_that_works(
    client: httpx.Client, description: Json
) -> None:
    for (path, method), operation in _operations(description).items():
        body = operation.get("requestBody")
        if body is None:
            continue
        examples = _examples(description, body["content"]["application/json"])
        assert examples, path
        for example in examples:
            if operation["operationId"] == "create_key":
                # From then on each request would need it: test_keys.py makes keys.
                continue
            url = path.replace("{id}", _memory(client))
            answer = client.request(method, url, json=example)
            # No folder is configured, nothing was consolidated, no session named a project yet.
            absent = ("no-sources", "run-not-found", "project-not-found")
            is_absent = any(one in answer.text for one in absent)
            assert answer.status_code < 300 or is_absent, answer.text


def _examples(description: Json, content: Json) -> list[Json]:
    """Return a body's examples: its own, else those of the schema it names."""
    name = content["schema"].get("$ref", "").rpartition("/")[2]
    schemas: Json = description["components"]["schemas"]
    own = [example["value"] for example in content.get("examples", {}).values()]
    return own or list(schemas[name].get("examples", []))


def _memory(client: httpx.Client) -> str:
    key: str = client.post("/memories", json={"text": "a memory to change"}).json()["id"]
    return key


@pytest.mark.soak
@pytest.mark.parametrize("searching", SEARCHING if IS_SOAK else SEARCHING[:1])
@pytest.mark.parametrize("has_keys", [True, False] if IS_SOAK else [True])
def test_what_the_description_tells_is_what_the_service_does(
    start: Start, tmp_path: Path, searching: str, *, has_keys: bool
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "2026-02-13.md").write_text("# 09:15\n\nThe blue bunny.\n", encoding="utf-8")
    service = start(search_engine=searching, sources=(notes,))
    every = {"name": "first", "scopes": ["read", "write", "admin"]}
    key = service.client.post("/keys", json=every).json()["key"] if has_keys else None
    # Without drawing at random: each bound of the description from both sides, some 2,800 requests.
    phases = PHASES if IS_SOAK else PHASES[:2]
    asked = ask(service.url, amount("requests of an operation"), 1 + SEED, phases, key)
    assert not asked.complaints, asked.complaints
    assert asked.requests > 2000
