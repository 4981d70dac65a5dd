"""What the doctor tells a newcomer of each thing that is wrong, against a real service."""

import json
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.commands.mcp_snippets import SNIPPETS
from tests.clients.conftest import Machine
from tests.servers.keyed import keyed_service
from tests.servers.outer_embeddings import outer_embeddings
from tests.servers.real_programs import program
from tests.servers.running import RunningService, running_service, service_process
from tests.waiting import until


def findings(machine: Machine, status: int, client: str = "mcp") -> dict[str, tuple[str, str]]:
    """Return what the doctor found, by what it looked at: its state, and what is told of it."""
    done = machine.graph_memory("doctor", client, "--json", checked=False)
    assert done.returncode == status, (done.stdout, done.stderr)
    return {one["what"]: (one["state"], one["told"]) for one in json.loads(done.stdout)}


def test_all_is_well(machine: Machine, memory: RunningService) -> None:
    subprocess.run(["git", "init", "-q", str(machine.project)], check=True)
    found = findings(machine, 0)
    assert {state for state, _ in found.values()} == {"ok"}, found
    assert found["service"][1].endswith("and asks for no key")
    assert "memory_search" in found["mcp"][1]
    assert memory.url in found["mcp"][1]


def test_a_project_that_was_renamed(machine: Machine, memory: RunningService) -> None:
    """Its memories stay under the name before; the session that misses them is told nothing."""
    git = ("git", "-C", str(machine.project))
    subprocess.run(["git", "init", "-q", str(machine.project)], check=True)
    subprocess.run([*git, "remote", "add", "origin", "git@github.com:ann/app.git"], check=True)
    machine.graph_memory("store", "The crane is called Ines.")
    assert findings(machine, 0)["project"][0] == "ok"
    subprocess.run(
        [*git, "remote", "set-url", "origin", "git@github.com:ann/crane.git"], check=True
    )
    for _ in range(2):
        state, told = findings(machine, 0)["project"]
        assert (state, "the folder was github.com/ann/app: if" in told) == ("look", True), told
        # So it is once the new one is known, too.
        machine.graph_memory("store", "The crane is red.")
    move = {"project": "github.com/ann/app", "into": "github.com/ann/crane"}
    memory.client.post("/projects/move", json=move).raise_for_status()
    assert findings(machine, 0)["project"][0] == "ok"


def test_folders_that_no_scan_reads(machine: Machine, tmp_path: Path, embedding_url: str) -> None:
    """The service looks at its start and at each scan: a disk may be mounted later."""
    (note := tmp_path / "note.md").touch()
    sources = (str(tmp_path / "disk"), str(note))
    data = tmp_path / "data"
    with running_service(data_dir=data, embedding_url=embedding_url, sources=sources) as service:
        machine.find(service, data)
        state, told = findings(machine, 0)["warnings"]
        assert (state, told.count("MEMORY_SOURCES: ")) == ("look", 2), told
        assert "disk: the folder does not exist. Each scan looks again." in told
        assert "note.md: it is no folder: name the one that it lies in." in told
        (tmp_path / "disk").mkdir()
        service.client.post("/ingest/scan", json={}).raise_for_status()
        assert findings(machine, 0)["warnings"][1].count("MEMORY_SOURCES: ") == 1


def test_a_service_that_is_away(machine: Machine) -> None:
    machine.more["MEMORY_PORT"] = "9"
    found = findings(machine, 1)
    assert found.keys() == {"service"}
    assert "start it with ./scripts/run" in found["service"][1]


def test_a_service_on_a_socket_is_asked_over_it(
    machine: Machine, tmp_path: Path, embedding_url: str
) -> None:
    subprocess.run(["git", "init", "-q", str(machine.project)], check=True)
    path = tmp_path / "own.sock"
    machine.more |= {
        "MEMORY_HOST": f"unix:{path}", "MEMORY_DATA_DIR": str(tmp_path / "data"),
        "MEMORY_EMBEDDING_URL": embedding_url,
    }  # fmt: skip
    socket = httpx.HTTPTransport(uds=str(path), retries=10)
    with (
        service_process(**machine.more),
        httpx.Client(transport=socket, base_url="http://localhost", timeout=60) as client,
    ):
        until(lambda: path.exists() and client.get("/health/ready").is_success)
        found = findings(machine, 0)
        assert {state for state, _ in found.values()} == {"ok"}, found
        assert f"unix:{path}" in found["service"][1]
        # No program asks over one, and the name that stands for it leads nowhere.
        for name in ("mcp", "claude-code"):
            done = machine.graph_memory("connect", name, "--dry-run", checked=False)
            assert (done.returncode, "--url" in done.stderr) == (1, True), done.stderr
            assert f"unix:{path}" in " ".join(done.stderr.split())


def test_a_wrong_key_and_one_that_may_too_little(
    machine: Machine, tmp_path: Path, embedding_url: str
) -> None:
    with keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as keyed:
        machine.find(keyed.service, tmp_path / "data")
        machine.more["MEMORY_API_KEY"] = "gm_000000000000_" + "x" * 43
        state, told = findings(machine, 1)["key"]
        assert (state, "does not know the key" in told) == ("wrong", True)
        machine.more["MEMORY_API_KEY"] = keyed.key(["read"])[1]
        state, told = findings(machine, 1)["canary"]
        assert (state, "could not be stored" in told) == ("wrong", True)
        # One that may ask just as often as it takes to store and recall.
        machine.more["MEMORY_API_KEY"] = keyed.key(["read", "write"], rate=3)[1]
        found = findings(machine, 1)
        state, told = found["service"]
        assert (state, told.endswith("and the key is good")) == ("ok", True)
        state, told = found["canary"]
        assert (state, "could not be forgotten" in told) == ("wrong", True), told


def test_a_model_that_is_not_the_stores(machine: Machine, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with outer_embeddings() as outer:
        with running_service(data_dir=data, embedding_url=outer.url) as service:
            service.client.post("/memories", json={"text": "The pump leaks."})
        outer.weights = "another"
        whole = running_service(wait=False, data_dir=data, embedding_url=outer.url)
        with whole as service:
            machine.find(service, data)
            state, told = findings(machine, 1)["model"]
    assert state == "wrong"
    # Its sentences, and not how a program writes a list of them.
    assert "graph-memory reembed" in told
    assert "[" not in told


def test_a_key_that_is_not_told_why_the_service_is_not_ready(
    machine: Machine, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    away = "http://127.0.0.1:9"
    with keyed_service(wait=False, data_dir=data, embedding_url=away) as keyed:
        machine.find(keyed.service, data)
        machine.more["MEMORY_API_KEY"] = keyed.key(["read", "write"])[1]
        state, told = findings(machine, 1)["model"]
        assert (state, "good for admin" in told) == ("wrong", True), told
        machine.more["MEMORY_API_KEY"] = keyed.admin
        state, told = findings(machine, 1)["model"]
    assert (state, f"No embedding server answers at {away}" in told) == ("wrong", True), told


def test_a_folder_that_is_no_project_and_one_that_is_switched_off(
    machine: Machine, memory: RunningService
) -> None:
    assert memory.url
    state, told = findings(machine, 0)["project"]
    assert (state, "in no git repository" in told) == ("look", True)
    (machine.project / ".graph-memory.toml").write_text("off = true\n")
    assert "switched off" in findings(machine, 0)["project"][1]
    for name in ("crane", "none"):
        (machine.project / ".graph-memory.toml").write_text(f'project = "{name}"\n')
        assert findings(machine, 0)["project"] == ("ok", name)


@pytest.mark.slow
def test_a_port_on_which_nobody_answers(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        machine.more["MEMORY_PORT"] = str(silent.getsockname()[1])
        state, told = findings(machine, 1)["service"]
    assert (state, "gives no answer in 10 s" in told) == ("wrong", True), told


@pytest.mark.slow
def test_hooks_that_never_came(machine: Machine, memory: RunningService) -> None:
    machine.put("claude", program("claude"))
    assert memory.url
    machine.graph_memory("connect", "claude-code")
    assert findings(machine, 0, "claude-code")["hooks"][0] == "look"
    # Its sessions go on, and no hook comes of them.
    hooks = machine.home / ".claude" / "graph-memory" / "client.json"
    told = json.loads(hooks.read_text())
    hooks.write_text(json.dumps(told | {"url": "http://127.0.0.1:9"}))
    machine.claude("Hello there.")
    hooks.write_text(json.dumps(told))
    state, said = findings(machine, 1, "claude-code")["hooks"]
    assert (state, "none ever came" in said) == ("wrong", True)


def test_a_hook_without_an_event(machine: Machine, memory: RunningService) -> None:
    memory.client.post("/hooks/codex", json={}).raise_for_status()
    told = findings(machine, 1, "codex")["hooks"][1]
    assert told.startswith("1 came, the last, of no known event, at "), told


def test_hooks_whose_prompts_are_not_captured(machine: Machine, memory: RunningService) -> None:
    for session in ("s1", "s2", "s3"):
        body = {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "Go on."}
        memory.client.post("/hooks/codex", json=body).raise_for_status()
    state, told = findings(machine, 1, "codex")["hooks"]
    assert (state, "nothing of the last 3 prompts was captured" in told) == ("wrong", True), told
    assert told.endswith("look whether its hooks are trusted there."), told


def test_hooks_that_came_while_the_service_was_away(
    machine: Machine, memory: RunningService
) -> None:
    """What they left waits, so it is not they that are off."""
    body = {"hook_event_name": "SessionStart", "session_id": "s1"}
    memory.client.post("/hooks/claude-code", json=body).raise_for_status()
    transcript = machine.home / ".claude" / "projects" / "crane" / "s2.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.touch()
    os.utime(transcript, (time.time() + 600,) * 2)
    assert "its hooks are off" in findings(machine, 1, "claude-code")["hooks"][1]
    capture = machine.home / ".claude" / "graph-memory" / "spool" / "000000000001-0123abcd.json"
    capture.parent.mkdir(parents=True)
    capture.write_text("{}")
    (capture.parents[1] / "last-failure").write_text("2026-02-15T22:20:05Z refused\n")
    found = findings(machine, 1, "claude-code")
    assert (found["hooks"][0], found["waiting"][0]) == ("ok", "look"), found
    assert found["last failure"][1] == "2026-02-15T22:20:05Z refused"
    capture.unlink()
    found = findings(machine, 1, "claude-code")
    assert found["last failure"][1] == "2026-02-15T22:20:05Z refused (nothing waits any more)"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_plugin_of_another_version_is_put_in_anew(
    machine: Machine, memory: RunningService, name: str
) -> None:
    """The copy that a program keeps is what it was, whatever the checkout has by now."""
    assert memory.url
    if name == "codex":
        machine.put_codex()
        settings = machine.home / ".codex" / "config.toml"
    else:
        machine.put("claude", program("claude"))
        settings = machine.home / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text('{"env":  {"MINE": "1"}}')
    own, home = settings.read_bytes(), settings.parent
    machine.graph_memory("connect", name)
    [copy] = home.glob("plugins/cache/graph-memory/*/*/scripts/hook.py")
    now = copy.read_bytes()
    copy.write_bytes(now + b"# Of an older version.\n")
    state, told = findings(machine, 1, name)["plugin"]
    assert (state, f"run `graph-memory connect {name}`" in told) == ("wrong", True), told
    machine.graph_memory("connect", name)
    assert copy.read_bytes() == now
    assert findings(machine, 0, name)["plugin"] == ("ok", "installed")
    machine.graph_memory("disconnect", name)
    assert (list(home.glob("plugins/cache/*")), settings.read_bytes()) == ([], own)


@pytest.mark.parametrize("name", SNIPPETS)
def test_each_program_is_told_what_it_reads(
    machine: Machine, memory: RunningService, name: str
) -> None:
    done = machine.graph_memory("connect", "mcp", "--for", name)
    url = f"{memory.url}/mcp"
    assert done.stderr.strip()
    told: Any = json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout
    if name == "vscode":
        assert told == {"servers": {"graph-memory": {"type": "http", "url": url}}}
    elif name == "cursor":
        assert told == {"mcpServers": {"graph-memory": {"url": url}}}
    elif name == "claude-desktop":
        server = told["mcpServers"]["graph-memory"]
        assert Path(server["command"]).is_file()
        assert server["args"] == ["mcp", "--url", memory.url]
    elif name == "chatgpt":
        assert told == "MEMORY_MCP_TOOLS=search,fetch\n"
        assert "from the internet" in done.stderr
    else:
        assert url in str(told)


@pytest.mark.slow
def test_claude_code_and_codex_reach_it_as_they_are_told(
    machine: Machine, tmp_path: Path, embedding_url: str
) -> None:
    machine.put("claude", program("claude"))
    machine.put_codex()
    with keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as keyed:
        machine.find(keyed.service, tmp_path / "data")
        machine.more["MEMORY_API_KEY"] = keyed.admin
        words = machine.graph_memory("connect", "mcp", "--for", "claude-code").stdout
        machine.run("sh", "-c", words)
        assert "Connected" in machine.run("claude", "mcp", "get", "graph-memory").stdout
        section = machine.graph_memory("connect", "mcp", "--for", "codex").stdout
        config = machine.home / ".codex" / "config.toml"
        config.write_text(f"{config.read_text()}\n{section}")
        listed = json.loads(machine.run("codex", "mcp", "get", "graph_memory", "--json").stdout)
        assert listed["transport"]["url"] == f"{keyed.url}/mcp"
        assert listed["transport"]["http_headers"]["Authorization"].startswith("Bearer gm_")
