"""Which project a folder belongs to, and whether memory is off there: as `graph-memory` says it."""

import os
import subprocess
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

FILE = ".graph-memory.toml"
GIT_SECONDS = 1.0


@dataclass(frozen=True)
class Place:
    """A project as far as it is known here, and what a file says of it."""

    root: str
    project: object
    agent: str | None
    said_in: Path | None
    exclude: tuple[str, ...]

    def told(self) -> dict[str, Any]:
        """Return what is sent to the service of it."""
        told: dict[str, Any] = {}
        if self.project:
            told["project"] = self.project
        return told | ({"agent": self.agent} if self.agent else {})

    def excludes(self, file: str | None) -> bool:
        """Return whether memory is off for a file."""
        if file is None or self.said_in is None:
            return False
        return matches(Path(file), self.said_in, self.exclude)


def find_place(cwd: object) -> Place | None:
    """Return the place of a folder; None where memory is switched off, or nobody can tell."""
    folder = Path(cwd) if isinstance(cwd, str) and cwd else Path.cwd()
    said_in, said = read_file(folder)
    if said is None:
        return None
    exclude = tuple(said.get("exclude", ()))
    if said.get("off") or (said_in and matches(folder, said_in, exclude)):
        return None
    root, origin = ask_git(folder)
    agent, project = said.get("agent"), said.get("project")
    found: object = project
    if project is None:
        found = {"origin": origin, "root": root or str(folder)}
        found = {name: value for name, value in found.items() if value}
    elif project == "none":
        found = None
    return Place(root or str(folder), found, agent, said_in, exclude)


def read_file(folder: Path) -> tuple[Path | None, dict[str, Any] | None]:
    """Return the nearest file's folder and what it says; None for what makes no sense."""
    for one in (folder, *folder.parents):
        try:
            return one, tomllib.loads((one / FILE).read_text("utf-8"))
        except OSError:
            continue
        except ValueError:
            return one, None
    return None, {}


def matches(path: Path, said_in: Path, rules: tuple[str, ...]) -> bool:
    """Return whether a path is what a rule names, or below it."""
    if not rules or not path.is_relative_to(said_in):
        return False
    inside = path.relative_to(said_in)
    places = [one.as_posix() for one in (inside, *inside.parents) if one.name]
    return any(fnmatchcase(place, rule.rstrip("/")) for place in places for rule in rules)


def ask_git(folder: Path) -> tuple[str | None, str | None]:
    """Return the root and the remote of the repository that a folder is in; None for either."""
    if not os.path.isdir(folder):
        return None, None
    return (
        run_git(folder, "rev-parse", "--show-toplevel") or None,
        run_git(folder, "config", "--get", "remote.origin.url") or None,
    )


def run_git(
    folder: object, *words: str, given: str | None = None, seconds: float = GIT_SECONDS
) -> str | None:
    """Return what git prints, nothing where it found nothing; None where it cannot say."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, input=given, text=True,
            encoding="utf-8", errors="replace", timeout=seconds, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode in {0, 1} else None
