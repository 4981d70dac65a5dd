"""Named queries: each .surql file is one query, its header the contract.

The first comment lines say what it is; `-- takes:` lists its bound variables, `-- gives:` the
fields of a row, and `-- writes` marks one that changes the store. A line `-- with: filters`
stands for the conditions in filters.surql, so that every query filters by the same words.
"""

import re
from dataclasses import dataclass
from importlib.resources import files

from service.records import Filters

_FILTERS = "-- with: filters"
_FILTER_PARAMS = frozenset(Filters().params())


@dataclass(frozen=True, slots=True)
class Query:
    """One query file: its name, its text, the variables it takes and whether it writes."""

    name: str
    text: str
    takes: frozenset[str]
    writes: bool


def load_query(package: str | None, name: str) -> Query:
    """Read `name`.surql beside the modules of `package`; a missing file fails at import."""
    folder = files(package or "service")
    text = folder.joinpath(f"{name}.surql").read_text(encoding="utf-8")
    takes = set(re.findall(r"\$(\w+)", _header(text, "takes")))
    if _FILTERS in text:
        conditions = files("service").joinpath("filters.surql").read_text(encoding="utf-8")
        text = text.replace(_FILTERS, conditions)
        takes |= _FILTER_PARAMS
    writes = re.search(r"^-- writes$", text, re.MULTILINE) is not None
    return Query(name, text, frozenset(takes), writes)


def _header(text: str, key: str) -> str:
    """Return the header line `-- key: …` without its key; empty if there is none."""
    found = re.search(rf"^-- {key}: (.*)$", text, re.MULTILINE)
    return found[1] if found else ""
