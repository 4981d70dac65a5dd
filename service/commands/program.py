"""An agent's program on this machine: where it keeps its settings, how a plugin comes and goes.

A plugin is put in and taken out by the program's own command: the form of its files is its own and
changes. What that command leaves behind is tidied up here.
"""

import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from service.commands.misused import Misused
from service.errors import InvalidRequest
from service.settings import REPOSITORY

INTEGRATIONS: Final = REPOSITORY / "integrations"
MARKETPLACE: Final = "graph-memory"
PLUGIN: Final = f"graph-memory@{MARKETPLACE}"
_SECONDS: Final = 120
# Parts of settings that a program's own command makes, and leaves empty.
_TABLES: Final = ("enabledPlugins", "extraKnownMarketplaces")
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
    # What a person does that no command of ours can: after it was connected, and disconnected.
    then: str = ""
    again: str = ""
    # Where to look when no hook ever came.
    hint: str = "start a new session, and look whether its hooks are trusted there"

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

    @property
    def written(self) -> str:
        """What its command writes, for a person to read beforehand."""
        return f"{self.settings_file} and {self.home / 'plugins'}"

    @property
    def left(self) -> str:
        """What is tidied up after its command, for a person to read beforehand."""
        return f"remove {self.cache}, and what is left empty in {self.home}"

    @property
    def script(self) -> Path | None:
        """The script that its hooks run, started by Python; None where it runs none."""
        return self.plugin / "scripts" / "hook.py"

    @property
    def workspace(self) -> Path | None:
        """The folder that its sessions work in; None where that is the folder that it runs in."""
        return None

    def agents(self) -> tuple[str, ...]:
        """Return the agents that have a memory each; none where one is said, or the key's own."""
        return ()

    def coming(self, *, slot: bool) -> Sequence[Sequence[str]]:
        """Return what its command is still told to put the plugin in; raises Misused."""
        if slot:
            raise Misused(f"{self.title} has no memory slot: leave out --slot.")
        if not self.has_plugin():
            return self.add
        # Its own update looks at the number of the version alone, which a pull need not change.
        return (self.remove[0], *self.add) if self.what_is_old() else ()

    def going(self) -> Sequence[Sequence[str]]:
        """Return what its command is told to take the plugin out again; raises InvalidRequest."""
        return self.remove if self.has_plugin() else ()

    def find(self) -> str:
        """Return its command's path; raises InvalidRequest where it is not installed."""
        found = shutil.which(self.command)
        if found is None:
            msg = (
                f"{self.title} is not installed: there is no command `{self.command}`. Install it,"
                " or put its folder on the PATH of this shell."
            )
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

    def is_plain(self) -> bool:
        """Return whether its command can write its settings without losing what they say."""
        return True

    def is_installed(self) -> bool:
        """Return whether its settings know the plugin, on or off."""
        return self.has_plugin()

    def has_plugin(self) -> bool:
        """Return whether its settings name the plugin."""
        told = self.read_settings()
        plugins = told.get("enabledPlugins") or told.get("plugins") or {}
        return isinstance(plugins, dict) and PLUGIN in plugins

    def what_is_off(self) -> str | None:
        """Return what in its settings keeps an installed plugin from working."""
        told = self.read_settings()
        if told.get("disableAllHooks"):
            return f"{self.settings_file} has disableAllHooks: take it out."
        for table in ("enabledPlugins", "plugins"):
            value = (told.get(table) or {}).get(PLUGIN)
            if value is not None:
                is_on = value.get("enabled", True) if isinstance(value, dict) else value
                return None if is_on else "it is installed and switched off: enable it there."
        return "it is installed and switched off: enable it there."

    def what_is_old(self) -> str | None:
        """Return what to do where its copy of the plugin is not what this checkout has."""
        copies = [folder for folder in self.cache.glob("*/*") if folder.is_dir()]
        if not copies or any(_is_copy(folder, self.plugin) for folder in copies):
            return None
        return f"its copy is of another version: run `graph-memory connect {self.name}`."

    def tidy(self, now: dict[str, Any], old: dict[str, Any]) -> None:
        """Take out of settings what its command leaves behind and was not there before."""
        for table in _TABLES:
            if now.get(table) == {} and table not in old:
                del now[table]

    def takes(self, text: str, instead_of: str) -> bool:  # noqa: ARG002 - OpenClaw's alone
        """Return whether the program takes a text of its settings in place of another."""
        return True

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


def _is_copy(folder: Path, plugin: Path) -> bool:
    """Say whether a folder has each file of a plugin as it is there, whatever else it has."""
    files = (path for path in plugin.rglob("*") if path.is_file() and path.suffix != ".pyc")
    try:
        return all(
            (folder / path.relative_to(plugin)).read_bytes() == path.read_bytes() for path in files
        )
    except OSError:
        return False
