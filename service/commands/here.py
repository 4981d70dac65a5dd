"""Where a command runs: the project of the folder, unless an option or a file says otherwise."""

import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from service.client import options
from service.client.sessions import PlaceOptions
from service.errors import InvalidRequest

# A file of this name in a folder, or one above it, says whose memory is meant there.
FILE: Final = ".graph-memory.toml"
_NAMES: Final = frozenset({"agent", "project"})
_GIT_SECONDS: Final = 5

AGENT: Final = typer.Option("--agent", help="Whose memory. Default: the key's own agent.")
PROJECT: Final = typer.Option(
    "--project", help="A git remote, a folder or a name; 'none' for the agent's own. Default: "
    f"what {FILE} says, or else the git repository here.",
)  # fmt: skip
Agent = Annotated[str | None, AGENT]
Project = Annotated[str | None, PROJECT]


def find_place(agent: str | None, project: str | None) -> PlaceOptions:
    """Return whose memory a command means; raises InvalidRequest for a file that makes no sense."""
    said = read_file(Path.cwd())
    place: PlaceOptions = {}
    if agent := agent or said.get("agent"):
        place["agent"] = agent
    project = project or said.get("project")
    if project is None:
        told = tell_repository(Path.cwd())
        if told:
            place["project"] = told
    elif project != "none":
        place["project"] = project
    return place


def as_text(place: PlaceOptions) -> dict[str, Any]:
    """Return a place as a query has it: the project in one text."""
    told: dict[str, Any] = {**place}
    project = told.get("project")
    if isinstance(project, dict):
        told["project"] = project.get("origin") or project.get("root")
    return told


def read_file(folder: Path) -> dict[str, str]:
    """Return what the nearest file says of a folder, empty without one."""
    for path in (one / FILE for one in (folder, *folder.parents)):
        if not path.is_file():
            continue
        try:
            said = tomllib.loads(path.read_text("utf-8"))
        except (ValueError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"{path}: {error}.") from error
        wrong = sorted(name for name in said if name not in _NAMES or not said[name])
        if wrong or not all(isinstance(value, str) for value in said.values()):
            msg = f"{path}: write `agent` and `project` alone, each a text"
            raise InvalidRequest(f"{msg}, not {', '.join(wrong)}." if wrong else f"{msg}.")
        return said
    return {}


def tell_repository(folder: Path) -> options.Project:
    """Return the remote and the folder of the git repository here, empty outside of one."""
    root, origin = _ask(folder)
    told: options.Project = {}
    if origin:
        told["origin"] = origin
    if root:
        told["root"] = root
    return told


def _ask(folder: Path) -> Iterator[str | None]:
    git = shutil.which("git")
    for words in (("rev-parse", "--show-toplevel"), ("config", "--get", "remote.origin.url")):
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
