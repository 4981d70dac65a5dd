"""Codex, the real program, from `connect` to `disconnect`; its replies by its own schemas."""

import json
import re
from itertools import pairwise
from typing import Any, Final

import pytest
from jsonschema import Draft7Validator

from tests.clients.conftest import Machine, arrived, clients, files_of
from tests.servers.real_programs import program
from tests.servers.running import RunningService

pytestmark = pytest.mark.slow
TOLD: Final = "Please remember that the code phrase of the lighthouse is blue bunny."
ASKED: Final = "What is the code phrase of the lighthouse?"


@pytest.fixture
def person(machine: Machine, memory: RunningService) -> Machine:
    """Return somebody who has Codex, with settings of their own."""
    machine.put_codex()
    assert memory.url
    return machine


def codex(person: Machine, prompt: str, *words: str) -> str:
    """Run a session of one turn; returns what the program tells of it."""
    trust = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    done = person.run("codex", "exec", *trust, *words, prompt)
    told = done.stdout + done.stderr
    assert not re.search(r"^hook: \w+ (?:Failed|Blocked)", told, re.MULTILINE), told
    return told


def test_what_is_told_in_one_session_is_known_once_in_the_next(
    person: Machine, memory: RunningService
) -> None:
    person.graph_memory("connect", "codex")
    spool = person.home / ".codex" / "graph-memory" / "spool"
    assert "hook: Stop Completed" in codex(person, TOLD)
    arrived(spool)
    stored = memory.client.get("/memories").json()["memories"]
    assert [one["content"] for one in stored if one["kind"] == "fact"] == [TOLD], stored
    codex(person, ASKED)
    asked = person.model.texts()[-1]
    assert asked.count("is blue bunny") == 1
    assert "graph-memory-context" in asked
    seen = clients(memory)["codex"]
    assert (seen["injections"], seen["warning"]) == (1, None)


def test_a_resumed_session_repeats_nothing_and_its_beginning_keeps_its_bytes(
    person: Machine, memory: RunningService
) -> None:
    person.graph_memory("connect", "codex")
    codex(person, TOLD)
    arrived(person.home / ".codex" / "graph-memory" / "spool")
    session = re.search(r"session id: (\S+)", codex(person, ASKED))
    assert session
    for _ in range(2):
        codex(person, ASKED, "resume", session[1])
    bodies = person.model.turns()[-3:]
    last = json.dumps(bodies[-1]["input"], ensure_ascii=False)
    assert last.count("is blue bunny") == 1
    for before, after in pairwise(bodies):
        assert after["input"][: len(before["input"])] == before["input"]
    assert clients(memory)["codex"]["injections"] == 1


def test_a_failed_command_is_answered_with_the_fix_that_mended_it(
    person: Machine, memory: RunningService
) -> None:
    person.graph_memory("connect", "codex")
    command = "sh build-tides.sh"
    failure = person.run("sh", "build-tides.sh", checked=False).stderr
    entries = [
        {"role": "user", "content": "Build the tides."},
        {"role": "assistant", "command": command, "call": "1"},
        {"role": "tool", "call": "1", "exit": 2, "content": failure},
        {"role": "assistant", "command": "cp ../harbour/build-tides.sh .", "call": "2"},
        {"role": "tool", "call": "2", "exit": 0, "content": "ok"},
        {"role": "assistant", "command": command, "call": "3"},
        {"role": "tool", "call": "3", "exit": 0, "content": "built"},
    ]
    body = {"session": "old", "client": "generic", "entries": entries}
    answer = memory.client.post("/observe", json=body | {"project": {"root": str(person.project)}})
    assert answer.json()["stored"] == 1, answer.text
    person.model.tool = {"name": "exec_command", "input": {"cmd": command}}
    codex(person, "Build the tides, please.")
    assert person.model.texts()[-1].count("cp ../harbour/build-tides.sh") == 1


def test_a_sub_agent_is_known_as_one_and_told_the_projects_rules(
    person: Machine, memory: RunningService
) -> None:
    person.graph_memory("connect", "codex")
    rule, helper = "Nothing imports the harbour module.", "Please read the table of tides."
    own = {"root": str(person.project)}
    assert memory.client.post("/decisions", json={"text": rule, "project": own}).is_success
    spawn = {"server": "multi_agent_v1", "name": "spawn_agent", "input": {"message": helper}}
    # So that the program is still there when its sub-agent begins.
    wait = {"name": "exec_command", "input": {"cmd": "sleep 5"}}
    person.model.tools = {"Ask a helper": spawn, "for the tides": wait}
    codex(person, "Ask a helper for the tides.")
    [asked] = [told for told in person.model.texts() if helper in told and "Ask a" not in told]
    assert asked.count(rule) == 1
    seen = clients(memory)["codex"]
    assert seen["sub_agent_hooks"] >= 1, seen
    assert (seen["sessions"], seen["warning"]) == (1, None)


def test_connect_tells_before_it_writes_and_disconnect_leaves_nothing(
    person: Machine, memory: RunningService
) -> None:
    home = person.home / ".codex"
    before = files_of(home)
    told = person.graph_memory("connect", "codex", "--dry-run").stdout
    assert files_of(home) == before
    done = person.graph_memory("connect", "codex")
    assert [f"would {line}" for line in done.stdout.splitlines()] == told.splitlines()
    connected = (home / "config.toml").read_bytes()
    assert b"# mine" in connected
    person.graph_memory("connect", "codex")
    assert (home / "config.toml").read_bytes() == connected
    codex(person, TOLD)
    person.graph_memory("disconnect", "codex")
    after = files_of(home)
    assert {path: after.get(path) for path in before} == before
    assert [path for path in after if "graph-memory" in path] == []
    assert memory.client.get("/stats").json()["memories"] > 0


def test_settings_that_make_no_sense_are_left_as_they_are(
    person: Machine, memory: RunningService
) -> None:
    config = person.home / ".codex" / "config.toml"
    config.write_text("model = ")
    assert memory.url
    done = person.graph_memory("connect", "codex", checked=False)
    assert done.returncode == 1
    assert "Nothing was changed" in " ".join(done.stderr.split())
    assert files_of(config.parent) == {"config.toml": b"model = "}


def test_the_doctor_is_content_after_a_session(person: Machine, memory: RunningService) -> None:
    early = person.graph_memory("doctor", "codex", checked=False)
    assert early.returncode == 1
    assert "run `graph-memory connect codex`" in " ".join(early.stdout.split())
    person.graph_memory("connect", "codex")
    codex(person, TOLD)
    well = person.graph_memory("doctor", "codex", "--json")
    states = {one["what"]: one["state"] for one in json.loads(well.stdout)}
    assert memory.url
    assert {states[what] for what in ("program", "plugin", "service", "hooks", "canary")} == {"ok"}


def schemas(binary: bytes) -> dict[str, Any]:
    """Return the schemas of hooks that the program carries in itself, by title."""
    found = {}
    for match in re.finditer(rb'"title": "([\w-]+\.command\.(?:in|out)put)"', binary):
        start = binary.rfind(b"\n{\n", 0, match.start()) + 1
        start = max(start, binary.rfind(b'{\n  "$schema"', 0, match.start()))
        text = binary[start : match.end() + 200].decode("utf-8", "replace")
        found[match[1].decode()] = json.JSONDecoder().raw_decode(text)[0]
    return found


REPLIES: Final = {
    "SessionStart": "session-start", "UserPromptSubmit": "user-prompt-submit",
    "PostToolUse": "post-tool-use", "Stop": "stop", "PreCompact": "pre-compact",
    "SubagentStart": "subagent-start", "SubagentStop": "subagent-stop",
}  # fmt: skip


def test_every_reply_is_one_of_the_programs_own_schema(memory: RunningService) -> None:
    own = schemas(program("codex").read_bytes())
    memory.client.post("/memories", json={"text": TOLD, "scope": "/srv/x"})
    for event, name in REPLIES.items():
        body = {
            "hook_event_name": event, "session_id": "s", "cwd": "/srv/x", "prompt": ASKED,
            "tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": "Error: x",
        }  # fmt: skip
        reply = memory.client.post("/hooks/codex", json=body).json()
        validator = Draft7Validator(own[f"{name}.command.output"])
        assert list(validator.iter_errors(reply)) == [], (event, reply)
        with pytest.raises(AssertionError):
            assert list(validator.iter_errors(reply | {"receipt": {}})) == []
