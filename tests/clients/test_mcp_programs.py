"""Claude Code and Codex with the memory as tools alone: told in one session, known in the next."""

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.clients.conftest import Machine, contents
from tests.servers.real_programs import program
from tests.servers.running import RunningService

pytestmark = pytest.mark.slow

FACT: Final = "The code phrase of the lighthouse is blue bunny."
ASKED: Final = "What is the code phrase of the lighthouse?"
Say = Callable[[str], Any]
Tool = Callable[[str], dict[str, Any]]


def test_claude_code_stores_in_one_session_and_finds_in_the_next(
    machine: Machine, memory: RunningService
) -> None:
    machine.put("claude", program("claude"))
    machine.run("sh", "-c", machine.graph_memory("connect", "mcp", "--for", "claude-code").stdout)

    def say(prompt: str) -> None:
        machine.claude(prompt, "--allowedTools", "mcp__graph-memory")

    check_told_and_known(machine, memory, say, lambda tool: {"name": f"mcp__graph-memory__{tool}"})


def test_codex_stores_in_one_session_and_finds_in_the_next(
    machine: Machine, memory: RunningService
) -> None:
    machine.put_codex()
    section = machine.graph_memory("connect", "mcp", "--for", "codex").stdout
    config = machine.home / ".codex" / "config.toml"
    config.write_text(f"{config.read_text()}\n{section}")

    def say(prompt: str) -> None:
        machine.run("codex", "exec", "--skip-git-repo-check", prompt)

    check_told_and_known(
        machine, memory, say, lambda tool: {"server": "mcp__graph_memory", "name": tool}
    )


def check_told_and_known(machine: Machine, memory: RunningService, say: Say, tool: Tool) -> None:
    """Let the model ask for the tools that a real one would; look at what it is sent."""
    machine.model.tool = tool("memory_store") | {"input": {"text": FACT}}
    say("Remember the phrase.")
    assert contents(memory.client) == [FACT]
    before = len(machine.model.asked)
    machine.model.tool = tool("memory_search") | {"input": {"query": ASKED}}
    say(ASKED)
    assert len(machine.model.asked) > before
    [first, *_, last] = [json.dumps(body) for body in machine.model.turns()[-2:]]
    assert first.count("blue bunny") == 0
    assert last.count("blue bunny") == 1
