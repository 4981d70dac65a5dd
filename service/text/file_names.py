"""Which file a text names: by its path, as far as a text tells it; pure."""

import re
from pathlib import PurePosixPath
from typing import Final

# Letters of other scripts end a path: some of them stand behind a word without a space.
_PATH: Final = re.compile(r"[A-Za-z0-9_.@~+$/\\-]+")
_NAME: Final = re.compile(r"[A-Za-z0-9_.@~+$-]+")
_FROM_A_ROOT: Final = tuple("/~$@")
_NO_FOLDER: Final = frozenset({"", ".", ".."})


def names_file(text: str, path: PurePosixPath) -> bool:
    """Return whether a text names a file, and not its namesake in another folder.

    A path from a root may be that of another checkout: only the last folder of it has to be right.
    """
    if not _NAME.fullmatch(path.name):
        return path.name in text
    found = (one.rstrip(".").replace("\\", "/") for one in _PATH.findall(text))
    return any(path.name in told and _is_end(told, path) for told in found)


def _is_end(told: str, path: PurePosixPath) -> bool:
    parts = [part for part in told.split("/") if part not in _NO_FOLDER]
    if told.startswith(_FROM_A_ROOT):
        parts = parts[-2:]
    pairs = zip(reversed(parts), reversed(path.parts), strict=False)
    return all(one == other for one, other in pairs)
