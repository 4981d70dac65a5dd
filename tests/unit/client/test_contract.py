"""The client's types and the contract: every operation, every field, as /openapi.json has them."""

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import (
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import pytest

from service.app import create_app
from service.client.endpoint import Endpoint
from service.client.endpoints import Endpoints
from service.settings import Settings

CONTRACT: dict[str, Any] = create_app(Settings(_env_file=None)).openapi()
OPERATIONS = {
    operation["operationId"]: operation
    for path in CONTRACT["paths"].values()
    for operation in path.values()
}
# A hook is an agent's own; the GET twins are for curl and browsers.
NOT_FOR_CLIENTS = {
    "session_start",
    "claude_code_hook",
    "codex_hook",
    "openclaw_hook",
    "search_get",
    "session_context_get",
    "graph_recall_get",
    "metrics",
}
METHODS = sorted(
    name for name, value in inspect.getmembers_static(Endpoints) if isinstance(value, Endpoint)
)
# One operation that answers in two ways is two methods: `wait` is what they differ in.
OPERATION_OF = {"start_scan": "scan", "start_consolidation": "consolidate"}
NAME_OF = {"from_line": "from"}
UNSAID = {
    "scan": {"wait"}, "start_scan": {"wait"}, "consolidate": {"wait"},
    # Of a run that nobody waits for there is nothing to show.
    "start_consolidation": {"wait", "dry_run", "limit", "cursor"},
    # The same as `last`.
    "list_decisions": {"limit"},
}  # fmt: skip
PLAIN: dict[Any, str] = {
    str: "string",
    datetime: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
}
PLAIN[type(None)] = "null"
WITHIN: dict[Any, str] = {list: "list", Sequence: "list", dict: "map", Mapping: "map"}


def _hint(hint: Any) -> Any:
    """Return a type as plain data: names of fields and of plain types."""
    origin, inner = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        fields = get_type_hints(hint, include_extras=True)
        return {name: _hint(field) for name, field in fields.items()}
    if origin in {Required, NotRequired}:
        # The contract says null of a value that is left out; a list is left out when empty.
        value = _hint(inner[0])
        is_null = origin is NotRequired and not isinstance(value, list)
        return _choice([value, *(["null"] if is_null else [])])
    if origin in {Union, types.UnionType}:
        return _choice([_hint(one) for one in inner])
    if origin in WITHIN:
        return [WITHIN[origin], _hint(inner[-1])]
    return "string" if origin is Literal else PLAIN.get(hint, "anything")


def _schema(schema: Mapping[str, Any]) -> Any:
    """Return a schema in the same form."""
    if "$ref" in schema:
        return _schema(CONTRACT["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    # Beside properties, a choice is what they must satisfy together.
    if "properties" in schema:
        return {name: _schema(field) for name, field in schema["properties"].items()}
    if "anyOf" in schema:
        return _choice([_schema(one) for one in schema["anyOf"]])
    if schema.get("type") == "array":
        return ["list", _schema(schema["items"])]
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return ["map", _schema(values) if isinstance(values, dict) else "anything"]
    return schema.get("type", "anything")


def _choice(found: list[Any]) -> Any:
    distinct: list[Any] = []
    for one in found:
        if one not in distinct:
            distinct.append(one)
    distinct.sort(key=str)
    return distinct[0] if len(distinct) == 1 else ("one of", *distinct)


def _sent(describe: Callable[..., Any]) -> dict[str, Any]:
    """Return what a method takes, by the contract's names."""
    hints = get_type_hints(describe)
    del hints["return"]
    taken: dict[str, Any] = {}
    for name, hint in hints.items():
        if get_origin(hint) is Unpack:
            taken |= _hint(get_args(hint)[0])
        else:
            taken[NAME_OF.get(name, name)] = _hint(hint)
    return taken


def _taken(operation: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an operation takes: of its path, its query and its body."""
    taken = {one["name"]: _schema(one["schema"]) for one in operation.get("parameters", [])}
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return taken | (_schema(body["schema"]) if body else {})


def _without_null(shape: Any) -> Any:
    """Return a shape without null: a query has none."""
    if isinstance(shape, tuple):
        return _choice([one for one in shape[1:] if one != "null"])
    return shape


def test_every_operation_has_its_method() -> None:
    assert {OPERATION_OF.get(name, name) for name in METHODS} == OPERATIONS.keys() - NOT_FOR_CLIENTS


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_what_the_contract_takes(name: str) -> None:
    sent = _sent(getattr(Endpoints, name))
    taken = _taken(OPERATIONS[OPERATION_OF.get(name, name)])
    assert sent.keys() | UNSAID.get(name, set()) == taken.keys()
    if name == "store_memories":
        # The service checks each memory of a batch by itself: in its schema they are any objects.
        assert sent["memories"][1] == _taken(OPERATIONS["store_memory"])
        return
    of_query = {
        one["name"]
        for one in OPERATIONS[OPERATION_OF.get(name, name)].get("parameters", [])
        if one["in"] == "query"
    }
    for field, shape in sent.items():
        shapes = (shape, taken[field])
        given, wanted = map(_without_null, shapes) if field in of_query else shapes
        assert given == wanted, field


@pytest.mark.parametrize("name", METHODS)
def test_a_method_returns_what_the_contract_answers(name: str) -> None:
    operation = OPERATIONS[OPERATION_OF.get(name, name)]
    status = "202" if name.startswith("start_") else min(operation["responses"])
    content = operation["responses"][status].get("content")
    [answer] = get_args(get_type_hints(getattr(Endpoints, name))["return"])
    expected = _schema(content["application/json"]["schema"]) if content else "null"
    assert _hint(answer) == expected
