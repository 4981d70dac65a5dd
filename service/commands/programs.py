"""Agents' programs on this machine: where each keeps its settings, and how a plugin comes and goes.

A plugin is put in and taken out by the program's own command: the form of its files is its own and
changes. What that command leaves behind is tidied up here.
"""

import json
import os
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from service.errors import InvalidRequest
from service.settings import REPOSITORY

INTEGRATIONS: Final = REPOSITORY / "integrations"
MARKETPLACE: Final = "graph-memory"
PLUGIN: Final = f"graph-memory@{MARKETPLACE}"
_SECONDS: Final = 120
# What a program's own commands are not to send anywhere while they work for us.
_QUIET: Final = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1"}


@dataclass(frozen=True, slots=True)
class Program:
    """An agent's program: its command, the variable and the folder of its settings, its file."""

    name: str
    title: str
    command: str
    variable: str
    folder: str
    settings: str
    transcripts: str
    add: tuple[tuple[str, ...], ...]
    remove: tuple[tuple[str, ...], ...]
    # Files that its command makes where there were none, and their content without a plugin.
    leaves: tuple[str, ...] = ()

    @property
    def home(self) -> Path:
        """The folder of its settings."""
        told = os.environ.get(self.variable)
        return Path(told).expanduser() if told else Path.home() / self.folder

    @property
    def own(self) -> Path:
        """The folder of ours beside its settings."""
        return self.home / "graph-memory"

    @property
    def settings_file(self) -> Path:
        """The file of its settings."""
        return self.home / self.settings

    @property
    def cache(self) -> Path:
        """The folder in which it keeps its copy of the plugin."""
        return self.home / "plugins" / "cache" / MARKETPLACE

    @property
    def plugin(self) -> Path:
        """The plugin in this checkout."""
        return INTEGRATIONS / self.name

    def find(self) -> str:
        """Return its command's path; raises InvalidRequest where it is not installed."""
        found = shutil.which(self.command)
        if found is None:
            msg = f"{self.title} is not installed: there is no command `{self.command}`."
            raise InvalidRequest(msg)
        return found

    def read_settings(self) -> dict[str, Any]:
        """Return its settings, empty where there is no file.

        Raises InvalidRequest for a file that cannot be read and written without loss.
        """
        path = self.settings_file
        try:
            text = path.read_text("utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"{path} cannot be read: {error}. Nothing was changed.") from error
        read = self.parse(text)
        if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
            msg = f"{path} is not yours to write. Nothing was changed."
            raise InvalidRequest(msg)
        return read

    def has_plugin(self) -> bool:
        """Return whether its settings name the plugin."""
        told = self.read_settings()
        plugins = told.get("enabledPlugins") or told.get("plugins") or {}
        return isinstance(plugins, dict) and PLUGIN in plugins

    def run(self, *words: str, fails: bool = True) -> str:
        """Run its command; raises InvalidRequest with its words where it `fails`."""
        try:
            done = subprocess.run(  # noqa: S603 - fixed words, no shell
                [self.find(), *words], capture_output=True, text=True, check=False,
                timeout=_SECONDS, env=os.environ | _QUIET, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InvalidRequest(f"`{self.command} {' '.join(words)}`: {error}.") from error
        if done.returncode and fails:
            said = (done.stderr.strip() or done.stdout.strip())[-500:]
            raise InvalidRequest(f"`{self.command} {' '.join(words)}` said: {said}")
        return done.stdout.strip()

    def parse(self, text: str) -> dict[str, Any]:
        """Read settings of its form; raises InvalidRequest."""
        path = self.settings_file
        if path.suffix == ".toml":
            try:
                return tomllib.loads(text)
            except ValueError as error:
                raise InvalidRequest(f"{path}: {error}. Nothing was changed.") from error
        try:
            read = json.loads(text) if text.strip() else {}
        except ValueError as error:
            msg = (
                f"{path} is not plain JSON ({error}): comments and trailing commas would be lost "
                "when it is written. Take them out and try again. Nothing was changed."
            )
            raise InvalidRequest(msg) from error
        if not isinstance(read, dict):
            raise InvalidRequest(f"{path} holds no settings. Nothing was changed.")
        return read


CLAUDE_CODE: Final = Program(
    "claude-code", "Claude Code", "claude", "CLAUDE_CONFIG_DIR", ".claude", "settings.json",
    "projects/*/*.jsonl",
    (
        ("plugin", "marketplace", "add", str(INTEGRATIONS)),
        ("plugin", "install", PLUGIN, "--scope", "user"),
    ),
    (("plugin", "uninstall", PLUGIN), ("plugin", "marketplace", "remove", MARKETPLACE)),
    (
        "settings.json", "plugins/installed_plugins.json", "plugins/known_marketplaces.json",
        "plugins/marketplaces", "plugins/data", "plugins/cache", "plugins",
    ),
)  # fmt: skip
CODEX: Final = Program(
    "codex", "Codex", "codex", "CODEX_HOME", ".codex", "config.toml",
    "sessions/*/*/*/rollout-*.jsonl",
    (
        ("plugin", "marketplace", "add", str(INTEGRATIONS)),
        ("plugin", "add", PLUGIN),
    ),
    (("plugin", "remove", PLUGIN), ("plugin", "marketplace", "remove", MARKETPLACE)),
    ("config.toml", "plugins/cache", "plugins", ".tmp/marketplaces", ".tmp"),
)  # fmt: skip
PROGRAMS: Final = {one.name: one for one in (CLAUDE_CODE, CODEX)}
