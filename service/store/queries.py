"""Named queries: each .surql file is one query, its header the contract.

The first comment lines say what it is; `-- takes:` lists its bound variables, `-- gives:` the
fields of a row, and `-- writes` marks one that changes the store. `-- whole:` lists those of its
variables whose rows stand in the store afterwards as they are given. A line
`-- with: store/filters` stands for the text of service/store/filters.surql: what several queries
must say in the same words. `-- with: fields/…` stands for what the table of fields says
(service/metadata.py), as GENERATED has it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

from service.metadata import FIELDS, LABEL_FILTERS, LabelFilter

# Between these no field of a row is looked at, no event asked and no feed told.
_AS_GIVEN: Final = re.compile(r"^OPTION IMPORT = (?:TRUE|FALSE);\n", re.MULTILINE)
_SHARED: Final = re.compile(r"^-- with: ([\w/]+)$", re.MULTILINE)
_VARIABLE: Final = re.compile(r"\$(\w+)")
# Variables that SurrealDB sets itself.
_ENGINES_OWN: Final = frozenset({"input", "this"})


def _condition(name: str, told: LabelFilter) -> str:
    variable = f"${told.parameter}"
    passes = f"{name} IN {variable}" if told.many else f"{name} = {variable}"
    return f"AND {passes}" if told.default else f"AND ({variable} IS NONE OR {passes})"


GENERATED: Final[Mapping[str, str]] = {
    # A value that passes every filter by exact values.
    "fields/label_filters": "\n".join(_condition(*item) for item in LABEL_FILTERS.items()),
    # What an index in RAM holds as codes, in the order of LABEL_FILTERS.
    "fields/labels": ", ".join(LABEL_FILTERS),
    # An update of a row by one that is inserted.
    "fields/assignments": ", ".join(f"{name} = $input.{name}" for name in FIELDS),
}


@dataclass(frozen=True, slots=True)
class Query:
    """One query file: its name, its text, the variables it takes and whether it writes.

    `whole` are variables whose rows need not be read again to know what is stored.
    """

    name: str
    text: str
    takes: frozenset[str]
    writes: bool
    whole: frozenset[str] = frozenset()


def load_query(package: str | None, name: str) -> Query:
    """Read `name`.surql beside the modules of `package`; a missing file fails at import."""
    own = _read(files(package or "service"), name)
    shared = [_whole(part) for part in _SHARED.findall(own)]
    takes = _VARIABLE.findall(" ".join([_header(own, "takes"), *shared]))
    writes = re.search(r"^-- writes$", own, re.MULTILINE) is not None
    whole = frozenset(_VARIABLE.findall(_header(own, "whole")))
    return Query(name, _with_shared(own), frozenset(takes) - _ENGINES_OWN, writes, whole)


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a transaction: a writing query, and exactly the values that it takes."""

    query: Query
    params: Mapping[str, Any]


def transaction(name: str, fragments: Sequence[Fragment]) -> tuple[Query, dict[str, Any]]:
    """Return one query that carries out all fragments in their order, or none, and its values.

    Raises TypeError for a fragment that lacks a value or has one too many, and for a variable to
    which two of them give different values.
    """
    params: dict[str, Any] = {}
    for fragment in fragments:
        check_params(fragment.query, fragment.params)
        for variable, value in fragment.params.items():
            if params.setdefault(variable, value) is not value:
                msg = f"two fragments of {name} give ${variable} different values"
                raise TypeError(msg)
    text = "\n".join(["BEGIN;", *(fragment.query.text for fragment in fragments), "COMMIT;"])
    whole = frozenset().union(*(fragment.query.whole for fragment in fragments))
    return Query(name, text, frozenset(params), writes=True, whole=whole), params


def narrowed(query: Query, filters: Mapping[str, Any]) -> tuple[Query, dict[str, Any]]:
    """Return a query without the lines of the filters that are None, and the others' values.

    The engine passes over rows without decoding them where conditions are plain comparisons;
    behind `$filter IS NONE OR …` it decodes them all.
    """
    left_out = {name for name, value in filters.items() if value is None}
    lines = [
        line for line in query.text.splitlines() if left_out.isdisjoint(_VARIABLE.findall(line))
    ]
    given = {name: value for name, value in filters.items() if value is not None}
    return replace(query, text="\n".join(lines), takes=query.takes - left_out), given


def checked(text: str) -> str:
    """Return a query that looks at every field that it writes, and tells the store's feed."""
    return _AS_GIVEN.sub("", text)


def check_params(query: Query, params: Mapping[str, Any]) -> None:
    """Raise TypeError unless a query is given exactly what it takes."""
    if params.keys() != query.takes:
        msg = f"query {query.name} takes {sorted(query.takes)}, got {sorted(params)}"
        raise TypeError(msg)


def _whole(part: str) -> str:
    return _with_shared(_read(files("service"), part))


def _with_shared(text: str) -> str:
    return _SHARED.sub(lambda match: _whole(match[1]), text)


def _read(folder: Traversable, name: str) -> str:
    if name in GENERATED:
        return GENERATED[name]
    return folder.joinpath(f"{name}.surql").read_text(encoding="utf-8")


def _header(text: str, key: str) -> str:
    """Return the header line `-- key: …` without its key; empty if there is none."""
    found = re.search(rf"^-- {key}: (.*)$", text, re.MULTILINE)
    return found[1] if found else ""
