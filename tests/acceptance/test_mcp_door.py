"""/mcp by the byte: the door's rules, bodies without bounds or sense, sessions without end."""

from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest

from tests.conftest import Start
from tests.servers.door import BODY, Line, expected, headers_of, pairs
from tests.servers.running import RunningService

ENGINES = ("resident",)
ACCEPT: Final = {"Accept": "application/json, text/event-stream"}
MODERN: Final = {"MCP-Protocol-Version": "2026-07-28"}
_AT_DOOR: Final = {401, 403, 415, 421}


@pytest.fixture(scope="module")
def line(service: RunningService) -> Iterator[Line]:
    one = Line(service.url)
    yield one
    one.close()


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
@pytest.mark.parametrize("method", ["POST", "DELETE", "GET"])
def test_the_door_is_that_of_every_route(line: Line, method: str, path: str) -> None:
    wrong = []
    for chosen in pairs():
        host, origin, site, kind = chosen
        body = b"" if kind == "-" else BODY
        status = line.ask(method, path, headers_of(host, origin, site, kind), body)
        refusal = expected(host, origin, site, kind)
        is_right = status == refusal if refusal else status not in _AT_DOOR
        if not is_right or status >= 500:
            wrong.append((chosen, status, refusal))
    assert wrong == []


_STORE: Final = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":'
)
HOSTILE: Final[dict[str, bytes]] = {
    "nothing": b"",
    "half": b'{"jsonrpc": "2.0", "id": 1, "meth',
    "no object": b"[]",
    "a batch": b'[{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]' * 1,
    "a number": b"1" * 10_000,
    "deep": b"[" * 200_000,
    "deep arguments": _STORE + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}}",
    "latin": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list\xff"}',
    "surrogate": _STORE + b'{"text":"\\ud800"}}}',
    "an odd id": b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}',
    "unknown": b'{"jsonrpc": "2.0", "id": 1, "method": "memory/burn"}',
    "an answer": b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_hostile_body_is_refused_and_nothing_breaks(
    client: httpx.Client, name: str, era: str
) -> None:
    headers = {**ACCEPT, "Content-Type": "application/json", **(MODERN if era == "modern" else {})}
    answer = client.post("/mcp", content=HOSTILE[name], headers=headers)
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.json()["jsonrpc"] == "2.0"
    assert answer.json()["error"]["code"] < 0
    assert "Traceback" not in answer.text
    assert client.get("/health/live").status_code == 200


def test_a_body_that_is_too_large_is_refused(client: httpx.Client, start: Start) -> None:
    headers = {**ACCEPT, "Content-Type": "application/json"}
    for size in (5_000_000, 33_000_000):
        answer = client.post("/mcp", content=b'{"a": "' + b"x" * size, headers=headers)
        assert answer.status_code == 413
    small = start(max_request_bytes=10_000).client
    refused = small.post("/mcp", content=b'{"a": "' + b"x" * 20_000, headers=headers)
    assert refused.status_code == 413
    assert refused.json()["error"]["data"]["type"] == "/problems/request-too-large"


def test_what_a_proxy_hands_on_needs_a_key_for_tools_too(client: httpx.Client) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = client.post("/mcp", json=body, headers={**ACCEPT, "X-Forwarded-For": "10.0.0.7"})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert "keys create" in answer.json()["error"]["message"]


def test_no_stream_is_held_open_for_what_is_never_said(client: httpx.Client) -> None:
    answer = client.get("/mcp", headers={"Accept": "text/event-stream"})
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == {"POST", "DELETE"}


def test_sessions_are_bounded_and_a_session_that_ended_is_unknown(client: httpx.Client) -> None:
    body: dict[str, Any] = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "many", "version": "1"},
        },
    }  # fmt: skip
    sessions = [
        client.post("/mcp", json=body, headers=ACCEPT).headers["Mcp-Session-Id"] for _ in range(100)
    ]
    assert len(set(sessions)) == 100
    for session in sessions:
        assert client.delete("/mcp", headers={"Mcp-Session-Id": session}).status_code == 200
    again = {**ACCEPT, "Mcp-Session-Id": sessions[0]}
    assert client.post("/mcp", json=body, headers=again).status_code == 404


def test_nobody_waits_for_a_turn_that_they_hold(start: Start) -> None:
    """With one read and one write at once, a tool that asks within must not stand in line."""
    service = start(reads_at_once=1, reads_waiting=0, writes_at_once=1, writes_waiting=0)
    body = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "memory_store", "arguments": {"text": "One at a time."},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }  # fmt: skip
    headers = {**ACCEPT, **MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "memory_store"}
    answer = service.client.post("/mcp", json=body, headers=headers)
    assert answer.status_code == 200
    assert answer.json()["result"]["structuredContent"]["action"] == "created"
    metrics = service.client.get("/metrics").text
    assert 'route="/mcp"' in metrics
