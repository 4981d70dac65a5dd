"""Secrets of which several stand behind one name, or one on several lines.

Each line or element is a secret of its own: so lines stay where they are.
"""

# ruff: noqa: E501 - rows of a table

import re
from typing import Final

from service.late_pattern import LatePattern
from service.sanitise.secret_rules import KEY_NAMES, PASSWORDS, Rule

_NAME_ENDS: Final = r"""(?:\\{0,7}["'`]|[*_]){0,3}[ \t]{0,4}"""
_ELEMENT: Final = r"""\\{0,7}(?:"[^"\n]{1,500}"|'[^'\n]{1,500}')"""
_LINE_END: Final = r"[ \t]{0,8}\r?\n"
# `["...", "..."]`, also over lines, and `A,B` as files of variables have them.
_IN_BRACKETS: Final = rf"(?::|=|:=|=>){{1,2}}\s{{0,40}}[\[(]\s{{0,40}}{_ELEMENT}(?:\s{{0,40}},\s{{0,40}}{_ELEMENT}){{0,200}}"
_WITH_COMMAS: Final = (
    r"""[=:][ \t]{0,4}["']?[^\s"'`,;<>(){}|\[\]]{6,500}(?:,[^\s"'`,;<>(){}|\[\]]{6,500}){1,200}"""
)
# YAML: a line for each, and a text that goes on.
_WITH_DASHES: Final = rf""":{_LINE_END}[ \t]{{0,24}}-[ \t]{{1,4}}["']?[^\s"']{{6,500}}["']?(?:{_LINE_END}[ \t]{{0,24}}-[ \t]{{1,4}}["']?[^\s"']{{6,500}}["']?){{0,200}}(?=[ \t]{{0,8}}(?:[\r\n]|\Z))"""
_FOLDED: Final = rf""":[ \t]{{0,4}}[|>][0-9+-]{{0,2}}{_LINE_END}[ \t]{{1,24}}[^\s"'`]{{6,500}}(?:{_LINE_END}[ \t]{{1,24}}[^\s"'`]{{6,500}}){{0,200}}(?=[ \t]{{0,8}}(?:[\r\n]|\Z))"""
_SEVERAL: Final = rf"{_NAME_ENDS}(?:{_IN_BRACKETS}|{_WITH_COMMAS}|{_WITH_DASHES}|{_FOLDED})"
_BEGINS: Final = re.compile(r"""(?<=[\s"'`,=:])[^\s"'`,=:\\]""")
_VALUE: Final = LatePattern(
    r"""(?P<secret>[^\s"'`,;<>(){}|\[\]\\]{6,500}+)(?=\\{0,7}["'`,\s]|\Z)"""
)
# A JSON Web Token that was cut in lines: by a mail, or by the edge of a terminal.
_CUT: Final = r"(?:\\?\r?\n[ \t>|+]{0,12})"
_LETTERS: Final = r"[A-Za-z0-9_-]"
# By how long they are; behind a part of one the rest is mixed, and alone on its line.
_WHOLE_SIGNATURE: Final = (
    rf"(?:{'|'.join(f'{_LETTERS}{{{size}}}' for size in (43, 64, 86, 128, 342))})(?!{_LETTERS})"
)
_MIXED: Final = "".join(rf"(?={_LETTERS}{{0,2000}}{one})" for one in ("[A-Z]", "[a-z]", "[0-9]"))
_CUT_JWT: Final = LatePattern(
    rf"(?<![A-Za-z0-9_-])eyJ{_LETTERS}{{8,2000}}(?:{_CUT}{_LETTERS}{{4,2000}}){{0,3}}{_CUT}?\.{_CUT}?eyJ{_LETTERS}{{4,2000}}"
    rf"(?:{_CUT}{_LETTERS}{{4,2000}}){{0,60}}{_CUT}?\.{_CUT}?"
    rf"(?:{_WHOLE_SIGNATURE}|{_LETTERS}{{8,2000}}(?:{_CUT}{_MIXED}{_LETTERS}{{8,2000}}(?=[ \t\"']{{0,8}}(?:[\r\n\\]|\Z))){{0,20}})"
)

# Asked first: of a token that was cut the rule for whole ones takes a part.
CUT: Final[tuple[Rule, ...]] = (
    Rule(
        "jwt", ("eyj",), LatePattern(r"(?P<secret>[A-Za-z0-9._-]{8,4000})"), "prefix", _CUT_JWT,
        re.compile(r"(?<![A-Za-z0-9._-])[A-Za-z0-9._-]"),
    ),
)  # fmt: skip
SEVERAL: Final[tuple[Rule, ...]] = (
    Rule(
        "secret", ("keys", "secrets", "tokens", "credentials", "creds", ": |", ": >"), _VALUE, "key",
        LatePattern(rf"(?i:(?:{KEY_NAMES})s?){_SEVERAL}"), _BEGINS,
    ),
    Rule(
        "password", PASSWORDS, _VALUE, "chosen",
        LatePattern(rf"(?i:(?:{'|'.join(PASSWORDS)})s?){_SEVERAL}"), _BEGINS,
    ),
)  # fmt: skip
