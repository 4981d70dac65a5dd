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
_HIDDEN_PROBLEM: Final = "not read: it is hidden, or in a folder that is passed over."
_SUFFIX_PROBLEM: Final = f"not read: its name ends in none of {', '.join(sorted(SUFFIXES))}."
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

    Hidden folders are passed over; what `only` names of them is yielded as a problem. So is a link
    that leads out of its folder, and a name that no source can have. Each file comes once, however
    often `only` names it.
    """
    for folder in folders:
        starts = sorted(path for path in only or [folder.path] if _is_of(path, folder, folders))
        for path in dict.fromkeys(path for one in starts for path in _walk(folder.path, one)):
            name = folder.prefix + path.relative_to(folder.path).as_posix()
            # What a name holds beside UTF-8 is read as lone surrogates; no store takes them.
            uri = name.encode("utf-8", "replace").decode()
            problem = (
                _name_problem(name, uri)
                or _place_problem(path.relative_to(folder.path))
                or _link_problem(path, folder.path)
            )
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


def _is_of(path: Path, folder: Folder, folders: Sequence[Folder]) -> bool:
    """Say whether a folder answers for a path; what it passes over may be configured itself."""
    if not path.is_relative_to(folder.path):
        return False
    nearer = (f for f in folders if f != folder and f.path.is_relative_to(folder.path))
    return not _is_hidden(path.relative_to(folder.path)) or not _lies_in(path, [*nearer])


def _walk(folder: Path, start: Path) -> Iterator[Path]:
    if _is_hidden(start.relative_to(folder)) or not start.is_dir():
        yield start
        return
    # From folder to folder by descriptors: one that becomes a link meanwhile is not entered.
    for place, subfolders, names, _ in os.fwalk(start):
        subfolders[:] = sorted(name for name in subfolders if not _is_passed_over(name))
        for name in sorted(names):
            if not _is_passed_over(name) and Path(name).suffix.lower() in SUFFIXES:
                yield Path(place) / name


def _is_passed_over(name: str) -> bool:
    return name[0] == "." or name in _SKIPPED_FOLDERS


def _is_hidden(path: Path) -> bool:
    return any(map(_is_passed_over, path.parts))


def _place_problem(path: Path) -> str | None:
    """Return why a file that was asked for by name is none of the notes."""
    if _is_hidden(path):
        return _HIDDEN_PROBLEM
    return None if path.suffix.lower() in SUFFIXES else _SUFFIX_PROBLEM


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
