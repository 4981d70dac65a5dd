"""The scripts of the plugins, as a program runs them: in time, in order, once, without harm."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from scripts.servers.silence import silent_server
from service.commands.here import find_place
from tests.clients.conftest import SCRIPTS, Hooks, contents
from tests.conftest import REPOSITORY, Start
from tests.servers.keyed import keyed_service
from tests.servers.running import RunningService, free_port, service_process, wait_for

Json = dict[str, Any]
TOLD: Final = "Please remember that the code phrase of the lighthouse is blue bunny."


def test_a_service_killed_while_it_takes_a_capture_in_gets_each_once(
    hooks: Hooks, tmp_path: Path, embedding_url: str
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    hooks.connect(url)
    told = [f"Please remember that pier {n} closes at {n} o'clock." for n in range(1, 13)]
    served = {
        "MEMORY_PORT": str(port), "MEMORY_DATA_DIR": str(tmp_path / "data"),
        "MEMORY_EMBEDDING_URL": embedding_url,
    }  # fmt: skip
    for start in range(0, 12, 4):
        with service_process(**served) as process:
            wait_for(f"{url}/health/ready", lambda: process.poll() is None)
            path = hooks.say(*told[start : start + 4])
            # 10 to 150 ms after the hook began: before, while and after it is taken in.
            killer = threading.Timer(0.1 + start / 80, process.kill)
            killer.start()
            assert hooks.send("Stop", transcript_path=path) == {}
            killer.join()
            process.wait()
        hooks.send("Stop", transcript_path=path)
    with service_process(**served) as process:
        wait_for(f"{url}/health/ready", lambda: process.poll() is None)
        hooks.send("SessionStart", source="startup", session_id="s2")
        assert hooks.waiting == []
        with httpx.Client(base_url=url) as client:
            assert sorted(contents(client)) == sorted(told)


def test_captures_wait_in_their_order_privately_and_arrive_once(hooks: Hooks, start: Start) -> None:
    hooks.connect("http://127.0.0.1:9")
    for number in range(3):
        path = hooks.say(f"Please remember that gate {number} is red.")
        assert hooks.send("Stop", transcript_path=path) == {}
    assert [json.loads(one.read_text())["offset"] for one in hooks.waiting] == sorted(
        json.loads(one.read_text())["offset"] for one in hooks.waiting
    )
    assert len(hooks.waiting) == 3
    assert {one.stat().st_mode & 0o777 for one in hooks.waiting} == {0o600}
    assert (hooks.home / "graph-memory" / "spool").stat().st_mode & 0o777 == 0o700
    service = start()
    hooks.connect(service.url)
    hooks.send("UserPromptSubmit", prompt="Go on.")
    hooks.send("Stop", transcript_path=path)
    assert hooks.waiting == []
    gates = [text for text in contents(service.client) if "gate" in text]
    assert gates == [f"Please remember that gate {number} is red." for number in range(3)]


def test_two_clients_at_once_in_one_project_lose_and_repeat_nothing(
    hooks: Hooks, start: Start
) -> None:
    service = start()
    hooks.connect(service.url)
    paths = {n: hooks.say(f"Please remember that crane {n} is blue.", session=f"s{n}")
             for n in range(6)}  # fmt: skip
    threads = [
        threading.Thread(
            target=hooks.send, args=("Stop",),
            kwargs={"session_id": f"s{n}", "transcript_path": path},
        )
        for n, path in paths.items()
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    hooks.send("SessionStart", source="startup")
    assert hooks.waiting == []
    cranes = sorted(text for text in contents(service.client) if "crane" in text)
    assert cranes == [f"Please remember that crane {n} is blue." for n in range(6)]


def test_windows_line_ends_and_a_half_line_are_read_on(hooks: Hooks, start: Start) -> None:
    service = start()
    hooks.connect(service.url)
    path = hooks.say(TOLD, end="\r\n")
    whole = json.dumps(
        {"type": "user", "message": {"content": "Please remember that 두루미 is a crane."}}
    )
    with Path(path).open("ab") as file:
        file.write(whole[:40].encode())
    hooks.send("Stop", transcript_path=path)
    assert contents(service.client) == [TOLD]
    with Path(path).open("ab") as file:
        file.write(whole[40:].encode() + b"\r\n")
    hooks.send("Stop", transcript_path=path)
    assert contents(service.client) == [TOLD, "Please remember that 두루미 is a crane."]


def test_a_sub_agents_stop_and_a_folder_that_is_off_keep_nothing(
    hooks: Hooks, start: Start
) -> None:
    service = start()
    hooks.connect(service.url)
    path = hooks.say(TOLD)
    hooks.send("Stop", transcript_path=path, agent_id="a1")
    (hooks.project / ".graph-memory.toml").write_text("off = true\n")
    hooks.send("Stop", transcript_path=path)
    assert hooks.send("SessionStart", source="startup") == {}
    assert contents(service.client) == []
    [one] = service.client.get("/clients").json()["clients"]
    assert (one["hooks"], one["sub_agent_hooks"]) == (1, 1)


ODD: Final = [
    b"", b"{", b"[]", b"null", b'{"hook_event_name": ["Stop"]}', b"\xff\xfe{}",
    b'{"hook_event_name": "Stop", "transcript_path": {"a": 1}, "session_id": 7}',
    b'{"hook_event_name": "SessionStart", "cwd": "/nowhere/at all"}',
]  # fmt: skip


@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
def test_a_body_that_makes_no_sense_is_answered_with_nothing(hooks: Hooks, body: bytes) -> None:
    hooks.connect("http://127.0.0.1:9")
    assert hooks.send_raw(body) == {}


def test_a_prompt_of_five_megabytes_is_answered_in_time(hooks: Hooks, start: Start) -> None:
    service = start()
    hooks.connect(service.url)
    root = {"root": str(hooks.project)}
    service.client.post("/decisions", json={"text": TOLD, "project": root})
    began = time.monotonic()
    prompt = "word " * 1_000_000 + "\nWhat is the code phrase of the lighthouse?"
    hooks.send("UserPromptSubmit", prompt=prompt)
    assert time.monotonic() - began < LIMITS["UserPromptSubmit"]


# Below what the program waits for, which hooks.json says; of a session's end 1.5 s together.
LIMITS: Final = {"SessionStart": 8.0, "UserPromptSubmit": 8.0, "PostToolUse": 4.0, "Stop": 12.0,
                 "PreCompact": 4.0, "SessionEnd": 1.2}  # fmt: skip


@pytest.mark.slow
def test_a_service_that_never_answers_costs_no_more_than_its_limit(hooks: Hooks) -> None:
    path = hooks.say(TOLD)
    with silent_server() as url:
        hooks.connect(url)
        for event, limit in LIMITS.items():
            began = time.monotonic()
            assert hooks.send(event, prompt="Which phrase?", transcript_path=path) == {}
            assert time.monotonic() - began < limit, event
    assert len(hooks.waiting) == 2


def test_a_sessions_end_waits_for_the_service_nearly_as_long_as_its_hook_may(hooks: Hooks) -> None:
    path = hooks.say(TOLD)
    with silent_server() as url:
        hooks.connect(url)
        began = time.monotonic()
        assert hooks.send("SessionEnd", transcript_path=path) == {}
        # Of .6 s: nothing has to be told at the end of it.
        assert time.monotonic() - began >= 0.48


def test_what_is_named_and_gone_is_marked_and_nothing_is_left_out(
    hooks: Hooks, start: Start
) -> None:
    service = start()
    hooks.connect(service.url)
    git = ["git", "-C", str(hooks.project), "-c", "user.name=x", "-c", "user.email=x@y"]
    (hooks.project / "gate.py").write_text("def open_gate():\n    pass\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True)
    text = (
        "The harbour is opened by `open_gate()` in gate.py, no longer by `lift_bridge()` of "
        "src/bridge.py since commit 0a1b2c3d."
    )
    root = {"root": str(hooks.project)}
    assert service.client.post("/decisions", json={"text": text, "project": root}).is_success
    reply = hooks.send("SessionStart", source="startup")
    told = reply["hookSpecificOutput"]["additionalContext"]
    assert text in told
    assert told.splitlines()[-1] == "</graph-memory-context>"
    [marked] = [line for line in told.splitlines() if line.startswith("Looked up just now")]
    for gone in ("`src/bridge.py`", "commit 0a1b2c3d", "`lift_bridge`"):
        assert gone in marked
    assert "gate.py`," not in marked
    assert "open_gate" not in marked
    assert len(told) <= 9_500


def test_both_plugins_carry_the_same_scripts() -> None:
    other = REPOSITORY / "integrations" / "codex" / "scripts"
    names = sorted(path.name for path in SCRIPTS.iterdir() if path.is_file())
    assert names == sorted(path.name for path in other.iterdir() if path.is_file())
    for name in names:
        assert (SCRIPTS / name).read_bytes() == (other / name).read_bytes()
    own = REPOSITORY / "service" / "commands" / "left_out.py"
    assert own.read_bytes() == (SCRIPTS / "left_out.py").read_bytes()


@pytest.mark.parametrize(
    "said", ["", 'project = "harbour"\n', 'agent = "ann"\nproject = "none"\n'], ids=range(3)
)
def test_a_project_is_the_one_that_commands_mean(hooks: Hooks, said: str) -> None:
    git = ["git", "-C", str(hooks.project)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "remote", "add", "origin", "git@example.org:ann/crane.git"], check=True)
    (hooks.project / ".graph-memory.toml").write_text(said)
    code = "import json, sys, place; print(json.dumps(place.find_place(sys.argv[1]).told()))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(hooks.project)], capture_output=True, text=True,
        check=True, cwd=SCRIPTS, env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert json.loads(done.stdout) == find_place(None, None, hooks.project)


def test_a_wrong_key_keeps_what_waits(hooks: Hooks, start: Start) -> None:
    service: RunningService = start()
    hooks.connect(service.url)
    made = service.client.post("/keys", json={"name": "x", "scopes": ["admin"]})
    assert made.status_code == 201
    path = hooks.say(TOLD)
    assert hooks.send("Stop", transcript_path=path) == {}
    assert len(hooks.waiting) == 1
    failure = (hooks.home / "graph-memory" / "last-failure").read_text()
    assert "401" in failure


def test_a_capture_that_cannot_be_read_now_waits_and_holds_up_no_other(
    hooks: Hooks, start: Start
) -> None:
    hooks.connect("http://127.0.0.1:9")
    gates = [f"Please remember that gate {number} is red." for number in range(2)]
    for gate in gates:
        hooks.send("Stop", session_id="s0", transcript_path=hooks.say(gate, session="s0"))
    # As one that somebody else owns, since they ran the program once in this home.
    first, kept = hooks.waiting[0], hooks.waiting[0].read_bytes()
    first.unlink()
    first.symlink_to(first)
    service = start()
    hooks.connect(service.url)
    hooks.send("Stop", transcript_path=hooks.say(TOLD))
    assert contents(service.client) == [TOLD]
    assert len(hooks.waiting) == 2
    assert "one cannot be read" in (hooks.home / "graph-memory" / "last-failure").read_text()
    first.unlink()
    first.write_bytes(kept)
    hooks.send("SessionStart", source="startup", session_id="s2")
    assert hooks.waiting == []
    assert contents(service.client) == [TOLD, *gates]


def test_what_the_service_warns_of_stands_where_doctor_looks(hooks: Hooks, start: Start) -> None:
    hooks.connect(start().url)
    hooks.send("Stop", transcript_path=hooks.say(TOLD))
    own = hooks.home / "graph-memory"
    assert not (own / "last-failure").exists()
    # A client that lost its places begins anew, with other lines: the service had those before.
    (own / "sessions.json").unlink()
    Path(hooks.say()).write_bytes(b"")
    hooks.send("Stop", transcript_path=hooks.say("Please remember that gate 1 is red."))
    assert hooks.waiting == []
    warned = (own / "last-failure").read_text()
    assert "session s1: Nothing of this delta was read" in warned


def test_a_session_that_is_refused_silences_no_other(
    hooks: Hooks, tmp_path: Path, embedding_url: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / ".graph-memory.toml").write_text('agent = "work"\n')
    gates = [f"Please remember that gate {number} is red." for number in range(2)]
    with keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as keyed:
        hooks.connect(keyed.url)
        hooks.more["GRAPH_MEMORY_KEY"] = keyed.key(["read", "write"], ["main"])[1]
        for gate in gates:
            path = hooks.say(gate, session="s0")
            hooks.send("Stop", session_id="s0", cwd=str(other), transcript_path=path)
        told = (hooks.home / "graph-memory" / "last-failure").read_text()
        assert "captures wait, as one is refused: the service answered 403" in told
        hooks.send("Stop", transcript_path=hooks.say(TOLD))
        asked = {"prompt": "What is the code phrase of the lighthouse?", "session_id": "s2"}
        reply = hooks.send("UserPromptSubmit", **asked)
        assert "blue bunny" in reply["hookSpecificOutput"]["additionalContext"]
        assert len(hooks.waiting) == 2
        # With a key that is good for it what waited arrives in its order.
        hooks.more["GRAPH_MEMORY_KEY"] = keyed.key(["read", "write"], ["main", "work"])[1]
        hooks.send("SessionStart", source="startup", session_id="s3")
        assert hooks.waiting == []
        with keyed.client() as client:
            listed = client.get("/memories", params={"agent": "work"}).json()["memories"]
        assert [one["content"] for one in reversed(listed)] == gates
