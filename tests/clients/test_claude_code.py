"""Claude Code, the real program, from `connect` to `disconnect`: told once, known in the next."""

import json
from typing import Final

import pytest

from tests.clients.conftest import Machine, arrived, clients, files_of
from tests.servers.real_programs import program
from tests.servers.running import RunningService

pytestmark = pytest.mark.slow
TOLD: Final = "Please remember that the code phrase of the lighthouse is blue bunny."
MADE: Final = ("plugins/installed_plugins.json", "plugins/known_marketplaces.json")
ASKED: Final = "What is the code phrase of the lighthouse?"


@pytest.fixture
def person(machine: Machine, memory: RunningService) -> Machine:
    """Return somebody who has Claude Code, with settings of their own, and connected it."""
    machine.put("claude", program("claude"))
    settings = machine.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n    "env": {"MINE": "1"},\n  "hooks": {"Stop": []}\n}')
    assert memory.url
    machine.graph_memory("connect", "claude-code")
    return machine


def test_what_is_told_in_one_session_is_known_once_in_the_next(
    person: Machine, memory: RunningService
) -> None:
    person.claude(TOLD)
    first = clients(memory)["claude-code"]
    assert first["sessions"] == 1, first
    assert first["last_event"] == "SessionEnd"
    stored = memory.client.get("/memories").json()["memories"]
    # The handoff of a session that wrote none comes behind the answer to its end.
    facts = [one for one in stored if one["kind"] != "handoff"]
    assert [one["content"] for one in facts if "blue bunny" in one["content"]] == [TOLD], stored
    assert facts[0]["scope"].endswith('mina\'s "crane" 두루미')

    before = len(person.model.asked)
    person.claude(ASKED)
    asked = person.model.texts()[-1]
    assert len(person.model.asked) > before
    assert asked.count("blue bunny") == 1
    assert "graph-memory-context" in asked
    second = clients(memory)["claude-code"]
    assert second["injections"] == 1
    assert second["warning"] is None
    assert second["last_hook_at"] > first["last_hook_at"]


def test_two_turns_of_a_session_and_a_resumed_one_repeat_nothing(
    person: Machine, memory: RunningService
) -> None:
    person.claude(TOLD)
    said = json.loads(person.claude(ASKED, "--output-format", "json").stdout)
    for prompt in (ASKED, "Which code phrase does the lighthouse have, again?"):
        person.claude(prompt, "--resume", said["session_id"])
    last = person.model.turns()[-1]
    assert json.dumps(last, ensure_ascii=False).count("is blue bunny") == 1
    # What stands before the new turn is what stood there: caches of prompts hold.
    firsts = [json.dumps(body["messages"][0]) for body in person.model.turns()[-3:]]
    assert firsts[0].split("cache_control")[0] == firsts[2].split("cache_control")[0]
    told = clients(memory)["claude-code"]
    assert told["injections"] == 1


def test_a_failed_command_is_answered_with_the_fix_that_mended_it(
    person: Machine, memory: RunningService
) -> None:
    command = "sh build-tides.sh"
    failure = person.run("sh", "build-tides.sh", checked=False).stderr
    entries = [
        {"role": "user", "content": "Show the tides."},
        {"role": "assistant", "command": command, "call": "1"},
        {"role": "tool", "call": "1", "exit": 2, "content": failure},
        {"role": "assistant", "command": "cp ../harbour/build-tides.sh .", "call": "2"},
        {"role": "tool", "call": "2", "exit": 0, "content": "ok"},
        {"role": "assistant", "command": command, "call": "3"},
        {"role": "tool", "call": "3", "exit": 0, "content": "6:12 low"},
    ]
    body = {"session": "old", "client": "generic", "entries": entries}
    answer = memory.client.post("/observe", json=body | {"project": {"root": str(person.project)}})
    assert answer.json()["stored"] == 1, answer.text
    person.model.tool = {"name": "Bash", "input": {"command": command}}
    person.claude("Show me the tides.")
    last = person.model.texts()[-1]
    assert "No such file" in last
    assert last.count("cp ../harbour/build-tides.sh") == 1


def test_a_sub_agent_is_a_session_of_its_own_of_which_nothing_is_kept(
    person: Machine, memory: RunningService
) -> None:
    own = {"root": str(person.project)}
    rule = "Nothing imports the harbour module at its top level."
    history = "In tides_table.py the first row is low water."
    for path, text in (("/decisions", rule), ("/handoff", "Go on with the pier."),
                       ("/memories", history)):  # fmt: skip
        assert memory.client.post(path, json={"text": text, "project": own}).is_success
    table = person.project / "tides_table.py"
    table.write_text("ROWS = []\n")
    helper = "Please remember that the inner gate is green, and read the table of tides."
    agent = {"description": "Read it", "prompt": helper, "subagent_type": "general-purpose"}
    person.model.tools = {
        "Ask a helper": {"name": "Agent", "input": agent},
        "the inner gate": {"name": "Read", "input": {"file_path": str(table)}},
    }
    person.claude("Ask a helper for the tides.", "--allowedTools", "Agent")
    [*_, asked] = [told for told in person.model.texts() if helper in told and "Ask a" not in told]
    assert asked.count(rule) == 1
    assert asked.count("the first row is low water") == 1
    assert "Go on with the pier" not in asked
    seen = clients(memory)["claude-code"]
    assert seen["sub_agent_hooks"] >= 3, seen
    assert (seen["sessions"], seen["warning"]) == (1, None)
    stored = [one["content"] for one in memory.client.get("/memories").json()["memories"]]
    assert [text for text in stored if "inner gate" in text and "helper" not in text] == []
    [key] = [one["id"] for one in memory.client.get("/decisions").json()["decisions"]]
    lineage = memory.client.get(f"/memories/{key}/lineage").json()
    sessions = sorted(one["session"] for one in lineage["sessions"])
    assert len(sessions) == 2
    assert sessions[0] == seen["last_session"]
    assert sessions[1].startswith(f"{sessions[0]}/")


def test_what_is_said_while_the_service_is_away_is_delivered_once_in_its_order(
    person: Machine, memory: RunningService
) -> None:
    port = person.more["MEMORY_PORT"]
    connection = person.home / ".claude" / "graph-memory" / "client.json"
    away = json.loads(connection.read_text()) | {"url": "http://127.0.0.1:9"}
    connection.write_text(json.dumps(away))
    person.claude(TOLD)
    person.claude("Please remember that the gate of the harbour is red.")
    spool = sorted((connection.parent / "spool").glob("*.json"))
    assert len(spool) >= 2
    assert {path.stat().st_mode & 0o777 for path in spool} == {0o600}
    assert connection.parent.stat().st_mode & 0o777 == 0o700
    assert memory.client.get("/stats").json()["memories"] == 0
    connection.write_text(json.dumps(away | {"url": f"http://127.0.0.1:{port}"}))
    person.claude(ASKED)
    arrived(connection.parent / "spool")
    stored = [one["content"] for one in memory.client.get("/memories").json()["memories"]]
    assert stored.count(TOLD) == 1
    assert "is blue bunny" in person.model.texts()[-1]


def test_connect_tells_before_it_writes_and_disconnect_leaves_nothing(
    machine: Machine, memory: RunningService
) -> None:
    machine.put("claude", program("claude"))
    settings = machine.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_bytes(b'{\r\n    "env": {"MINE": "1"},\r\n  "hooks": {"Stop": []}\r\n}')
    before = files_of(machine.home / ".claude")
    told = machine.graph_memory("connect", "claude-code", "--dry-run").stdout
    assert files_of(machine.home / ".claude") == before
    for path in (settings, settings.parent / "graph-memory", settings.parent / "plugins"):
        assert str(path) in told
    done = machine.graph_memory("connect", "claude-code")
    assert [f"would {line}" for line in done.stdout.splitlines()] == told.splitlines()
    kept = json.loads(settings.read_text())
    assert (kept["env"], kept["hooks"]) == ({"MINE": "1"}, {"Stop": []})
    connected = settings.read_bytes()
    machine.graph_memory("connect", "claude-code")
    assert settings.read_bytes() == connected
    machine.claude("Please remember that the gate of the harbour is red.")
    machine.graph_memory("disconnect", "claude-code")
    after = files_of(machine.home / ".claude")
    assert {path: after.get(path) for path in before} == before
    traces = [path for path, content in after.items() if b"graph-memory@" in content]
    traces += [path for path in after if "graph-memory" in path or path in MADE]
    assert traces == []
    assert memory.client.get("/stats").json()["memories"] > 0
    again = machine.graph_memory("disconnect", "claude-code")
    assert "is not connected" in again.stderr


@pytest.mark.parametrize(
    ("text", "why"),
    [('{"env": {}, // mine\n}', "not plain JSON"), ('{"env": {},}', "trailing commas"),
     ("[1]", "holds no settings")],
)  # fmt: skip
def test_settings_that_would_lose_something_are_left_as_they_are(
    machine: Machine, memory: RunningService, text: str, why: str
) -> None:
    machine.put("claude", program("claude"))
    settings = machine.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(text)
    assert memory.url
    done = machine.graph_memory("connect", "claude-code", checked=False)
    assert done.returncode == 1
    assert why in " ".join(done.stderr.split())
    assert files_of(machine.home / ".claude") == {"settings.json": text.encode()}


def test_the_doctor_finds_what_a_newcomer_gets_wrong(
    person: Machine, memory: RunningService
) -> None:
    early = person.graph_memory("doctor", "claude-code", checked=False).stdout
    assert "none ever came" in early
    assert "stored, recalled, forgotten" in early
    person.claude(TOLD)
    well = person.graph_memory("doctor", "claude-code")
    assert "wrong" not in well.stdout
    assert memory.client.get("/search?q=canary&include_archived=true").json()["results"] == [] or (
        "doctor's word" not in memory.client.get("/search?q=doctor+word").text
    )
    person.more["MEMORY_PORT"] = "9"
    connection = person.home / ".claude" / "graph-memory" / "client.json"
    told = json.loads(connection.read_text())
    connection.write_text(json.dumps(told | {"url": "http://127.0.0.1:9"}))
    away = person.graph_memory("doctor", "claude-code", checked=False)
    assert away.returncode == 1
    assert "start it with ./scripts/run" in " ".join(away.stdout.split())
