"""Named queries: each .surql file is one query, its header the contract.

The first comment lines say what it is; `-- takes:` lists its bound variables, `-- gives:` the
fields of a row, and `-- writes` marks one that changes the store. A line
`-- with: store/filters` stands for the text of service/store/filters.surql: what several queries
must say in the same words.
"""

import re
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

_SHARED: Final = re.compile(r"^-- with: ([\w/]+)$", re.MULTILINE)
_VARIABLE: Final = re.compile(r"\$(\w+)")


@dataclass(frozen=True, slots=True)
class Query:
    """One query file: its name, its text, the variables it takes and whether it writes."""

    name: str
    text: str
    takes: frozenset[str]
    writes: bool


def load_query(package: str | None, name: str) -> Query:
    """Read `name`.surql beside the modules of `package`; a missing file fails at import."""
    text = _read(files(package or "service"), name)
    shared = {part: _read(files("service"), part) for part in _SHARED.findall(text)}
    takes = _VARIABLE.findall(" ".join([_header(text, "takes"), *shared.values()]))
    text = _SHARED.sub(lambda match: shared[match[1]], text)
    writes = re.search(r"^-- writes$", text, re.MULTILINE) is not None
    return Query(name, text, frozenset(takes), writes)


def _read(folder: Traversable, name: str) -> str:
    return folder.joinpath(f"{name}.surql").read_text(encoding="utf-8")


def _header(text: str, key: str) -> str:
    """Return the header line `-- key: …` without its key; empty if there is none."""
    found = re.search(rf"^-- {key}: (.*)$", text, re.MULTILINE)
    return found[1] if found else ""
