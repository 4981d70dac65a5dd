"""OpenClaw from `connect` to `disconnect`, by its own command in both eras."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.conftest import Machine, files_of
from tests.servers.keyed import keyed_service
from tests.servers.openclaw import PLUGIN, SLOT, VERSIONS, OpenClaw
from tests.servers.running import RunningService, free_port
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("version", VERSIONS)]

Json = dict[str, Any]
TOLD: Final = "Please remember that the code phrase of the lighthouse is blue bunny."
ASKED: Final = "What is the code phrase of the lighthouse?"
# What the gateway's own command writes down of each change of its settings.
OWN_RECORDS: Final = ("openclaw.json.bak", "logs/", "state/", "config-journal")


@dataclass
class Person:
    """Somebody with an OpenClaw, and our command."""

    machine: Machine
    claw: OpenClaw

    @property
    def settings(self) -> Path:
        """The gateway's settings."""
        return self.claw.state / "openclaw.json"

    @property
    def own(self) -> Path:
        """Our folder beside them."""
        return self.claw.state / "graph-memory"

    def plugins(self) -> Json:
        """Return what the settings say of plugins."""
        told: Json = json.loads(self.settings.read_text()).get("plugins", {})
        return told

    def files(self) -> dict[str, bytes]:
        """Return the files of the gateway but its own records."""
        return {
            path: content
            for path, content in files_of(self.claw.state).items()
            if not path.startswith(OWN_RECORDS)
        }


@pytest.fixture
def person(version: str, machine: Machine) -> Person:
    """Return somebody whose workspace has a name that shells and paths stumble over."""
    claw = OpenClaw(version, machine.home, machine.model, free_port())
    script = machine.home / "openclaw.sh"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(claw.command)} "$@"\n')
    script.chmod(0o755)
    machine.put("openclaw", script)
    own = claw.environment
    machine.more |= {name: own[name] for name in own if name.startswith("OPENCLAW_")}
    claw.write({})
    del claw.settings["plugins"]
    claw.settings["agents"]["defaults"]["workspace"] = str(machine.project)
    # As each gateway marks what it wrote.
    claw.settings["meta"] = {"lastTouchedVersion": version}
    text = json.dumps(claw.settings, indent=4, ensure_ascii=False).replace("\n", "\r\n")
    (claw.state / "openclaw.json").write_bytes(text.encode())
    return Person(machine, claw)


def stored(memory: RunningService, text: str) -> Json:
    """Wait until something was stored, and return it."""

    def found() -> list[Json]:
        listed = memory.client.get("/memories").json()["memories"]
        return [one for one in listed if one["content"] == text]

    return until(found)[0]


def test_connected_it_remembers_and_disconnected_nothing_is_left(
    person: Person, memory: RunningService
) -> None:
    before = person.files()
    told = person.machine.graph_memory("connect", "openclaw", "--dry-run").stdout
    assert person.files() == before
    assert str(person.settings) in told
    assert str(person.own) in told
    done = person.machine.graph_memory("connect", "openclaw")
    assert [f"would {line}" for line in done.stdout.splitlines()] == told.splitlines()
    assert "openclaw gateway restart" in done.stderr
    kept = json.loads(person.settings.read_bytes())
    old = json.loads(before["openclaw.json"])
    assert {name: kept[name] for name in old if name != "meta"} | {"meta": old["meta"]} == old
    connected = person.files()
    again = person.machine.graph_memory("connect", "openclaw").stdout
    assert "run `openclaw" not in again
    assert person.files() == connected

    early = person.machine.graph_memory("doctor", "openclaw").stdout
    assert "none ever came: restart its gateway" in early
    assert "두루미" in early
    with person.claw.gateway():
        person.claw.say(TOLD)
        assert stored(memory, TOLD)["scope"].endswith('mina\'s "crane" 두루미')
        person.claw.say("/new")
        person.claw.say(ASKED)
        assert person.machine.model.texts()[-1].count("is blue bunny") == 1
    well = person.machine.graph_memory("doctor", "openclaw").stdout
    assert "wrong" not in well
    assert "stored, recalled, forgotten" in well

    told = person.machine.graph_memory("disconnect", "openclaw", "--dry-run").stdout
    assert person.own.is_dir()
    person.machine.graph_memory("disconnect", "openclaw")
    assert person.settings.read_bytes() == before["openclaw.json"]
    assert not person.own.exists()
    assert "is not connected" in person.machine.graph_memory("disconnect", "openclaw").stderr
    with person.claw.gateway():
        person.claw.say("Is there a memory?")
    assert "memory_recall" not in person.machine.model.texts()[-1]
    assert memory.client.get("/stats").json()["memories"] > 0


def test_by_choice_it_stands_in_the_slot_and_other_plugins_stay(
    person: Person, memory: RunningService
) -> None:
    told = json.loads(person.settings.read_text())
    del told["meta"]
    mine = {"entries": {"talk-voice": {"enabled": False}}}
    person.settings.write_text(json.dumps(told | {"plugins": mine}))
    before = json.loads(person.settings.read_text())
    assert memory.url
    person.machine.graph_memory("connect", "openclaw", "--slot")
    assert person.plugins()["slots"] == {"memory": "graph-memory-slot"}
    assert person.plugins()["load"]["paths"] == [str(PLUGIN), str(SLOT)]
    with person.claw.gateway():
        found = person.claw.invoke("memory_search", query=ASKED)
        assert found["provider"] == "graph-memory"
    person.claw.run("config", "set", "plugins.entries.graph-memory.enabled", "false")
    off = person.machine.graph_memory("doctor", "openclaw", checked=False)
    assert off.returncode == 1
    assert "it is switched off" in off.stdout
    person.machine.graph_memory("disconnect", "openclaw")
    # A gateway that took this for damaged would put the last settings back.
    person.claw.run("config", "get", "gateway.port")
    left = json.loads(person.settings.read_text())
    assert {name: left[name] for name in left if name != "meta"} == before


def test_settings_with_comments_are_left_alone_and_found_once_a_person_wrote_them(
    person: Person, memory: RunningService
) -> None:
    plain = person.settings.read_text().rstrip()
    text = f"// Mina's gateway\n{plain[:-1].rstrip()},\n}}\n"
    person.settings.write_text(text)
    assert memory.url
    refused = person.machine.graph_memory("connect", "openclaw", checked=False)
    assert refused.returncode == 1
    assert not person.own.exists()
    assert person.settings.read_text() == text
    [line] = [one for one in refused.stderr.splitlines() if one.startswith("plugins: ")]
    by_hand = text.replace("{", "{ " + line + ",", 1)
    person.settings.write_text(by_hand)
    person.machine.graph_memory("connect", "openclaw")
    assert person.settings.read_text() == by_hand
    with person.claw.gateway():
        person.claw.say(TOLD)
        stored(memory, TOLD)
    person.settings.write_text(by_hand)
    stays = person.machine.graph_memory("disconnect", "openclaw", checked=False)
    assert "take graph-memory out" in " ".join(stays.stderr.split())
    assert person.own.exists()
    person.settings.write_text(text)
    person.machine.graph_memory("disconnect", "openclaw")
    assert person.settings.read_text() == text
    assert not person.own.exists()


def test_its_key_is_good_for_its_agents_alone_and_what_waits_is_sent_before_it_ends(
    person: Person, tmp_path: Path, embedding_url: str
) -> None:
    listed: Json = {"list": [{"id": "main", "default": True}, {"id": "work"}]}
    if person.claw.version != VERSIONS[0]:
        listed = {"entries": {"main": {"default": True}, "work": {}}}
    told = json.loads(person.settings.read_text())
    told["agents"] |= listed
    person.settings.write_text(json.dumps(told))
    with keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as keyed:
        person.machine.more |= {
            "MEMORY_PORT": keyed.url.rpartition(":")[2], "MEMORY_DATA_DIR": str(tmp_path / "data"),
            "MEMORY_API_KEY": keyed.admin,
        }  # fmt: skip
        done = person.machine.graph_memory("connect", "openclaw").stdout
        assert "read, write, agents main, work alone" in done
        own = person.own / "client.json"
        assert own.stat().st_mode & 0o777 == 0o600
        key = json.loads(own.read_text())["key"]
        assert key not in person.settings.read_text()
        with person.claw.gateway(), keyed.client(key) as client:
            person.claw.say(TOLD, "work")
            until(lambda: TOLD in client.get("/memories", params={"agent": "work"}).text)
            assert client.get("/memories", params={"agent": "other"}).status_code == 403
            assert client.get("/keys").status_code == 403
        spool = person.own / "spool"
        spool.mkdir(exist_ok=True)
        item = {
            "session": "s9", "client": "openclaw", "agent": "work", "offset": 5,
            "entries": [{"role": "user", "content": "Please remember that the quay is closed."}],
        }  # fmt: skip
        (spool / "000000000009.json").write_text(json.dumps(item))
        said = person.machine.graph_memory("disconnect", "openclaw").stderr
        assert "Session s9: 5 entries before this delta were never sent" in said
        with keyed.client() as admin:
            assert "the quay is closed" in admin.get("/memories", params={"agent": "work"}).text
            keys = admin.get("/keys").json()["keys"]
        live = [one["name"] for one in keys if not one["revoked_at"]]
        assert not any(name.startswith("openclaw on") for name in live)
        assert not person.own.exists()
