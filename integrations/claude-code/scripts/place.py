"""Which project a folder belongs to, and whether memory is off there: as `graph-memory` says it."""

import errno
import os
import stat
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

FILE = ".graph-memory.toml"
GIT_SECONDS = 1.0


TEXTS = {"agent", "project", "files"}


@cache
def spellings(rule: str, folder: Path) -> set[str]:
    """Return a rule as paths from its folder, empty for that itself, however it is written."""
    rule = os.path.expanduser(rule).removeprefix(f"{folder}/")
    rule = os.path.normpath(rule.removesuffix("/**").lstrip("/") or ".")
    return {"" if rule in {".", "**"} else rule, rule.removeprefix("**/")}


class Unsound(ValueError):
    """A file makes no sense: memory is off there, as nobody can tell what it was to say."""


@dataclass(frozen=True)
class Said:
    """What a file says of its folder and those below."""

    folder: Path
    values: dict[str, Any]

    def excludes(self, path: Path) -> bool:
        """Return whether memory is off for a path: what a rule names, or below it."""
        if self.values.get("off"):
            return True
        rules = self.values.get("exclude", ())
        if not rules or not path.is_relative_to(self.folder):
            return False
        inside = path.relative_to(self.folder)
        places = [one.as_posix() for one in (inside, *inside.parents) if one.name]
        meant = {one for rule in rules for one in spellings(rule, self.folder)}
        return "" in meant or any(
            place == rule or fnmatchcase(place, rule) for place in places for rule in meant
        )


@dataclass(frozen=True)
class Place:
    """A project as far as it is known here.

    `root` is where its files lie: of a worktree its own folder, whatever repository it is of.
    `folder` is the one that was asked for.
    """

    root: str
    project: object
    agent: str | None
    folder: str

    def told(self) -> dict[str, Any]:
        """Return what is sent to the service of it."""
        told: dict[str, Any] = {}
        if self.project:
            told["project"] = self.project
        return told | ({"agent": self.agent} if self.agent else {})


class Paths:
    """For which paths memory is off, by any name that they have; files are read once."""

    def __init__(self) -> None:
        self._said: dict[str, list[Said]] = {}
        self._real: dict[str, str] = {}

    def is_off(self, path: str) -> bool:
        """Return whether memory is off for a path, or for what it is a link to."""
        try:
            return self._is_off_by_any_name(path)
        except OSError:
            # So long a path has no file.
            return False

    def _is_off_by_any_name(self, path: str) -> bool:
        folder, name = os.path.split(path)
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        places = {path, os.path.join(self._real[folder], name)}
        try:
            kind = os.lstat(path).st_mode
        except (OSError, ValueError):
            kind = 0
        is_link = stat.S_ISLNK(kind)
        if is_link:
            places.add(os.path.realpath(path))
        is_folder = is_link or stat.S_ISDIR(kind)
        return any(self._is_off(one, is_folder=is_folder) for one in places)

    def _is_off(self, path: str, *, is_folder: bool) -> bool:
        files = self._of(path if is_folder else os.path.dirname(path))
        return bool(files) and any(one.excludes(Path(path)) for one in files)

    def _of(self, folder: str) -> list[Said]:
        """Return what files say of a folder, the nearest first, up to one by which memory is on."""
        if folder not in self._said:
            try:
                own = read_file(Path(folder))
            except Unsound:
                own = Said(Path(folder), {"off": True})
            above = os.path.dirname(folder)
            ends = above == folder or (own is not None and own.values.get("off") is False)
            files = [] if ends else self._of(above)
            self._said[folder] = files if own is None else [own, *files]
        return self._said[folder]


def find_place(cwd: object) -> Place | None:
    """Return the place of a folder; None where memory is switched off. Raises Unsound."""
    folder = Path(cwd) if isinstance(cwd, str) and cwd else Path.cwd()
    files = tuple(said_of(folder))
    if any(one.excludes(folder) for one in files) or Paths().is_off(str(folder)):
        return None
    said = files[0].values if files else {}
    top, origin, root = ask_git(folder)
    project = said.get("project")
    found: object = project
    if project is None:
        found = {"origin": origin, "root": root or str(folder)}
        found = {name: value for name, value in found.items() if value}
    elif project == "none":
        found = None
    return Place(top or str(folder), found, said.get("agent"), str(folder))


def said_of(folder: Path) -> Iterator[Said]:
    """Yield what files say of a folder, the nearest first, up to one by which memory is on."""
    for one in (folder, *folder.parents):
        if (said := read_file(one)) is not None:
            yield said
            if said.values.get("off") is False:
                return


def read_file(folder: Path) -> Said | None:
    """Return what the file in a folder says; None without one. Raises Unsound."""
    path = folder / FILE
    try:
        if not path.is_file():
            return None
        values = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.ENAMETOOLONG:
            raise
        raise Unsound(f"{path}: {error}: memory is off there") from error
    if wrong := sorted(name for name, value in values.items() if not is_sound(name, value)):
        raise Unsound(f"{path} makes no sense of {', '.join(wrong)}: memory is off there")
    return Said(folder, values)


def is_sound(name: str, value: object) -> bool:
    """Return whether a value is what its name is for."""
    if name == "off":
        return isinstance(value, bool)
    if name == "exclude":
        return isinstance(value, list) and all(isinstance(one, str) and one for one in value)
    return name in TEXTS and isinstance(value, str) and bool(value)


def ask_git(folder: Path) -> tuple[str | None, str | None, str | None]:
    """Return the root of the work tree that a folder is in, the remote and the repository's root.

    None for each that there is none of. All worktrees of a repository are one project.
    """
    if not os.path.isdir(folder):
        return None, None, None
    words = ("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir")
    # The last two lines: a git that does not know the second word repeats it.
    top, store = (run_git(folder, *words) or "\n").split("\n")[-2:]
    is_usual = os.path.isabs(store) and os.path.basename(store) == ".git"
    origin = run_git(folder, "config", "--get", "remote.origin.url") or None
    return top or None, origin, (os.path.dirname(store) if is_usual else top) or None


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
