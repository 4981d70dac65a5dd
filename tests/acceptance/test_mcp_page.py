"""The blocks of docs/mcp.md: what they name is there, and what this machine can run is run."""

import asyncio
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from service.mcp.offered.table import ALWAYS, BY_CHOICE
from tests.servers.mcp_clients import over_http, over_stdio
from tests.servers.npm import INSPECTOR, run_script
from tests.servers.running import RunningService

ENGINES = ("resident",)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "mcp.md"
TEXT = PAGE.read_text(encoding="utf-8")
URL = "http://127.0.0.1:8080"


def _blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)


async def _names(url: str) -> list[str]:
    async with over_http(url) as client:
        return [one.name for one in (await client.list_tools()).tools]


@pytest.mark.parametrize("block", [*_blocks("sh"), *_blocks("toml")])
def test_every_address_of_a_command_or_file_is_answered(
    block: str, service: RunningService
) -> None:
    for url in re.findall(r"https?://[^\s\"]+", block):
        assert url == f"{URL}/mcp"
        assert "memory_search" in asyncio.run(
            _names(url.removesuffix("/mcp").replace(URL, service.url))
        )


def test_the_file_of_codex_is_toml() -> None:
    [block] = _blocks("toml")
    assert tomllib.loads(block)["mcp_servers"]["graph_memory"]["url"] == f"{URL}/mcp"


def test_the_command_for_stdio_starts_a_server(service: RunningService, tmp_path: Path) -> None:
    [block] = _blocks("json")
    told = json.loads(block)["mcpServers"]["graph-memory"]
    assert told["command"] == "graph-memory"
    assert told["env"].keys() == {"MEMORY_API_KEY"}
    first, *words = (one.replace(URL, service.url) for one in told["args"])
    assert first == "mcp"

    async def names() -> list[str]:
        async with over_stdio({}, words=tuple(words), folder=str(tmp_path)) as client:
            return [one.name for one in (await client.list_tools()).tools]

    assert asyncio.run(names()) == [one.name for one in ALWAYS]


def test_the_example_stores_and_finds(
    service: RunningService, capsys: pytest.CaptureFixture[str]
) -> None:
    [example] = _blocks("python")
    body = "\n".join(f"    {line}" for line in example.replace(URL, service.url).splitlines())
    variables: dict[str, Any] = {}
    exec(f"async def main():\n{body}", variables)  # noqa: S102 - our own page
    asyncio.run(variables["main"]())
    assert "JR's code phrase is blue bunny." in capsys.readouterr().out


def test_the_inspectors_line_lists_the_tools(service: RunningService) -> None:
    [line] = [one for block in _blocks("sh") for one in block.splitlines() if "npx" in one]
    _, package, *words = shlex.split(line.replace(URL, service.url))
    assert package == INSPECTOR
    done = run_script(INSPECTOR, "clients/launcher/build/index.js", *words)
    assert done.returncode == 0, done.stderr
    assert [one["name"] for one in json.loads(done.stdout)["tools"]] == [o.name for o in ALWAYS]


def test_the_page_names_every_tool() -> None:
    assert {one.name for one in ALWAYS + BY_CHOICE} <= set(re.findall(r"`(\w+)`", TEXT))
    tools = TEXT.partition("## What there is")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|", tools, re.MULTILINE)
    assert rows == [one.name for one in ALWAYS]
