"""OpenClaw, the real gateway of both eras: told in one session, known once in the next."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.conftest import clients
from tests.servers.fake_model import fake_model
from tests.servers.openclaw import PLUGIN, VERSIONS, OpenClaw, free_port
from tests.servers.running import RunningService, running_service

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("version", VERSIONS)]

Json = dict[str, Any]
TOLD: Final = "Please remember that the code phrase of the lighthouse is blue bunny."
ASKED: Final = "What is the code phrase of the lighthouse?"
IN_MEMORY_MD: Final = "The harbour master is called Ines."
SLOT: Final = {"load": {"paths": [str(PLUGIN), str(PLUGIN / "slot")]}}


@pytest.fixture
def claw(version: str, tmp_path: Path) -> Iterator[OpenClaw]:
    """Yield somebody's OpenClaw, with a MEMORY.md of theirs."""
    home = tmp_path / "home"
    with fake_model() as model:
        person = OpenClaw(version, home, model, free_port())
        person.workspace.mkdir(parents=True)
        (person.workspace / "MEMORY.md").write_text(f"# Memory\n\n- {IN_MEMORY_MD}\n", "utf-8")
        yield person


@pytest.fixture
def memory(tmp_path: Path, embedding_url: str) -> Iterator[RunningService]:
    """Yield a service of that person's own."""
    with running_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as service:
        yield service


def contents(service: RunningService, agent: str = "main") -> list[str]:
    """Return what is stored of an agent."""
    listed = service.client.get("/memories", params={"agent": agent}).json()["memories"]
    return [one["content"] for one in listed]


def captured(service: RunningService, text: str, agent: str = "main") -> None:
    """Wait until something was stored: a gateway waits for nobody at the end of a turn."""
    end = time.monotonic() + 20
    while text not in contents(service, agent):
        assert time.monotonic() < end, contents(service, agent)
        time.sleep(0.2)


def spool(claw: OpenClaw) -> list[Path]:
    """Return the captures that wait."""
    return sorted((claw.state / "graph-memory" / "spool").glob("*.json"))


def test_what_is_told_in_one_session_is_known_once_in_the_next(
    claw: OpenClaw, memory: RunningService
) -> None:
    claw.write({"baseUrl": memory.url})
    with claw.gateway():
        claw.say(TOLD)
        captured(memory, TOLD)
        claw.say("/new")
        claw.say(ASKED)
        first = claw.model.texts()[-1]
        claw.say("Which code phrase does the lighthouse have, again?")
        second = claw.model.texts()[-1]
    for asked in (first, second):
        assert asked.count("is blue bunny") == 1
        assert "graph-memory-context" in asked
        assert IN_MEMORY_MD in asked
    # What stands before the new turn is what stood there: caches of prompts hold.
    assert system_of(claw.model.turns()[-1]) == system_of(claw.model.turns()[-2])
    assert contents(memory).count(TOLD) == 1
    seen = clients(memory)["openclaw"]
    assert seen["injections"] >= 1
    assert seen["sessions"] == 2
    assert spool(claw) == []


def system_of(body: Json) -> str:
    """Return what a request says to its model before all turns."""
    return json.dumps([body.get("instructions"), body["input"][0]])
