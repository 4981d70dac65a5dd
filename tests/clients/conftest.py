"""A machine of its own for each test: homes of programs, a service, a fake model at the edge."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.conftest import REPOSITORY
from tests.servers.fake_model import FakeModel, fake_model
from tests.servers.openclaw import OpenClaw
from tests.servers.real_programs import program
from tests.servers.running import RunningService, free_port, running_service
from tests.waiting import until

Json = dict[str, Any]
SCRIPTS: Final = REPOSITORY / "integrations" / "claude-code" / "scripts"
CODEX_CONFIG: Final = """# mine
model = "fake-1"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
"""
IN_MEMORY_MD: Final = "The harbour master is called Ines."


@dataclass
class Machine:
    """A person's home, a project in it, and the commands that they type there."""

    home: Path
    project: Path
    model: FakeModel
    programs: dict[str, Path] = field(default_factory=dict)
    more: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """What a shell of this person has in its environment: nothing of the machine's own."""
        folders = [str(self.home / "bin"), os.environ["PATH"]]
        return {
            "PATH": os.pathsep.join(folders), "HOME": str(self.home), "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": self.model.url, "ANTHROPIC_API_KEY": "sk-fake",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1", "FAKE_KEY": "sk-fake", "IS_SANDBOX": "1",
            "XDG_DATA_HOME": str(self.home / "share"), "GIT_CONFIG_GLOBAL": os.devnull,
            "PYTHONPATH": str(REPOSITORY), **self.more,
        }  # fmt: skip

    def find(self, service: RunningService, data: Path) -> None:
        """Say where the service and its store are."""
        port = service.url.rpartition(":")[2]
        self.more |= {"MEMORY_PORT": port, "MEMORY_DATA_DIR": str(data)}

    def put(self, command: str, path: Path) -> None:
        """Give the person a program as a command."""
        target = self.home / "bin" / command
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(path)

    def put_codex(self) -> None:
        """Give the person Codex, with settings of their own that name the fake model."""
        self.put("codex", program("codex"))
        config = self.home / ".codex" / "config.toml"
        config.parent.mkdir()
        config.write_text(CODEX_CONFIG.format(url=self.model.url))

    def run(
        self, *words: str, given: str = "", seconds: float = 300, checked: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the project."""
        done = subprocess.run(
            words, cwd=self.project, env=self.environment, input=given, capture_output=True,
            text=True, timeout=seconds, check=False,
        )  # fmt: skip
        assert not checked or done.returncode == 0, (shlex.join(words), done.stdout, done.stderr)
        return done

    def graph_memory(self, *words: str, checked: bool = True) -> subprocess.CompletedProcess[str]:
        """Run our own command."""
        return self.run(sys.executable, "-m", "service", *words, checked=checked)

    def claude(self, prompt: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a session of Claude Code, of one turn."""
        allow = ["--allowedTools", "Bash", "Read", "--permission-mode", "acceptEdits"]
        return self.run("claude", "-p", *words, *allow, given=prompt)


def new_machine(home: Path, model: FakeModel) -> Machine:
    """Return a machine whose project has a name that shells and paths stumble over."""
    project = home / "work" / 'mina\'s "crane" 두루미'
    project.mkdir(parents=True)
    return Machine(home, project, model)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """Yield a new machine, beside a fake model of its own."""
    with fake_model() as model:
        yield new_machine(tmp_path / "home", model)


@pytest.fixture
def memory(machine: Machine, tmp_path: Path, embedding_url: str) -> Iterator[RunningService]:
    """Yield a service, which that machine's commands find."""
    with running_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as service:
        machine.find(service, tmp_path / "data")
        yield service


@pytest.fixture
def claw(version: str, tmp_path: Path) -> Iterator[OpenClaw]:
    """Yield somebody's OpenClaw, with a MEMORY.md of theirs."""
    home = tmp_path / "home"
    with fake_model() as model:
        person = OpenClaw(version, home, model, free_port())
        person.workspace.mkdir(parents=True)
        (person.workspace / "MEMORY.md").write_text(f"# Memory\n\n- {IN_MEMORY_MD}\n", "utf-8")
        yield person


def files_of(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, by its path there."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def clients(service: RunningService) -> Mapping[str, Json]:
    """Return what /clients tells, by program."""
    listed: Sequence[Json] = service.client.get("/clients").json()["clients"]
    return {one["client"]: one for one in listed}


def arrived(spool: Path) -> None:
    """Wait until nothing waits any more: what a session left at its end is sent after it."""
    until(lambda: not list(spool.glob("*.json")))


@dataclass
class Hooks:
    """The hooks of a program with a home of its own."""

    home: Path
    project: Path
    more: dict[str, str] = field(default_factory=dict)

    def connect(self, url: str) -> None:
        """Write down where the service is, as `connect` does."""
        own = self.home / "graph-memory"
        own.mkdir(parents=True, exist_ok=True)
        (own / "client.json").write_text(json.dumps({"url": url}))
        (own / "python").write_text(sys.executable + "\n")

    def send(self, event: str, **more: Any) -> Json:
        """Run a hook as the `program` does; it ends well and answers JSON, whatever happens."""
        program = more.pop("program", "claude-code")
        body = {"hook_event_name": event, "session_id": "s1", "cwd": str(self.project)} | more
        return self.send_raw(json.dumps(body).encode(), program)

    def send_raw(self, body: bytes, program: str = "claude-code") -> Json:
        """Run a hook on any bytes."""
        homes = dict.fromkeys(("CLAUDE_CONFIG_DIR", "CODEX_HOME"), str(self.home))
        done = subprocess.run(
            ["sh", str(SCRIPTS / "run.sh"), program], input=body, capture_output=True,
            env={"PATH": os.environ["PATH"], **homes, **self.more}, timeout=30, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        reply: Json = json.loads(done.stdout)
        return reply

    def say(self, *texts: str, session: str = "s1", end: str = "\n") -> str:
        """Add lines of a person to a session's transcript; returns its path."""
        self.home.mkdir(exist_ok=True)
        path = self.home / f"{session}.jsonl"
        with path.open("ab") as file:
            for text in texts:
                line = {"type": "user", "message": {"role": "user", "content": text}}
                file.write((json.dumps(line, ensure_ascii=False) + end).encode())
        return str(path)

    @property
    def waiting(self) -> list[Path]:
        """What waits for the service."""
        return sorted((self.home / "graph-memory" / "spool").glob("*.json"))


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    """Return hooks of a project whose name shells and paths stumble over."""
    project = tmp_path / 'it\'s "민아" crane'
    project.mkdir()
    return Hooks(tmp_path / "home", project)


def contents(client: httpx.Client) -> list[str]:
    """Return the texts of all memories, the oldest first."""
    listed = client.get("/memories", params={"limit": 100}).json()["memories"]
    return [one["content"] for one in reversed(listed)]
