"""The configured folders: which files lie in them, and under which names."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service.errors import PathOutsideSources

SUFFIXES: Final = frozenset({".md", ".markdown", ".mdx", ".txt"})
_NAME_PROBLEM: Final = "its name is not UTF-8. Rename the file."
_CONTROL_PROBLEM: Final = "its name holds a control character. Rename the file."
_SKIPPED_FOLDERS: Final = frozenset({"node_modules", "__pycache__", "venv"})


@dataclass(frozen=True, slots=True)
class Folder:
    """One configured folder; `prefix` tells the files of a second folder from the first's."""

    path: Path
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read and the name it has as a source; `problem` is why it cannot be read."""

    uri: str
    path: Path
    folder: str
    problem: str | None = None


def configured_folders(paths: Sequence[Path]) -> list[Folder]:
    """Return the folders with their prefixes: the first has none, the others their own name.

    So adding a folder never renames what is already stored. A name that another folder or a
    subfolder of the first has is numbered: two files never share a source. One folder given twice
    is one folder.
    """
    folders: list[Folder] = []
    for path in dict.fromkeys(path.expanduser().resolve() for path in paths):
        name, number = path.name, 2
        while folders and _is_taken(name, folders):
            name, number = f"{path.name}-{number}", number + 1
        folders.append(Folder(path, f"{name}/" if folders else ""))
    return folders


def files_in(folders: Sequence[Folder], only: Sequence[Path] = ()) -> Iterator[Found]:
    """Yield the text files of the folders in the order of their names, or those below `only`.

    Hidden folders are passed over; a link that leads out of its folder is yielded as a problem,
    and so is a name that no source can have. Each file comes once, however often `only` names it.
    """
    for folder in folders:
        starts = only or [folder.path]
        inside = sorted(path for path in starts if path.is_relative_to(folder.path))
        for path in dict.fromkeys(path for start in inside for path in _walk(start)):
            name = folder.prefix + path.relative_to(folder.path).as_posix()
            # What a name holds beside UTF-8 is read as lone surrogates; no store takes them.
            uri = name.encode("utf-8", "replace").decode()
            problem = _name_problem(name, uri) or _link_problem(path, folder.path)
            yield Found(uri, path, str(folder.path), problem)


def paths_inside(folders: Sequence[Folder], paths: Sequence[str]) -> list[Path]:
    """Return paths below the configured folders; relative ones are tried in each folder.

    Raises PathOutsideSources for a path that leads out, by `..` or by a link, or is not there.
    """
    inside = []
    for text in paths:
        candidates = [_existing(folder.path, text) for folder in folders]
        found = next((path for path in candidates if path and _lies_in(path, folders)), None)
        if found is None:
            advice = "give a path below one, or add its folder to MEMORY_SOURCES."
            raise PathOutsideSources(f"{text!r} is not in a configured folder: {advice}")
        inside.append(found)
    return inside


def has_control_characters(name: str) -> bool:
    """Say whether a name holds what no source's name may: line breaks, escapes and their like."""
    return any(ord(character) < 32 for character in name)


def _walk(start: Path) -> Iterator[Path]:
    if not start.is_dir():
        yield start
        return
    # From folder to folder by descriptors: one that becomes a link meanwhile is not entered.
    for folder, subfolders, names, _ in os.fwalk(start):
        subfolders[:] = sorted(
            name for name in subfolders if name[0] != "." and name not in _SKIPPED_FOLDERS
        )
        for name in sorted(names):
            if name[0] != "." and Path(name).suffix.lower() in SUFFIXES:
                yield Path(folder) / name


def _name_problem(name: str, uri: str) -> str | None:
    if uri != name:
        return _NAME_PROBLEM
    return _CONTROL_PROBLEM if has_control_characters(name) else None


def _link_problem(path: Path, folder: Path) -> str | None:
    if not path.is_symlink():
        return None
    target = _existing(folder, str(path))
    if target is None:
        return "a link that leads nowhere."
    if not target.is_relative_to(folder):
        return "a link that leads out of its folder; it is not followed."
    return None


def _existing(folder: Path, text: str) -> Path | None:
    """Return the real place of a path that exists, and None for one that cannot."""
    try:
        path = (folder / Path(text).expanduser()).resolve()
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long, a circle of links or ~nobody, a NUL
        return None


def _lies_in(path: Path, folders: Sequence[Folder]) -> bool:
    return any(path.is_relative_to(folder.path) for folder in folders)


def _is_taken(name: str, folders: Sequence[Folder]) -> bool:
    is_subfolder = (folders[0].path / name).exists()
    return is_subfolder or any(folder.prefix == f"{name}/" for folder in folders)
