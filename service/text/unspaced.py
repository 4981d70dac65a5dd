"""Scripts that write words without blanks between them: what the index cuts into pairs of letters.

A letter of Thai, Lao, Burmese or Khmer is one with the marks on it: กิน gives กิ and น, one pair.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from service.text.cjk import CJK_INDEXED, CJK_LETTERS, HANGUL
from service.text.combining_marks import COMBINING

# Inside the brackets of a regular expression, without digits and marks of punctuation.
SOUTH_EAST_ASIAN: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e"
    "\u0e81-\u0ecd\u0edc-\u0edf"
    "\u1000-\u103f\u1050-\u109d\ua9e0-\ua9fe\uaa60-\uaa7f"
    "\u1780-\u17d3\u17d7\u17dc\u17dd"
)
UNSPACED: Final = CJK_INDEXED + SOUTH_EAST_ASIAN
# Where a text goes from one to the other, a word ends.
UNSPACED_RUN: Final = f"[{CJK_INDEXED}]+|[{SOUTH_EAST_ASIAN}]+"
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_LETTER: Final = re.compile(f".[{COMBINING}]*", re.DOTALL)
# What is shorter is a part of too many words: one letter of Han, and กา stands in การ.
_NAME_IN_RUN: Final = re.compile(f"(?![{HANGUL}])[{CJK_LETTERS}]{{2,}}|[{SOUTH_EAST_ASIAN}]{{4,}}")


def is_unspaced(token: str) -> bool:
    """Say whether a token is a run of one of these scripts."""
    return not token.isascii() and _UNSPACED.match(token) is not None


def stands_in_runs(name: str) -> bool:
    """Say whether a name of one word is looked for within runs: not in Korean, which has blanks."""
    return not name.isascii() and _NAME_IN_RUN.fullmatch(name) is not None


def pairs(run: str) -> Iterator[str]:
    """Yield each letter with the next one, in their order; a letter alone as it is."""
    letters = _LETTER.findall(run)
    if len(letters) == 1:
        yield run
    for first, second in pairwise(letters):
        yield first + second
