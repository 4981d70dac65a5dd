"""Tables of markdown, in which the head of a column or the cell to the left names a secret."""

import re
from itertools import pairwise
from typing import Final, NamedTuple

from service.sanitise.secret_rules import (
    KEY_NAMES,
    KEY_NAMES_ABROAD,
    KEY_WORDS_ABROAD,
    PASSWORDS,
    PASSWORDS_OF_CJK,
    PASSWORDS_OF_EUROPE,
)

_PASSWORDS: Final = (*PASSWORDS, *PASSWORDS_OF_EUROPE, *PASSWORDS_OF_CJK)
COLUMN_WORDS: Final = (
    *_PASSWORDS, "token", "secret", "key", "credential", *KEY_WORDS_ABROAD,
)  # fmt: skip
# The name stands last: a password's length, hash or policy is none.
_NAME: Final = re.compile(
    rf"(?i:(?:[\w ./-]{{0,40}}[\W_])?(?:(?P<password>{'|'.join(_PASSWORDS)})"
    rf"|{KEY_NAMES}|{KEY_NAMES_ABROAD})s?(?:[ ]?\([^()]{{0,40}}\))?)"
)
# Of nothing else is the line made that stands between a table's head and its rows.
_RULE_MARKS: Final = frozenset("|-: \t>\r")
_BORDER: Final = re.compile(r"(?<!\\)\|")
# A value with the marks of markdown around it; blanks in it make it prose.
_VALUE: Final = re.compile(r"[ \t]{0,200}[*_`~\"']{0,4}([^\s`]{8,500}?)[*_`~\"']{0,4}[ \t]{0,200}")
_VERSION: Final = re.compile(r"[^\d\s]{0,8}\d{1,6}(?:[.:,]\d{1,6}){1,6}\S{0,20}")


class Cell(NamedTuple):
    """Where a value stands that may be a secret, of which kind, and the proof that it needs."""

    kind: str
    proof: str
    start: int
    end: int


def cells_of_secrets(text: str) -> list[Cell]:
    """Return the cells below or right of a secret's name, in order; a cell of prose is none."""
    found: list[Cell] = []
    at = 0
    columns: dict[int, str] | None = None
    above: list[tuple[int, int]] = []
    for line in text.split("\n"):
        cells = _cells_of(line, at) if "|" in line else []
        if not cells:
            columns = None
        elif columns is None and above and "-" in line and _RULE_MARKS.issuperset(line):
            columns = _kinds_of(text, above)
        elif columns is not None:
            found += _found_in(text, cells, columns)
        above = cells
        at += len(line) + 1
    return found


def _cells_of(line: str, at: int) -> list[tuple[int, int]]:
    """Return where the cells of a line stand in the text, without the borders outside."""
    borders = [found.start() for found in _BORDER.finditer(line)]
    edges = [-1, *borders, len(line)]
    cells = [(at + one + 1, at + two) for one, two in pairwise(edges)]
    is_bordered = bool(borders) and not line[: borders[0]].strip(" \t>")
    return cells[1:] if is_bordered else cells


def _kinds_of(text: str, cells: list[tuple[int, int]]) -> dict[int, str]:
    """Return the kinds of secrets that cells name, by their places."""
    kinds = {}
    for number, (start, end) in enumerate(cells):
        name = _NAME.fullmatch(text[start:end].strip(" \t\r*_`")) if end - start < 200 else None
        if name:
            kinds[number] = "password" if name["password"] else "secret"
    return kinds


def _found_in(text: str, cells: list[tuple[int, int]], columns: dict[int, str]) -> list[Cell]:
    beside = {number + 1: kind for number, kind in _kinds_of(text, cells).items()}
    found = []
    for number, (start, end) in enumerate(cells):
        kind = columns.get(number) or beside.get(number)
        value = _VALUE.fullmatch(text[start:end].rstrip("\r")) if kind else None
        if kind and value and not (kind == "password" and _VERSION.fullmatch(value[1])):
            proof = "chosen" if kind == "password" else "key"
            found.append(Cell(kind, proof, start + value.start(1), start + value.end(1)))
    return found
