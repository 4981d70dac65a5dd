"""The configured folders: which files lie in them, under which names, and reading one safely."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from service.errors import NotText, PathOutsideSources, SourceTooLarge

SUFFIXES: Final = frozenset({".md", ".markdown", ".mdx", ".txt"})
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

    So adding a folder never renames what is already stored.
    """
    folders: list[Folder] = []
    for path in paths:
        resolved = path.expanduser().resolve()
        name, number = resolved.name, 2
        while any(folder.prefix == f"{name}/" for folder in folders):
            name, number = f"{resolved.name}-{number}", number + 1
        folders.append(Folder(resolved, f"{name}/" if folders else ""))
    return folders


def files_in(folders: Sequence[Folder], only: Sequence[Path] = ()) -> Iterator[Found]:
    """Yield the text files of the folders in the order of their names, or those below `only`.

    Hidden folders are passed over; a link that leads out of its folder is yielded as a problem.
    """
    for folder in folders:
        starts = [path for path in only if path.is_relative_to(folder.path)] if only else [folder.path]
        for start in sorted(starts):
            for path in _walk(start):
                uri = folder.prefix + path.relative_to(folder.path).as_posix()
                yield Found(uri, path, str(folder.path), _link_problem(path, folder.path))


def paths_inside(folders: Sequence[Folder], paths: Sequence[str]) -> list[Path]:
    """Return paths below the configured folders; relative ones are tried in each folder.

    Raises PathOutsideSources for a path that leads out, by `..` or by a link, or is not there.
    """
    inside = []
    for text in paths:
        candidates = [(folder.path / Path(text).expanduser()).resolve() for folder in folders]
        found = [
            path
            for path in candidates
            if path.exists() and any(path.is_relative_to(folder.path) for folder in folders)
        ]
        if not found:
            msg = f"{text!r} is not in a configured folder: give a path below one, or add its folder to MEMORY_SOURCES."
            raise PathOutsideSources(msg)
        inside.append(found[0])
    return inside


def read_text(path: Path, max_bytes: int) -> str:
    """Return a file's text; raises SourceTooLarge, NotText, or OSError."""
    size = path.stat().st_size
    if size > max_bytes:
        msg = f"{size:,} bytes; the largest file taken is {max_bytes:,} (MEMORY_MAX_SOURCE_BYTES)."
        raise SourceTooLarge(msg)
    return decode(path.read_bytes())


def decode(data: bytes) -> str:
    """Return bytes as text; raises NotText for binary data and for anything but UTF-8."""
    if b"\x00" in data[:8192]:
        raise NotText("a binary file: it holds NUL bytes.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        msg = f"not UTF-8: byte {data[error.start]:#04x} at position {error.start}. Save it as UTF-8."
        raise NotText(msg) from error


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
    if path.is_symlink() and not path.resolve().is_relative_to(folder):
        return "a link that leads out of its folder; it is not followed."
    return None
