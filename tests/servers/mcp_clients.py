"""The official client of MCP, over HTTP and over stdio, in both eras of the protocol."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, Literal

from mcp import Client, StdioServerParameters
from mcp.client import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import CallToolResult, ElicitResult, Implementation, TextContent

Era = Literal["legacy", "2026-07-28"]
ERAS: Final[tuple[Era, ...]] = ("legacy", "2026-07-28")
NAME: Final = "Test Client"


class Person:
    """Answers what a client is asked: with one of the options, or not at all."""

    def __init__(self, says: str | None) -> None:
        self._says = says
        self.asked: list[dict[str, Any]] = []

    async def __call__(self, context: ClientRequestContext, params: Any) -> ElicitResult:
        """Choose the first option that holds the words; decline where none does."""
        del context
        options = params.requested_schema["properties"]["choice"]["enum"]
        self.asked.append({"message": params.message, "options": options})
        chosen = [one for one in options if self._says is not None and self._says in one]
        if not chosen:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content={"choice": chosen[0]})


@asynccontextmanager
async def over_http(
    url: str, era: Era = "2026-07-28", *, key: str | None = None, person: Person | None = None
) -> AsyncIterator[Client]:
    """Connect to the service at a URL, without /mcp."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with create_mcp_http_client(headers) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(
            transport, mode=era, elicitation_callback=person,
            client_info=Implementation(name=NAME, version="1"), read_timeout_seconds=60,
        ) as client:  # fmt: skip
            yield client


@asynccontextmanager
async def over_stdio(
    environment: dict[str, str], era: Era = "2026-07-28", *, words: tuple[str, ...] = (),
    folder: str | None = None, person: Person | None = None,
) -> AsyncIterator[Client]:  # fmt: skip
    """Start `graph-memory mcp` and connect to it."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "service", "mcp", *words],
        env={"PYTHONPATH": os.pathsep.join(sys.path), **environment},
        cwd=folder,
    )
    async with Client(
        parameters, mode=era, elicitation_callback=person,
        client_info=Implementation(name=NAME, version="1"), read_timeout_seconds=60,
    ) as client:  # fmt: skip
        yield client


async def told(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Return the structured answer of a tool; fail where there is none."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, text_of(result)
    answer: dict[str, Any] | None = result.structured_content
    assert answer is not None
    return answer


def text_of(result: CallToolResult) -> str:
    """Return a result's words."""
    return "\n".join(one.text for one in result.content if isinstance(one, TextContent))
