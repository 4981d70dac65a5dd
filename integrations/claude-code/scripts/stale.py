"""Whether files, commits and symbols that a text names are still there: marked, never left out.

Only here anybody can look. What cannot be looked at in a moment is not marked.
"""

import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

from place import run_git

CLOSE = "</graph-memory-context>"
MOST_NAMES = 30
MOST_SYMBOLS = 10
SECONDS = 0.5
EXTENSIONS = (
    "py|pyi|js|mjs|cjs|ts|tsx|jsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|md|toml|yaml|yml|json"
    "|sh|sql|surql|html|css|scss|txt|cfg|ini|ipynb|vue|svelte|proto|tf|gradle|lock"
)
PATH = re.compile(
    rf"(?<![\w/.:@~-])(/?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.(?:{EXTENSIONS}))(?![\w/-])"
)
COMMIT = re.compile(
    r"\b(?:commit|revision|sha|hash|merged?|revert(?:ed|s)?)\W{1,3}([0-9a-f]{7,40})\b",
    re.IGNORECASE,
)
SYMBOL = re.compile(r"`([A-Za-z_]\w{3,60})\(\)`|`([a-z]+_\w{2,60}|[A-Z][a-z]+[A-Z]\w{2,60})`")


def with_marks(text: str, root: str, room: int) -> str:
    """Return a text with a line on what of it is not there any more, at its end."""
    gone = [*gone_paths(text, root), *gone_commits(text, root), *gone_symbols(text, root)]
    if not gone:
        return text
    line = "Looked up just now, not found in this project any more: "
    for number, name in enumerate(gone):
        told = ("" if number == 0 else ", ") + name
        if len(line) + len(told) > room - 3:
            break
        line += told
    head, mark, tail = text.rpartition(CLOSE)
    return f"{head}{line}\n{mark}{tail}" if mark else f"{text}\n{line}"


def gone_paths(text: str, root: str) -> list[str]:
    """Return the files that are named and not there, of the tree or anywhere in it."""
    named = unique(PATH.findall(text))
    missing = [path for path in named if not os.path.exists(os.path.join(root, path))]
    if not missing:
        return []
    tracked = run_git(
        root, "ls-files", "--cached", "--others", "--exclude-standard", seconds=SECONDS
    )
    if tracked is None:
        # No repository: what is named by its folders can be said, a bare name cannot.
        return [f"`{path}`" for path in missing if "/" in path and Path(root).is_dir()]
    files = set(tracked.splitlines())
    names = {file.rpartition("/")[2] for file in files}
    # Memories name a file in short: one that ends so is meant.
    return [
        f"`{path}`"
        for path in missing
        if path.rpartition("/")[2] not in names
        or ("/" in path and not any(f"/{file}".endswith(f"/{path.lstrip('/')}") for file in files))
    ]


def gone_commits(text: str, root: str) -> list[str]:
    """Return the commits that are named and unknown to the repository."""
    named = unique(COMMIT.findall(text))
    if not named:
        return []
    told = run_git(
        root, "cat-file", "--batch-check", given="\n".join(named) + "\n", seconds=SECONDS
    )
    lines = told.splitlines() if told else []
    if len(lines) != len(named):
        return []
    return [
        f"commit {name}"
        for name, line in zip(named, lines, strict=True)
        if line.endswith(" missing")
    ]


def gone_symbols(text: str, root: str) -> list[str]:
    """Return the functions and classes that are named as code and stand in no file."""
    named = unique(one or other for one, other in SYMBOL.findall(text))[:MOST_SYMBOLS]
    end, gone = time.monotonic() + SECONDS, []
    for name in named:
        left = end - time.monotonic()
        words = ("grep", "--untracked", "-lwF", "-e", name)
        if left > 0 and run_git(root, *words, seconds=left) == "":
            gone.append(f"`{name}`")
    return gone


def unique(names: Iterable[str]) -> list[str]:
    """Return names once each, in their order, as many as there is time for."""
    return list(dict.fromkeys(names))[:MOST_NAMES]
