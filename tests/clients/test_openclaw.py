"""OpenClaw, the real gateway of both eras: told in one session, known once in the next."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.conftest import IN_MEMORY_MD, clients
from tests.servers.keyed import keyed_service
from tests.servers.openclaw import PLUGIN, SLOT, VERSIONS, OpenClaw, commands
from tests.servers.running import RunningService, running_service
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("version", VERSIONS)]

Json = dict[str, Any]
TOLD: Final = "Please remember that the code phrase of the lighthouse is blue bunny."
ASKED: Final = "What is the code phrase of the lighthouse?"
BOTH: Final = {"load": {"paths": [str(PLUGIN), str(SLOT)]}}


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
    until(lambda: text in contents(service, agent))


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


def test_in_the_slot_its_search_answers_and_one_line_takes_it_back(
    claw: OpenClaw, memory: RunningService
) -> None:
    claw.write({"baseUrl": memory.url}, **BOTH, slots={"memory": "graph-memory-slot"})
    with claw.gateway():
        claw.say(TOLD)
        captured(memory, TOLD)
        [found] = claw.invoke("memory_search", query=ASKED)["results"]
        assert "blue bunny" in found["snippet"]
        assert claw.invoke("memory_get", path=found["path"])["text"] == TOLD
        claw.say("/new")
        claw.say(ASKED)
        asked = claw.model.texts()[-1]
    assert asked.count("is blue bunny") == 1
    assert IN_MEMORY_MD in asked
    offered = {one["name"] for one in claw.model.turns()[-1]["tools"]}
    assert {
        "memory_search", "memory_get", "memory_recall", "memory_store", "memory_forget",
        "graph_recall",
    } <= offered  # fmt: skip

    claw.run("config", "set", "plugins.slots.memory", "memory-core")
    with claw.gateway():
        core = claw.invoke("memory_search", query="Who is the harbour master?")
        assert core.get("provider") != "graph-memory"
        claw.say("Who is the harbour master?")
    assert IN_MEMORY_MD in claw.model.texts()[-1]


def test_switched_off_by_one_line_nothing_is_told_and_nothing_kept(
    claw: OpenClaw, memory: RunningService
) -> None:
    claw.write({"baseUrl": memory.url})
    claw.run("config", "set", "plugins.entries.graph-memory.enabled", "false")
    with claw.gateway():
        claw.say(TOLD)
        claw.say(ASKED)
    last = claw.model.texts()[-1]
    assert "graph-memory-context" not in last
    assert "memory_recall" not in last
    assert IN_MEMORY_MD in last
    assert contents(memory) == []
    assert clients(memory) == {}


def test_while_the_service_is_away_turns_go_on_and_captures_wait_their_turn(
    claw: OpenClaw, memory: RunningService
) -> None:
    claw.write({"baseUrl": "http://127.0.0.1:9"})
    with claw.gateway():
        assert "Understood." in claw.say(TOLD)
        claw.say("Please remember that the gate of the harbour is red.")
        until(lambda: len(spool(claw)) == 2)
        waiting = spool(claw)
    assert [json.loads(path.read_text())["offset"] for path in waiting] == [0, 2]
    assert {path.stat().st_mode & 0o777 for path in waiting} == {0o600}
    assert (claw.state / "graph-memory").stat().st_mode & 0o777 == 0o700

    claw.write({"baseUrl": memory.url})
    with claw.gateway():
        claw.say("/new")
        claw.say("Good morning.")
        captured(memory, "Please remember that the gate of the harbour is red.")
        claw.say(ASKED)
        asked = claw.model.texts()[-1]
    assert asked.count("is blue bunny") == 1
    assert contents(memory).count(TOLD) == 1
    assert spool(claw) == []


def test_two_agents_of_a_gateway_are_kept_apart_by_a_key_with_least_rights(
    claw: OpenClaw, tmp_path: Path, embedding_url: str
) -> None:
    with keyed_service(data_dir=tmp_path / "keyed", embedding_url=embedding_url) as keyed:
        key = keyed.key(["read", "write"], ["main", "harbour"])[1]
        claw.write({"baseUrl": keyed.url, "apiKey": key, "agents": {"work": "harbour"}})
        claw.settings["agents"] |= several(claw)
        claw.save()
        with claw.gateway(), keyed.client(key) as client:
            claw.say(TOLD)
            until(lambda: client.get("/stats").json()["memories"])
            claw.say(ASKED, "work")
            other = claw.model.texts()[-1]
            claw.say("/new")
            claw.say(ASKED)
            own = claw.model.texts()[-1]
            harbours = client.get("/memories", params={"agent": "harbour"})
    assert "is blue bunny" not in other
    assert own.count("is blue bunny") == 1
    assert "blue bunny" not in harbours.text


def several(claw: OpenClaw) -> Json:
    """Return the setting of two agents, as each era has it."""
    if claw.version == VERSIONS[0]:
        return {"list": [{"id": "main", "default": True}, {"id": "work"}]}
    return {"entries": {"main": {"default": True}, "work": {}}}


def test_what_is_ignored_is_neither_told_nor_kept(claw: OpenClaw, memory: RunningService) -> None:
    claw.write({"baseUrl": memory.url, "ignoreSessions": ["agent:main:*"]})
    with claw.gateway():
        claw.say(TOLD)
        assert claw.invoke("memory_recall", query=ASKED)["disabled"] is True
    assert contents(memory) == []
    assert "graph-memory-context" not in claw.model.texts()[-1].split("## Graph Memory")[0]
    (claw.workspace / ".graph-memory.toml").write_text("off = true\n", "utf-8")
    claw.write({"baseUrl": memory.url})
    with claw.gateway():
        claw.say(TOLD)
        time.sleep(2)
    assert contents(memory) == []
    assert spool(claw) == []


def test_the_lines_of_the_guide_put_it_in_and_out(claw: OpenClaw, memory: RunningService) -> None:
    claw.write({})
    del claw.settings["plugins"]
    claw.save()
    for line in commands("Connect it by hand", claw.version)[:2]:
        claw.run(*line)
    claw.run("config", "set", "plugins.entries.graph-memory.config.baseUrl", memory.url)
    with claw.gateway():
        claw.say(TOLD)
        captured(memory, TOLD)
    inspected = claw.run("plugins", "inspect", "graph-memory", "--runtime", "--json").stdout
    told = json.loads(inspected[inspected.index("{\n") :])
    assert (len(told["typedHooks"]), len(told["tools"])) == (5, 4)
    assert told["diagnostics"] == []

    install, take_back = commands("In the memory slot", claw.version)
    claw.run(*install)
    assert plugins_of(claw)["slots"]["memory"] == "graph-memory-slot"
    with claw.gateway():
        assert claw.invoke("memory_search", query=ASKED)["provider"] == "graph-memory"
    claw.run(*take_back)
    assert plugins_of(claw)["slots"]["memory"] == "memory-core"

    off, out = commands("Undo", claw.version)
    claw.run(*off)
    assert plugins_of(claw)["entries"]["graph-memory"]["enabled"] is False
    claw.run(*out)
    claw.run(*[*out[:-1], "graph-memory-slot"])
    assert plugins_of(claw).get("load", {}).get("paths", []) == []
    assert (SLOT / "index.js").exists()


def plugins_of(claw: OpenClaw) -> Json:
    """Return what is set of plugins now."""
    told = json.loads((claw.state / "openclaw.json").read_text("utf-8"))
    plugins: Json = told.get("plugins", {})
    return plugins
