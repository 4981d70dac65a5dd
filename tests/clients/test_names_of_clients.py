"""Without keys a memory says which program stored it: each of ours has a name of its own."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from service.client.endpoints import AsyncGraphMemory, GraphMemory
from service.commands.connections import Connection
from service.commands.programs import OPENCLAW
from service.commands.spooled import send_captures
from tests.clients.conftest import Hooks, Machine
from tests.clients.test_spooled import spooled
from tests.conftest import Start
from tests.servers.running import RunningService

SAID = "Please remember that the gate is red."


def name_of(client: httpx.Client) -> str:
    """Return what the one memory that there is tells of who stored it."""
    [memory] = client.get("/memories").json()["memories"]
    told: str = memory["client"]
    return told


SPOKEN = {"role": "user", "content": [{"type": "input_text", "text": SAID}]}
LINES = {
    "claude-code": {"type": "user", "message": {"role": "user", "content": SAID}},
    "codex": {"type": "response_item", "payload": {"type": "message", **SPOKEN}},
}


@pytest.mark.parametrize("program", LINES)
def test_a_capture_is_of_the_program_whose_session_it_was(
    hooks: Hooks, tmp_path: Path, start: Start, program: str
) -> None:
    service = start()
    hooks.connect(service.url)
    transcript = tmp_path / "s1.jsonl"
    transcript.write_text(json.dumps(LINES[program]) + "\n")
    assert hooks.send("Stop", program=program, transcript_path=str(transcript)) == {}
    assert name_of(service.client) == f"graph-memory-{program}"


def test_what_waited_beside_a_gateway_is_the_plugins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "claw"))
    spooled(OPENCLAW.own / "spool", 1, SAID)
    service = start()
    asyncio.run(send_captures(OPENCLAW, Connection(service.url)))
    assert name_of(service.client) == "graph-memory-openclaw"


def test_a_command_names_itself_with_a_service_and_without(
    machine: Machine, memory: RunningService, tmp_path: Path
) -> None:
    machine.graph_memory("store", SAID)
    assert name_of(memory.client) == "graph-memory"
    machine.more["MEMORY_DATA_DIR"] = str(tmp_path / "another")
    machine.graph_memory("store", SAID)
    assert '"client": "graph-memory"' in machine.graph_memory("search", "gate", "--json").stdout


def test_a_program_of_ones_own_names_itself(start: Start) -> None:
    service = start()
    with GraphMemory(service.url) as memory:
        key = memory.store_memory(SAID)["id"]
        assert memory.read_memory(key)["client"] == "graph-memory-python"

    async def store() -> str:
        async with AsyncGraphMemory(service.url, client="night-watch") as named:
            return (await named.store_memory("The watch begins at ten."))["id"]

    key = asyncio.run(store())
    assert service.client.get(f"/memories/{key}").json()["client"] == "night-watch"
