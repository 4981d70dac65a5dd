"""The configured folders: which files lie in them, under which names, and reading one safely."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from service.errors import NotText, PathOutsideSources, SourceTooLarge

SUFFIXES: Final = frozenset({".md", ".markdown", ".mdx", ".txt"})
_NAME_PROBLEM: Final = "its name is not UTF-8. Rename the file."
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
    and so is a name that is not UTF-8. Each file comes once, however often `only` names it.
    """
    for folder in folders:
        starts = only or [folder.path]
        inside = sorted(path for path in starts if path.is_relative_to(folder.path))
        for path in dict.fromkeys(path for start in inside for path in _walk(start)):
            name = folder.prefix + path.relative_to(folder.path).as_posix()
            # What a name holds beside UTF-8 is read as lone surrogates; no store takes them.
            uri = name.encode("utf-8", "replace").decode()
            problem = _link_problem(path, folder.path) if uri == name else _NAME_PROBLEM
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


def read_text(path: Path, max_bytes: int) -> str:
    """Return a file's text; raises SourceTooLarge, NotText, or OSError."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise NotText("not a file: a folder, a pipe or a device.")
    if status.st_size > max_bytes:
        most = f"the largest file taken is {max_bytes:,} (MEMORY_MAX_SOURCE_BYTES)."
        raise SourceTooLarge(f"{status.st_size:,} bytes; {most}")
    return decode(path.read_bytes())


def decode(data: bytes) -> str:
    """Return bytes as text; raises NotText for binary data and for anything but UTF-8."""
    if b"\x00" in data:
        raise NotText("a binary file: it holds NUL bytes.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte {data[error.start]:#04x} at position {error.start}"
        raise NotText(f"not UTF-8: {found}. Save it as UTF-8.") from error


def modified_at(path: Path) -> datetime:
    """Return when a file was last changed."""
    return datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)


def _walk(start: Path) -> Iterator[Path]:
    if start.is_file():
        yield start
        return
    for folder, subfolders, names in os.walk(start):
        subfolders[:] = sorted(
            name for name in subfolders if name[0] != "." and name not in _SKIPPED_FOLDERS
        )
        for name in sorted(names):
            if name[0] != "." and Path(name).suffix.lower() in SUFFIXES:
                yield Path(folder) / name


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
