"""OpenClaw's gateway: its settings are JSON5, and its plugin may stand in the memory slot too."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from service.commands.program import INTEGRATIONS, Program
from service.errors import InvalidRequest

_ID: Final = "graph-memory"
_SLOT: Final = "graph-memory-slot"
_FOLDERS: Final = {_ID: INTEGRATIONS / "openclaw", _SLOT: INTEGRATIONS / "openclaw-slot"}
# The gateway's default, under which it has its own memory again.
_CORE: Final = "memory-core"
_ACCESS: Final = "allowConversationAccess"


@dataclass(frozen=True, slots=True)
class _Plugins:
    """What settings say of plugins."""

    told: Mapping[str, Any]

    @property
    def slot(self) -> object:
        """The plugin that has the memory slot, where settings say one."""
        return _table(self.told, "slots").get("memory")

    def names(self, name: str) -> bool:
        """Return whether settings say where a plugin of ours lies."""
        paths = _table(self.told, "load").get("paths")
        told = [Path(one).expanduser() for one in paths or () if isinstance(one, str)]
        return _FOLDERS[name] in told

    def what_is_off(self) -> str | None:
        """Return what keeps an installed plugin from working."""
        entry = _table(_table(self.told, "entries"), _ID)
        if self.told.get("enabled") is False:
            return "plugins.enabled is false: OpenClaw loads no plugin."
        if _ID in (self.told.get("deny") or ()):
            return f"plugins.deny names {_ID}: take it out."
        if (allowed := self.told.get("allow")) and _ID not in allowed:
            return f"plugins.allow does not name {_ID}: add it."
        if entry.get("enabled") is False:
            return f"it is switched off: `openclaw config set plugins.entries.{_ID}.enabled true`."
        if _table(entry, "hooks").get(_ACCESS) is not True:
            name = f"plugins.entries.{_ID}.hooks.{_ACCESS}"
            return f"it may not see what is said: `openclaw config set {name} true`."
        return None


@dataclass(frozen=True, slots=True)
class OpenClaw(Program):
    """OpenClaw. Its command writes settings as plain JSON: where there is more, it writes nothing.

    A person then writes the lines by hand; what is there is found, whoever wrote it.
    """

    @property
    def home(self) -> Path:
        """The folder of its state, in which our plugin has its own."""
        if told := os.environ.get(self.variable):
            return Path(told).expanduser()
        home = os.environ.get("OPENCLAW_HOME")
        return (Path(home).expanduser() if home else Path.home()) / self.folder

    @property
    def settings_file(self) -> Path:
        """The file of its settings."""
        told = os.environ.get("OPENCLAW_CONFIG_PATH")
        return Path(told).expanduser() if told else self.home / self.settings

    @property
    def written(self) -> str:
        """What its command writes, for a person to read beforehand."""
        return f"{self.settings_file}, copies of it beside it, and {self.home / 'state'}"

    @property
    def left(self) -> str:
        """What is tidied up after its command, for a person to read beforehand."""
        return f"put {self.settings_file} back where nothing else was changed in it"

    @property
    def script(self) -> Path | None:
        """None: the gateway runs the plugin itself."""
        return None

    @property
    def workspace(self) -> Path | None:
        """The folder that its agents work in, where its settings say none of their own."""
        agents = _table(self.read_settings(), "agents")
        told = _table(agents, "defaults").get("workspace")
        return Path(told).expanduser() if isinstance(told, str) else self.home / "workspace"

    def agents(self) -> tuple[str, ...]:
        """Return the agents of the gateway, as its command tells them."""
        told = self._json("agents", "list", "--json")
        names = [one.get("id") for one in told if isinstance(one, dict)]
        return tuple(name for name in names if isinstance(name, str)) or ("main",)

    def read_settings(self) -> dict[str, Any]:
        """Return its settings; where they are more than plain JSON, what its command says of them.

        Raises InvalidRequest for those that cannot be read, and plain ones that cannot be written.
        """
        if self.is_plain():
            return super(OpenClaw, self).read_settings()
        told = {name: self._json("config", "get", name, "--json") for name in ("plugins", "agents")}
        return {name: value for name, value in told.items() if isinstance(value, dict)}

    def is_plain(self) -> bool:
        """Return whether its command can write its settings without losing what they say."""
        try:
            json.loads(self.settings_file.read_text("utf-8") or "{}")
        except FileNotFoundError:
            return True
        except (OSError, UnicodeDecodeError) as error:
            msg = f"{self.settings_file} cannot be read: {error}. Nothing was changed."
            raise InvalidRequest(msg) from error
        except ValueError:
            return False
        return True

    def is_installed(self) -> bool:
        """Return whether its settings say where the plugin lies."""
        return self._plugins().names(_ID)

    def has_plugin(self) -> bool:
        """Return whether its settings have the plugin on, with leave to see what is said."""
        plugins = self._plugins()
        return plugins.names(_ID) and plugins.what_is_off() is None

    def what_is_off(self) -> str | None:
        """Return what in its settings keeps an installed plugin from working."""
        return self._plugins().what_is_off()

    def coming(self, *, slot: bool) -> Sequence[Sequence[str]]:
        """Return what its command is still told; raises InvalidRequest with what to write by hand.

        One that began with 2026.8 asks for a person's consent to what a plugin may.
        """
        plugins = self._plugins()
        wanted = [] if plugins.names(_ID) and plugins.what_is_off() is None else [_ID]
        if slot and not (plugins.names(_SLOT) and plugins.slot == _SLOT):
            wanted.append(_SLOT)
        if not wanted:
            return ()
        if not self.is_plain():
            raise InvalidRequest(self._by_hand(wanted))
        asks = "--accept-capabilities" in self.run("plugins", "install", "--help")
        consent = ("--force", "--accept-capabilities") if asks else ()
        words: list[Sequence[str]] = []
        for name in wanted:
            words.append(("plugins", "install", "--link", *consent, str(_FOLDERS[name])))
            if name == _ID:
                words.append(("config", "set", f"plugins.entries.{_ID}.hooks.{_ACCESS}", "true"))
        return words

    def going(self) -> Sequence[Sequence[str]]:
        """Return what its command is told; raises InvalidRequest where a person has to."""
        plugins = self._plugins()
        # Of one that is gone already its command knows nothing, and fails.
        found = [name for name in (_SLOT, _ID) if plugins.names(name)]
        if found and not self.is_plain():
            msg = (
                f"{self.settings_file} has comments or trailing commas, which OpenClaw's command "
                f"would lose: take {' and '.join(found)} out of its plugins there, and say this "
                "again. Nothing was changed."
            )
            raise InvalidRequest(msg)
        words: list[Sequence[str]] = []
        if plugins.slot == _SLOT:
            words.append(("config", "set", "plugins.slots.memory", _CORE))
        return [*words, *(("plugins", "uninstall", "--force", name) for name in found)]

    def tidy(self, now: dict[str, Any], old: dict[str, Any]) -> None:
        """Take out what its command leaves of a plugin, but its own mark."""
        plugins = _table(now, "plugins")
        entries, slots = _table(plugins, "entries"), _table(plugins, "slots")
        for name in _FOLDERS:
            if set(entries.get(name) or {}) <= {"enabled"}:
                entries.pop(name, None)
        before = _table(old, "plugins")
        if slots.get("memory") == _CORE and "memory" not in _table(before, "slots"):
            del slots["memory"]
        for name in ("entries", "slots"):
            if plugins.get(name) == {} and name not in before:
                del plugins[name]
        if not plugins and "plugins" not in old:
            now.pop("plugins", None)
        # When it was written last is said anew each time. Where there was no such mark it stays: a
        # gateway takes settings that lost theirs for damaged, and puts the last ones back.
        if "meta" in old:
            now["meta"] = old["meta"]

    def takes(self, text: str, instead_of: str) -> bool:
        """Return whether a gateway does not take settings for damaged, which it puts back."""
        return len(text.encode()) * 2 > len(instead_of.encode())

    def _by_hand(self, wanted: Sequence[str]) -> str:
        entries: dict[str, Any] = {name: {"enabled": True} for name in wanted}
        if _ID in entries:
            entries[_ID]["hooks"] = {_ACCESS: True}
        plugins: dict[str, Any] = {
            "load": {"paths": [str(_FOLDERS[name]) for name in wanted]}, "entries": entries,
        }  # fmt: skip
        if _SLOT in wanted:
            plugins["slots"] = {"memory": _SLOT}
        return (
            f"{self.settings_file} has comments or trailing commas, which OpenClaw's command would "
            "lose. Write this into it and say this again; nothing was changed:\n"
            f"plugins: {json.dumps(plugins, ensure_ascii=False)}"
        )

    def _plugins(self) -> "_Plugins":
        if self.is_plain():
            return _Plugins(_table(super(OpenClaw, self).read_settings(), "plugins"))
        told = self._json("config", "get", "plugins", "--json")
        return _Plugins(told if isinstance(told, dict) else {})

    def _json(self, *words: str) -> Any:
        """Return what its command says as JSON, behind whatever it says beside that."""
        said = self.run(*words, fails=False)
        begins = [place for place in (said.find("{"), said.find("[")) if place >= 0]
        try:
            return json.loads(said[min(begins, default=0) :])
        except ValueError:
            return {}


def _table(told: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = told.get(name)
    return value if isinstance(value, dict) else {}
