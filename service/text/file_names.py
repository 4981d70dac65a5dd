"""Which file a text names: by its path, as far as a text tells it; pure."""

import re
from pathlib import PurePosixPath
from typing import Final

# Letters of other scripts end a path: some of them stand behind a word without a space.
_PATH: Final = re.compile(r"[A-Za-z0-9_.@~+$/\\-]+")
_NAME: Final = re.compile(r"[A-Za-z0-9_.@~+$-]+")
# Git writes the two sides of a diff as folders that nobody has; elsewhere a/ and b/ may be some.
_SIDE: Final = re.compile(r"(?:(?<=--- )|(?<=diff --git ))a/|(?<=\+\+\+ )b/")
_FROM_A_ROOT: Final = tuple("/~$@")
_NO_FOLDER: Final = frozenset({"", ".", ".."})


def names_file(text: str, path: PurePosixPath) -> bool:
    """Return whether a text names a file, and not its namesake in another folder.

    A path from a root may be that of another checkout: only the last folder of it has to be right.
    """
    if not _NAME.fullmatch(path.name):
        return path.name in text
    found = (one.rstrip(".").replace("\\", "/") for one in _PATH.findall(_SIDE.sub("", text)))
    return any(path.name in told and _is_end(told, path) for told in found)


def _is_end(told: str, path: PurePosixPath) -> bool:
    parts = [part for part in told.split("/") if part not in _NO_FOLDER] or [""]
    if told.startswith(_FROM_A_ROOT):
        parts = parts[-2:]
    return _ends(path, parts) or _ends(path, _below_root(parts))


def _below_root(parts: list[str]) -> list[str]:
    """Leave out what stands for a folder that only the writer knows, and the @ of a mention."""
    first, rest = parts[0], parts[1:]
    if rest and (first == "@" or first.startswith(("~", "$"))):
        return rest
    return [first.removeprefix("@"), *rest]


def _ends(path: PurePosixPath, parts: list[str]) -> bool:
    pairs = zip(reversed(parts), reversed(path.parts), strict=False)
    return all(one == other for one, other in pairs)
