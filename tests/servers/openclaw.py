"""A real gateway of OpenClaw from npm, with our plugin in it, and a state of its own."""

import json
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from tests.conftest import REPOSITORY
from tests.servers.fake_model import FakeModel
from tests.servers.npm import installed, node

Json = dict[str, Any]
# The era before sessions lay in a database and plugins needed leave, and the one since.
VERSIONS: Final = ("2026.6.11", "2026.9.6")
PLUGIN: Final = REPOSITORY / "integrations" / "openclaw"
SLOT: Final = REPOSITORY / "integrations" / "openclaw-slot"
WORD: Final = "of-a-test"
GUIDE: Final = REPOSITORY / "docs" / "openclaw.md"
_NODE: Final = 26
_START_SECONDS: Final = 300
_TURN_SECONDS: Final = 300


@dataclass
class OpenClaw:
    """A person's OpenClaw: its program, its state, and what is set in it."""

    version: str
    home: Path
    model: FakeModel
    port: int = 0
    settings: Json = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """Where the gateway keeps what it has; our plugin beside it."""
        return self.home / "state"

    @property
    def workspace(self) -> Path:
        """Where its agent works."""
        return self.home / "workspace"

    @property
    def environment(self) -> dict[str, str]:
        """What a shell of this person has in its environment."""
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "TZ": "UTC",
            "TMPDIR": str(self.home), "OPENCLAW_STATE_DIR": str(self.state),
            "OPENCLAW_DISABLE_BONJOUR": "1", "OPENCLAW_NO_RESPAWN": "1",
            "OPENCLAW_SKIP_CHANNELS": "1", "OPENCLAW_EXEC_SHELL_SNAPSHOT": "0",
        }  # fmt: skip

    @property
    def command(self) -> list[str]:
        """The program."""
        modules = installed(f"openclaw@{self.version}", "--omit=optional")
        return [node(_NODE), str(modules / "openclaw" / "openclaw.mjs")]

    def write(self, entry: Json, **plugins: Any) -> None:
        """Write the configuration of a gateway that has our plugin, set as said.

        A prompt has ten seconds for the service where nothing else is said: tests share two cores.
        """
        entry = {"timeoutMs": 10_000} | entry
        mark = {"hooks": {"allowConversationAccess": True}, "enabled": True}
        model = {
            "id": "fake-1", "name": "Fake", "reasoning": False, "input": ["text"],
            "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0),
            "contextWindow": 64000, "maxTokens": 4096,
        }  # fmt: skip
        provider = {
            "baseUrl": f"{self.model.url}/v1", "apiKey": "sk-fake", "api": "openai-responses",
            "models": [model],
        }  # fmt: skip
        self.settings = {
            "gateway": {
                "mode": "local", "port": self.port, "bind": "loopback",
                "auth": {"mode": "token", "token": WORD},
            },
            "logging": {"file": str(self.home / "openclaw.log")},
            "tools": {"toolSearch": False},
            "agents": {"defaults": {
                "workspace": str(self.workspace), "model": {"primary": "fake/fake-1"},
                "skipBootstrap": True,
            }},
            "models": {"mode": "merge", "providers": {"fake": provider}},
            "plugins": {
                "load": {"paths": [str(PLUGIN)]},
                "entries": {"graph-memory": mark | {"config": entry}},
            } | plugins,
        }  # fmt: skip
        self.save()

    def save(self) -> None:
        """Write the settings down."""
        self.state.mkdir(parents=True, exist_ok=True)
        (self.state / "openclaw.json").write_text(json.dumps(self.settings), "utf-8")

    def run(self, *words: str, checked: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command of the program."""
        done = subprocess.run(
            [*self.command, *words], cwd=self.home, env=self.environment, capture_output=True,
            text=True, timeout=_TURN_SECONDS, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert not checked or done.returncode == 0, (words, done.stdout, done.stderr)
        return done

    def say(self, message: str, agent: str = "main") -> str:
        """Say something to an agent; returns what it answers."""
        return self.run("agent", "--agent", agent, "--message", message).stdout

    def invoke(self, tool: str, **given: Any) -> Json:
        """Use a tool without the model; returns its details."""
        answer = httpx.post(
            f"http://127.0.0.1:{self.port}/tools/invoke", timeout=_TURN_SECONDS,
            headers={"Authorization": f"Bearer {WORD}"}, json={"tool": tool, "args": given},
        )  # fmt: skip
        assert answer.status_code == 200, answer.text
        details: Json = answer.json()["result"]["details"]
        return details

    @contextmanager
    def gateway(self) -> Iterator[None]:
        """Run the gateway meanwhile."""
        with (self.home / "gateway.log").open("a") as log:
            process = subprocess.Popen(
                [*self.command, "gateway", "run"], cwd=self.home, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
            try:
                self._wait(process)
                yield
            finally:
                process.terminate()
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end and process.poll() is None:
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/health", timeout=2).is_success:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.3)
        raise AssertionError((self.home / "gateway.log").read_text("utf-8")[-4000:])


def commands(section: str, version: str) -> list[list[str]]:
    """Return the commands of OpenClaw in a section of the guide, as they are typed there."""
    guide = GUIDE.read_text("utf-8")
    [text] = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", guide, re.MULTILINE | re.DOTALL)
    if version == VERSIONS[0]:
        text = text.replace(" --force --accept-capabilities", "")
    found = re.findall(r"^\$ openclaw (.*)$", text.replace("$PWD", str(REPOSITORY)), re.MULTILINE)
    return [shlex.split(line) for line in found if line != "gateway restart"]
