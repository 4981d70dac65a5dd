"""The configured folders: which files lie in them, and under which names."""

import errno
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Final

from service.drafts.kinds import SUFFIXES
from service.errors import PathOutsideSources
from service.ingest.document_names import has_control_characters
from service.ingest.reading import opened_folder

_NAME_PROBLEM: Final = "its name is not UTF-8. Rename the file."
_CONTROL_PROBLEM: Final = "its name holds a control character. Rename the file."
_MOST_CHARACTERS: Final = 500
_LONG_PROBLEM: Final = (
    f"its path has more than {_MOST_CHARACTERS} characters, which no source's name may have. "
    "Rename its folders."
)
_HIDDEN_PROBLEM: Final = "not read: it is hidden, or in a folder that is passed over."
_SUFFIX_PROBLEM: Final = f"not read: its name ends in none of {', '.join(sorted(SUFFIXES))}."
_TAKEN_PROBLEM: Final = (
    "its name is that of a file of another configured folder. Rename the subfolder that has that "
    "folder's name."
)
_FILE: Final = "it is no folder: name the one that it lies in."
# What it says of a folder that it is gone by now, or a link, which is not entered.
_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_SKIPPED_FOLDERS: Final = frozenset({"node_modules", "__pycache__", "venv", "lost+found"})


@dataclass(frozen=True, slots=True)
class Folder:
    """One configured folder; `prefix` tells the files of a second folder from the first's.

    `taken` are the prefixes of the others, which no name of the first folder may begin with.
    """

    path: Path
    prefix: str = ""
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read and the name it has as a source; `problem` is why it cannot be read.

    A folder that cannot be looked into is one with a problem.
    """

    uri: str
    path: Path
    folder: str
    problem: str | None = None


def configured_folders(
    paths: Sequence[Path], given: Iterable[tuple[str | None, str]] = ()
) -> list[Folder]:
    """Return the folders with their prefixes: the first has none, the others their own name.

    So adding a folder never renames what is already stored. A name that another folder or a
    subfolder of the first has is numbered: two files never share a source. Names that were `given`
    to files, as (folder, name), stay: the first folder may get such a subfolder later, or be away.
    One folder given twice is one folder.
    """
    # realpath, for a circle of links is a folder that is not there.
    places = list(dict.fromkeys(Path(os.path.realpath(path)) for path in paths))
    heads: dict[str, Counter[str]] = {str(place): Counter() for place in places}
    for folder, uri in given:
        if folder in heads:
            heads[folder][uri.partition("/")[0]] += 1
    others, names = places[1:], dict[str, Path]()
    for place in others:
        if name := _stored_name(place.name, heads[str(place)]):
            names.setdefault(name, place)
    for place in others:
        if place not in names.values():
            names[_free_name(place.name, places[0], names)] = place
    prefixes = {place: f"{name}/" for name, place in names.items()}
    first = [Folder(place, taken=tuple(prefixes.values())) for place in places[:1]]
    return first + [Folder(place, prefixes[place]) for place in others]


def files_in(folders: Sequence[Folder], only: Sequence[Path] = ()) -> Iterator[Found]:
    """Yield the text files of the folders in the order of their names, or those below `only`.

    Hidden folders are passed over; what `only` names of them is yielded as a problem. So is a link
    that leads to a note outside or to a folder outside of all, a name that no source can have or
    another folder's files have, and a folder that cannot be looked into. Each file comes once,
    however often `only` names it; of folders in each other the first has what lies in both.
    """
    read: set[Path] = set()
    for folder in folders:
        starts = sorted(path for path in only or [folder.path] if _is_of(path, folder, folders))
        found = dict(pair for one in starts for pair in _walk(folder.path, one, folders))
        for path, told in found.items():
            if path in read:
                continue
            inside = path.relative_to(folder.path)
            name = folder.prefix + inside.as_posix() if inside.parts else str(path)
            # What a name holds beside UTF-8 is read as lone surrogates; no store takes them.
            uri = name.encode("utf-8", "replace").decode()
            if is_taken := name.startswith(folder.taken):
                nearer = (one for one in folders if one != folder)
                if any(_is_of(path, one, folders) for one in nearer):
                    continue  # that one gave it the name
            problem = (
                told
                or (_TAKEN_PROBLEM if is_taken else None)
                or _name_problem(name, uri)
                or _link_problem(path, folder.path)
            )
            if problem is None:
                read.add(path)
            yield Found(uri, path, str(folder.path), problem)


def why_missing(folder: Folder) -> str | None:
    """Return why a folder cannot be walked at all; None where it is there."""
    try:
        if folder.path.is_dir():
            return None
        return _FILE if folder.path.exists() else "the folder does not exist."
    except OSError as error:
        return _unlooked(error)


def why_unread(folder: Folder) -> str | None:
    """Return why nothing of a folder can be read; None where something can, if it holds any."""
    try:
        if (why := why_missing(folder)) is None:
            with opened_folder(folder.path, ()) as descriptor, os.scandir(descriptor):
                pass
    except OSError as error:
        return _unlooked(error)
    return why


def paths_inside(folders: Sequence[Folder], paths: Sequence[str]) -> list[Path]:
    """Return paths below the configured folders; relative ones are tried in each folder.

    First of all one is a name such as files have in answers: "vault/a.md" lies in the folder that
    has this prefix. Raises PathOutsideSources for a path that leads out, by `..` or by a link, or
    is not there.
    """
    inside = []
    for text in paths:
        named = [_existing(one.path, rest) for one in folders if (rest := _below(one, text))]
        candidates = named + [_existing(folder.path, text) for folder in folders]
        found = next((path for path in candidates if path and _lies_in(path, folders)), None)
        if found is None:
            # One text for what is not there and what lies outside: nobody learns what is outside.
            advice = "look at its spelling, or add the folder it lies in to MEMORY_SOURCES."
            raise PathOutsideSources(f"{text!r} names nothing in a configured folder: {advice}")
        inside.append(found)
    return inside


def _is_of(path: Path, folder: Folder, folders: Sequence[Folder]) -> bool:
    """Say whether a folder answers for a path; what it passes over may be configured itself."""
    if not path.is_relative_to(folder.path):
        return False
    nearer = (f for f in folders if f != folder and f.path.is_relative_to(folder.path))
    return not _is_hidden(path.relative_to(folder.path)) or not _lies_in(path, [*nearer])


def _walk(
    folder: Path, start: Path, folders: Sequence[Folder]
) -> Iterator[tuple[Path, str | None]]:
    """Yield the notes below a place, and with the reason what is not to be read or looked into."""
    is_folder = start.is_dir()
    problem = _place_problem(start.relative_to(folder), is_folder=is_folder)
    if problem or not is_folder:
        yield start, problem
        return
    waiting = [start]
    while waiting:
        place = waiting.pop()
        if len(str(place.relative_to(folder))) > _MOST_CHARACTERS:
            yield place, _LONG_PROBLEM
            continue
        try:
            subfolders, notes = _listed(folder, place, folders)
        except OSError as error:
            if error.errno not in _GONE:
                yield place, _unlooked(error)
            continue
        yield from ((place / name, None) for name in notes)
        waiting += [place / name for name in reversed(subfolders)]


def _listed(folder: Path, place: Path, folders: Sequence[Folder]) -> tuple[list[str], list[str]]:
    """Return the names of the folders and of the notes in a place, in their order.

    A link to a folder outside of all is told among the notes; others have no notes of their own.
    """
    # Opened from `folder` down: what becomes a link meanwhile is not entered.
    names = place.relative_to(folder).parts
    with opened_folder(folder, names) as descriptor, os.scandir(descriptor) as entries:
        shown = sorted(
            (entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink())
            for entry in entries
            if not _is_passed_over(entry.name)
        )
    notes = [
        name for name, is_folder, is_link in shown
        if not is_folder and (
            Path(name).suffix.lower() in SUFFIXES
            or (is_link and _leads_outside(place / name, folders))
        )
    ]  # fmt: skip
    return [name for name, is_folder, _ in shown if is_folder], notes


def _leads_outside(link: Path, folders: Sequence[Folder]) -> bool:
    target = _existing(link, "")
    return target is not None and target.is_dir() and not _lies_in(target, folders)


def _unlooked(error: OSError) -> str:
    return f"cannot be looked into: {error.strerror}."


def _is_passed_over(name: str) -> bool:
    return name[0] == "." or name in _SKIPPED_FOLDERS


def _is_hidden(path: Path) -> bool:
    return any(map(_is_passed_over, path.parts))


def _place_problem(path: Path, *, is_folder: bool) -> str | None:
    """Return why what was asked for by name holds none of the notes, or is none."""
    if _is_hidden(path):
        return _HIDDEN_PROBLEM
    return None if is_folder or path.suffix.lower() in SUFFIXES else _SUFFIX_PROBLEM


def _name_problem(name: str, uri: str) -> str | None:
    if uri != name:
        return _NAME_PROBLEM
    if len(name) > _MOST_CHARACTERS:
        return _LONG_PROBLEM
    return _CONTROL_PROBLEM if has_control_characters(name) else None


def _link_problem(path: Path, folder: Path) -> str | None:
    try:
        if not path.is_symlink():
            return None
    except OSError:  # told when it is read
        return None
    target = _existing(folder, str(path))
    if target is None:
        return "a link that leads nowhere."
    if not target.is_relative_to(folder):
        return "a link that leads out of its folder; it is not followed."
    return None


def _below(folder: Folder, name: str) -> str | None:
    """Return a name without the prefix of a folder, "." for the folder; None for another's."""
    rest = f"{name}/".removeprefix(folder.prefix).rstrip("/")
    return (rest or ".") if folder.prefix and f"{name}/".startswith(folder.prefix) else None


def _existing(folder: Path, text: str) -> Path | None:
    """Return the real place of a path that exists, and None for one that cannot."""
    try:
        path = (folder / Path(text).expanduser()).resolve()
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long, a circle of links or ~nobody, a NUL
        return None


def _lies_in(path: Path, folders: Sequence[Folder]) -> bool:
    return any(path.is_relative_to(folder.path) for folder in folders)


def _stored_name(own: str, heads: Counter[str]) -> str | None:
    """Return the name, numbered or not, that most files of a folder are stored under."""
    return next((name for name, _ in heads.most_common() if _is_named(name, own)), None)


def _is_named(name: str, own: str) -> bool:
    number = name.removeprefix(f"{own}-")
    return name == own or (number != name and number.isdecimal())


def _free_name(own: str, first: Path, taken: Collection[str]) -> str:
    names = chain([own], (f"{own}-{number}" for number in count(2)))
    return next(name for name in names if name not in taken and not _existing(first, name))
