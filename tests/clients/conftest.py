"""A machine of its own for each test: homes of programs, a service, a fake model at the edge."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conftest import REPOSITORY
from tests.servers.fake_model import FakeModel, fake_model
from tests.servers.openclaw import OpenClaw
from tests.servers.running import RunningService, free_port, running_service

Json = dict[str, Any]
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

    def put(self, command: str, path: Path) -> None:
        """Give the person a program as a command."""
        target = self.home / "bin" / command
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(path)

    def run(
        self, *words: str, given: str = "", seconds: float = 120, checked: bool = True
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


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """Yield a machine whose project has a name that shells and paths stumble over."""
    home = tmp_path / "home"
    project = home / "work" / 'mina\'s "crane" 두루미'
    project.mkdir(parents=True)
    with fake_model() as model:
        yield Machine(home, project, model)


@pytest.fixture
def memory(machine: Machine, tmp_path: Path, embedding_url: str) -> Iterator[RunningService]:
    """Yield a service, which that machine's commands find."""
    with running_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as service:
        machine.more |= {
            "MEMORY_PORT": service.url.rpartition(":")[2],
            "MEMORY_DATA_DIR": str(tmp_path / "data"),
        }
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
    end = time.monotonic() + 30
    while list(spool.glob("*.json")):
        assert time.monotonic() < end, sorted(spool.iterdir())
        time.sleep(0.1)
