"""Names of documents as whoever pushes or asks for one writes them; pure."""

import re
from contextlib import suppress
from typing import Final

_DRIVE: Final = re.compile(r"[A-Za-z]:")


def has_control_characters(name: str) -> bool:
    """Say whether a name holds what no source's name may: line breaks, escapes and their like."""
    return any(ord(character) < 32 for character in name)


def relative_name(source: str) -> str:
    """Return the name of a document that is called so: without `.`, separators as slashes.

    Raises ValueError for names that look like a way out of a folder.
    """
    path = source.replace("\\", "/")
    parts = path.split("/")
    if ".." in parts or path.startswith(("/", "~")) or _DRIVE.match(path):
        msg = "must be a relative path without `..`, for example memory/2026-02-13.md"
        raise ValueError(msg)
    if has_control_characters(source):
        msg = "holds a control character; send a plain path"
        raise ValueError(msg)
    name = "/".join(part for part in parts if part not in {"", "."})
    if not name:
        msg = "names no file; send a relative path, for example memory/2026-02-13.md"
        raise ValueError(msg)
    return name


def names_of(path: str) -> list[str]:
    """Return the names that a path may mean: as it is, and as /ingest would call it."""
    with suppress(ValueError):
        return list(dict.fromkeys([path, relative_name(path)]))
    return [path]
