"""Where a command runs: the project of the folder, unless an option or a file says otherwise."""

import errno
import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from service.client import options
from service.client.sessions import PlaceOptions
from service.commands.given_options import give
from service.errors import InvalidRequest

# A file of this name in a folder, or one above it, says whose memory is meant there.
FILE: Final = ".graph-memory.toml"
_TEXTS: Final = frozenset({"agent", "project", "files"})
_GIT_SECONDS: Final = 5

Agent = Annotated[
    str | None, typer.Option("--agent", help="Whose memory. Default: the key's own agent.")
]
Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        help="A git remote, a folder or a name; 'none' for the agent's own. Default: what "
        f"{FILE} says, or else the git repository here.",
    ),
]


@dataclass(frozen=True, slots=True)
class Said:
    """What a file says of the folder it lies in and those below: whose memory, and what is not.

    Memory `is_off` there, or for what one of `exclude` matches: paths from that folder, with * and
    ? as in a shell; a folder stands for all that is in it. A file below says `off = false` to be on
    again. `files` is the folder, from that one,
    of the files that `graph-memory sync-files` keeps.
    """

    agent: str | None = None
    project: str | None = None
    is_off: bool | None = None
    exclude: tuple[str, ...] = ()
    folder: Path = Path()
    files: str | None = None

    def excludes(self, path: Path) -> bool:
        """Return whether memory is off for a path."""
        if self.is_off:
            return True
        if not self.exclude or not path.is_relative_to(self.folder):
            return False
        inside = path.relative_to(self.folder)
        places = [one.as_posix() for one in (inside, *inside.parents) if one.name]
        meant = {one for rule in self.exclude for one in spellings(rule, self.folder)}
        return "" in meant or any(
            place == rule or fnmatchcase(place, rule) for place in places for rule in meant
        )


@cache
def spellings(rule: str, folder: Path) -> set[str]:
    """Return a rule as paths from its folder, empty for that itself, however it is written."""
    rule = str(Path(rule).expanduser()).removeprefix(f"{folder}/")
    rule = os.path.normpath(rule.removesuffix("/**").lstrip("/") or ".")
    return {"" if rule in {".", "**"} else rule, rule.removeprefix("**/")}


class Paths:
    """For which paths memory is off, by any name that they have; files are read once."""

    def __init__(self) -> None:
        self._said: dict[Path, list[Said] | None] = {}

    def is_off(self, path: str) -> bool:
        """Return whether memory is off for a path, or for what it is a link to.

        So it is where a file makes no sense.
        """
        try:
            return any(self._is_off(one) for one in {Path(path), Path(os.path.realpath(path))})
        except OSError as error:
            # So long a path has no file.
            return error.errno != errno.ENAMETOOLONG

    def _is_off(self, path: Path) -> bool:
        folder = path if path.is_dir() else path.parent
        if folder not in self._said:
            try:
                self._said[folder] = list(_that_hold(folder))
            except InvalidRequest:
                self._said[folder] = None
        files = self._said[folder]
        return files is None or any(said.excludes(path) for said in files)


def at_place(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options --agent and --project; as `place` it is told what they mean here.

    Whose memory that is: `find_place` says it, and raises for it.
    """
    return give(command, "place", {"agent": Agent, "project": Project}, find_place)


def find_place(agent: str | None, project: str | None, folder: Path | None = None) -> PlaceOptions:
    """Return whose memory a command means in a folder, which is that it runs in unless given.

    Raises InvalidRequest for a file that makes no sense, and where it says that memory is off.
    """
    folder = folder or Path.cwd()
    said = read_file(folder)
    if file := switched_off_by(folder):
        raise InvalidRequest(f"{file} says that memory is switched off here.")
    place: PlaceOptions = {}
    if agent := agent or said.agent:
        place["agent"] = agent
    project = project or said.project
    if project is None:
        told = tell_repository(folder)
        if told:
            place["project"] = told
    elif project != "none":
        place["project"] = project
    return place


def as_text(place: PlaceOptions) -> dict[str, Any]:
    """Return a place as a query has it: the project in one text, all that is known of it."""
    told: dict[str, Any] = {**place}
    project = told.get("project")
    if isinstance(project, dict):
        told["project"] = json.dumps(project, ensure_ascii=False)
    return told


def switched_off_by(folder: Path) -> Path | None:
    """Return the file that switches memory off for a folder, the nearest or any above it.

    Raises InvalidRequest where one is wrong.
    """
    found = (said for said in _that_hold(folder) if said.excludes(folder))
    return next((said.folder / FILE for said in found), None)


def _that_hold(folder: Path) -> Iterator[Said]:
    """Yield what files say of a folder, the nearest first, up to one by which memory is on."""
    for said in _every(folder):
        yield said
        if said.is_off is False:
            return


def read_file(folder: Path) -> Said:
    """Return what the nearest file says of a folder; raises InvalidRequest where it is wrong."""
    return next(_every(folder), Said())


def _every(folder: Path) -> Iterator[Said]:
    """Yield what each file says of a folder, the nearest first."""
    for path in (one / FILE for one in (folder, *folder.parents)):
        if not path.is_file():
            continue
        try:
            values = tomllib.loads(path.read_text("utf-8-sig"))
        except (ValueError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"{path}: {error}.") from error
        wrong = sorted(name for name, value in values.items() if not _is_sound(name, value))
        if wrong:
            msg = (
                f"{path}: write `agent`, `project` and `files` as texts, `off` as true or false "
                f"and `exclude` as a list of paths, not {', '.join(wrong)}."
            )
            raise InvalidRequest(msg)
        yield Said(
            values.get("agent"), values.get("project"), values.get("off"),
            tuple(values.get("exclude", ())), path.parent, values.get("files"),
        )  # fmt: skip


def _is_sound(name: str, value: object) -> bool:
    if name == "off":
        return isinstance(value, bool)
    if name == "exclude":
        return isinstance(value, list) and all(isinstance(one, str) and one for one in value)
    return name in _TEXTS and isinstance(value, str) and bool(value)


def tell_repository(folder: Path) -> options.Project:
    """Return the remote and the folder of the git repository here, empty outside of one.

    Of a worktree that is the folder of the repository that it belongs to.
    """
    root, origin, store = _ask(folder)
    if root and store and Path(store).name == ".git":
        root = str(Path(store).parent)
    told: options.Project = {}
    if origin:
        told["origin"] = origin
    if root:
        told["root"] = root
    return told


def _ask(folder: Path) -> Iterator[str | None]:
    git = shutil.which("git")
    for words in (
        ("rev-parse", "--show-toplevel"), ("config", "--get", "remote.origin.url"),
        ("rev-parse", "--path-format=absolute", "--git-common-dir"),
    ):  # fmt: skip
        if git is None:
            yield None
            continue
        try:
            done = subprocess.run(  # noqa: S603 - fixed words, no shell
                [git, "-C", str(folder), *words], capture_output=True, text=True, check=False,
                timeout=_GIT_SECONDS,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
            yield None
            continue
        yield done.stdout.strip() or None
