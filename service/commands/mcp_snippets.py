"""What a person tells a program that speaks MCP, in that program's own words; pure."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

_NAME: Final = "graph-memory"


def snippet(program: str, url: str, key: str | None) -> tuple[str, str]:
    """Return what is to be written, and where it belongs; raises KeyError for no such program."""
    return SNIPPETS[program](f"{url}/mcp", key)


def _headers(key: str | None) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {key}"}} if key else {}


def _json(table: str, server: Mapping[str, Any]) -> str:
    return json.dumps({table: {_NAME: server}}, indent=2)


def _any(url: str, key: str | None) -> tuple[str, str]:
    written = _json("mcpServers", {"type": "http", "url": url, **_headers(key)})
    programs = ", ".join(name for name in SNIPPETS if name != ANY)
    return written, f"Most programs take this; --for writes it for one of {programs}."


def _cursor(url: str, key: str | None) -> tuple[str, str]:
    where = "Into ~/.cursor/mcp.json, or .cursor/mcp.json of a project; then switch it on in"
    told = _json("mcpServers", {"url": url, **_headers(key)})
    return told, f"{where} Settings, MCP."


def _vscode(url: str, key: str | None) -> tuple[str, str]:
    where = "Into .vscode/mcp.json of a project, or by the command `MCP: Open User Configuration`."
    return _json("servers", {"type": "http", "url": url, **_headers(key)}), where


def _claude_desktop(url: str, key: str | None) -> tuple[str, str]:
    command = str(Path(sys.executable).with_name("graph-memory"))
    args = ["mcp", "--url", url.removesuffix("/mcp")]
    server: dict[str, Any] = {"command": command, "args": args}
    if key:
        server["env"] = {"MEMORY_API_KEY": key}
    where = (
        "Into claude_desktop_config.json, which Settings, Developer, Edit Config opens; then start "
        "it anew. It starts its servers itself, so that it gets a command."
    )
    return _json("mcpServers", server), where


def _claude_code(url: str, key: str | None) -> tuple[str, str]:
    header = f' --header "Authorization: Bearer {key}"' if key else ""
    told = f"claude mcp add --transport http {_NAME} {url}{header}"
    return told, "A command. `graph-memory connect claude-code` does more than that: hooks."


def _codex(url: str, key: str | None) -> tuple[str, str]:
    lines = ["[mcp_servers.graph_memory]", f"url = {json.dumps(url)}"]
    if key:
        lines.append(f'http_headers = {{ Authorization = "Bearer {key}" }}')
    return "\n".join(lines), "Into ~/.codex/config.toml. `graph-memory connect codex` does more."


def _chatgpt(url: str, key: str | None) -> tuple[str, str]:
    del key
    where = (
        f"ChatGPT calls from the internet, over HTTPS, and shows no key of ours: it cannot reach "
        f"{url}. Put a proxy of your own before it that lets in nobody else, name that one as a "
        "connector (Settings, Apps & Connectors, developer mode), and start the service with the "
        "setting above, as ChatGPT asks for these two tools."
    )
    return "MEMORY_MCP_TOOLS=search,fetch", where


ANY: Final = "any"
SNIPPETS: Final[Mapping[str, Callable[[str, str | None], tuple[str, str]]]] = {
    ANY: _any, "cursor": _cursor, "vscode": _vscode, "claude-desktop": _claude_desktop,
    "chatgpt": _chatgpt, "claude-code": _claude_code, "codex": _codex,
}  # fmt: skip
