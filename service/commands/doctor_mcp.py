"""Whether /mcp answers as a program that speaks MCP asks it: a handshake, and its tools."""

import json
from typing import Any, Final

import httpx

from service.client.sending import is_here
from service.version import VERSION

_REVISION: Final = "2025-11-25"
_KINDS: Final = {"accept": "application/json, text/event-stream"}


async def tools_at(
    url: str, key: str | None, seconds: float, transport: httpx.AsyncBaseTransport | None = None
) -> list[str]:
    """Return the names of the tools at /mcp; raises ValueError, which says what is wrong there."""
    headers = _KINDS | ({"authorization": f"Bearer {key}"} if key else {})
    hello = {
        "protocolVersion": _REVISION, "capabilities": {},
        "clientInfo": {"name": "graph-memory-doctor", "version": VERSION},
    }  # fmt: skip
    try:
        async with httpx.AsyncClient(
            base_url=url,
            headers=headers,
            timeout=seconds,
            trust_env=not is_here(url),
            transport=transport,
        ) as client:
            begun = await client.post("/mcp", json=_call("initialize", hello))
            _result(begun)
            own = {"mcp-session-id": begun.headers.get("mcp-session-id", "")}
            own["mcp-protocol-version"] = _REVISION
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await client.post("/mcp", json=ready, headers=own)
            listed = _result(await client.post("/mcp", json=_call("tools/list", {}), headers=own))
            await client.request("DELETE", "/mcp", headers=own)
    except httpx.HTTPError as error:
        msg = f"it does not answer ({error})"
        raise ValueError(msg) from error
    return [one["name"] for one in listed["tools"]]


def _call(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _result(answer: httpx.Response) -> dict[str, Any]:
    """Return the result of a call, told as JSON or as an event."""
    lines = [line[5:] for line in answer.text.splitlines() if line.startswith("data:")]
    try:
        told = json.loads(next((line for line in lines if line.strip()), answer.text))
        result: dict[str, Any] = told["result"]
    except (ValueError, KeyError, TypeError) as error:
        msg = f"it answered {answer.status_code}: {answer.text[:200]}"
        raise ValueError(msg) from error
    return result
