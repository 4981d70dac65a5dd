"""Days on which little is as it should be: a clock that is off, a full spool, odd bodies."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import pytest

from service.commands.programs import PROGRAMS
from service.errors import InvalidRequest
from tests.clients.conftest import SCRIPTS, Hooks, contents
from tests.conftest import Start
from tests.servers.clock_shim import NoClockShim, build_clock_shim
from tests.servers.stranger import stranger

TOLD: Final = "Please remember that the code phrase of the lighthouse is blue bunny."
DAY: Final = 86_400


@pytest.mark.parametrize("seconds", [-DAY, DAY])
def test_a_clients_clock_that_is_a_day_off_changes_nothing(
    hooks: Hooks, start: Start, tmp_path: Path, seconds: int
) -> None:
    try:
        shim = build_clock_shim(tmp_path)
    except NoClockShim as error:
        pytest.skip(f"NOT TRIED: {error}")
    shim.move(seconds)
    hooks.more = dict(shim.environment)
    hooks.connect("http://127.0.0.1:9")
    for number in range(2):
        path = hooks.say(f"Please remember that gate {number} is red.")
        hooks.send("Stop", transcript_path=path)
        # The second one is written when the clock was set right.
        shim.move(0)
    shim.move(seconds)
    service = start()
    hooks.connect(service.url)
    moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + seconds))
    line = {"type": "user", "timestamp": moment, "message": {"role": "user", "content": TOLD}}
    with Path(path).open("a") as file:
        file.write(json.dumps(line) + "\n")
    hooks.send("Stop", transcript_path=path)
    assert hooks.waiting == []
    gates = [f"Please remember that gate {number} is red." for number in range(2)]
    found = contents(service.client)
    assert sorted(found) == sorted([*gates, TOLD])
    assert found.index(gates[0]) < found.index(gates[1])
    asked = {"prompt": "What is the code phrase of the lighthouse?", "session_id": "s2"}
    reply = hooks.send("UserPromptSubmit", **asked)
    assert "blue bunny" in reply["hookSpecificOutput"]["additionalContext"]
    [seen] = service.client.get("/clients").json()["clients"]
    assert seen["warning"] is None


@pytest.mark.parametrize("status", [400, 404, 413, 415, 422])
def test_who_listens_where_the_service_was_takes_nothing_away(
    hooks: Hooks, start: Start, status: int
) -> None:
    with stranger(status) as url:
        hooks.connect(url)
        assert hooks.send("Stop", transcript_path=hooks.say(TOLD)) == {}
    assert len(hooks.waiting) == 1
    service = start()
    hooks.connect(service.url)
    hooks.send("SessionStart", source="startup", session_id="s2")
    assert hooks.waiting == []
    assert contents(service.client) == [TOLD]


def test_a_disk_that_is_full_keeps_no_half_of_a_capture(hooks: Hooks) -> None:
    hooks.connect("http://127.0.0.1:9")
    path = hooks.say(*[TOLD] * 500)
    body = {"hook_event_name": "Stop", "session_id": "s1", "cwd": "/", "transcript_path": path}
    # A file of more than 8 or 16 KB, by the shell, ends in the middle.
    limited = f"ulimit -f 16; exec sh {shlex.quote(str(SCRIPTS / 'run.sh'))} claude-code"
    done = subprocess.run(
        ["sh", "-c", limited], input=json.dumps(body).encode(), capture_output=True, check=True,
        env={"PATH": os.environ["PATH"], "CLAUDE_CONFIG_DIR": str(hooks.home)},
    )  # fmt: skip
    assert json.loads(done.stdout) == {}
    assert "File too large" in (hooks.home / "graph-memory" / "last-failure").read_text()
    assert [one.name for one in hooks.home.rglob(".*")] == []
    assert hooks.waiting == []


def test_a_full_spool_says_so_and_loses_nothing_of_a_session_that_goes_on(
    hooks: Hooks, start: Start
) -> None:
    hooks.connect("http://127.0.0.1:9")
    spool = hooks.home / "graph-memory" / "spool"
    spool.mkdir(mode=0o700)
    # More than the service takes at once, so that it can only go: a line of a transcript may be.
    item = {"session": "s0", "client": "claude-code", "offset": 0, "text": "x" * 64_000_001}
    (spool / "000000000001.json").write_text(json.dumps(item))
    path = hooks.say(TOLD)
    assert hooks.send("Stop", transcript_path=path) == {}
    assert len(hooks.waiting) == 1
    service = start()
    hooks.connect(service.url)
    assert hooks.send("Stop", transcript_path=path) == {}
    told = (hooks.home / "graph-memory" / "last-failure").read_text()
    assert "64 MB wait for the service" in told
    assert "stays in the session's transcript" in told
    assert "refused for good is dropped: the service answered 413" in told
    # There is room again: what stayed in the transcript comes with the next turn.
    assert hooks.waiting == []
    assert hooks.send("Stop", transcript_path=path) == {}
    assert contents(service.client) == [TOLD]


def test_bodies_of_versions_that_do_not_exist_yet_are_read_as_far_as_they_make_sense(
    hooks: Hooks, start: Start
) -> None:
    service = start()
    hooks.connect(service.url)
    path = hooks.say(TOLD)
    new = {"schema_version": 9, "session": {"id": "s1"}, "tools": [{"a": [1, {"b": None}]}]}
    assert hooks.send("Stop", transcript_path=path, last_assistant_message=["x"], **new) == {}
    assert contents(service.client) == [TOLD]
    asked = {"prompt": "What is the code phrase of the lighthouse?", "session_id": "s2"}
    reply = hooks.send("UserPromptSubmit", **asked, **new)
    assert "blue bunny" in reply["hookSpecificOutput"]["additionalContext"]
    for event in ("TurnStart", "SessionPaused", "MemoryWanted"):
        assert hooks.send(event, **new) == {}
    # Without a session, a folder or a prompt.
    for missing in ({"session_id": None}, {"cwd": None}, {"session_id": 7, "cwd": ["x"]}):
        assert hooks.send("UserPromptSubmit", prompt=None, **missing) == {}


def test_a_line_that_was_torn_within_a_letter_moves_no_other(hooks: Hooks, start: Start) -> None:
    service = start()
    hooks.connect(service.url)
    path = hooks.say("Hello there.")
    with Path(path).open("ab") as file:
        # Killed there, and the session went on.
        file.write('{"type": "user", "message": {"content": "두'.encode()[:-1] + b"\n")
    hooks.send("Stop", transcript_path=path)
    gates = [f"Please remember that gate {number} is red." for number in range(2)]
    for gate in gates:
        hooks.send("Stop", transcript_path=hooks.say(gate))
    assert contents(service.client) == gates


def test_an_answer_is_told_without_marks_where_there_is_no_time_to_look(
    hooks: Hooks, start: Start, tmp_path: Path
) -> None:
    service = start()
    hooks.connect(service.url)
    text = "The harbour is opened by `lift_bridge()` of src/bridge.py since commit 0a1b2c3d."
    root = {"root": str(hooks.project)}
    assert service.client.post("/decisions", json={"text": text, "project": root}).is_success
    # It hangs where files are looked for, for longer than a hook has.
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text("#!/bin/sh\ncase $3 in ls-files) exec sleep 20 ;; esac\nexit 1\n")
    git.chmod(0o755)
    hooks.more["PATH"] = f"{git.parent}{os.pathsep}{os.environ['PATH']}"
    code = "import stale, hook; stale.SECONDS = 20; hook.LIMITS['SessionStart'] = 4; hook.main()"
    body = {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": str(hooks.project)}
    done = subprocess.run(
        [sys.executable, "-c", code, "claude-code", str(hooks.home)], cwd=SCRIPTS,
        input=json.dumps(body), capture_output=True, text=True, check=True,
        env={"PYTHONDONTWRITEBYTECODE": "1", **hooks.more},
    )  # fmt: skip
    told = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert text in told
    assert "Looked up just now" not in told


NOBODY: Final = 65_534


@pytest.mark.parametrize("name", PROGRAMS)
def test_settings_that_are_not_yours_to_write_are_left_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not in the folder of tests, which nobody else may enter.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv(PROGRAMS[name].variable, folder)
        settings = PROGRAMS[name].settings_file
        assert settings.parent == Path(folder)
        settings.write_text("{}" if settings.suffix == ".json" else "")
        settings.chmod(0o444)
        here, there = os.pipe()
        if (child := os.fork()) == 0:
            if os.getuid() == 0:
                os.setuid(NOBODY)
            try:
                PROGRAMS[name].read_settings()
                said = "it was not refused"
            except InvalidRequest as error:
                said = error.detail
            os.write(there, said.encode())
            os._exit(0)
        os.waitpid(child, 0)
        told = os.read(here, 10_000).decode()
        os.close(here)
        os.close(there)
    assert told == f"{settings} is not yours to write. Nothing was changed."
