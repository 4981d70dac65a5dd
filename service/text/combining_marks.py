"""Marks that stand on letters: parts of words in Hindi and Thai, left out or not in Arabic.

For Python's expressions they are no part of a word: a vowel sign would end the one it stands in.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain, groupby
from typing import Final

# The scripts that write vowels as marks lie there: Hebrew and Arabic, those of India and of
# South-East Asia, Ethiopic, N'Ko and Adlam. Accents of Latin letters are folded, see words.fold.
_BLOCKS: Final = (
    range(0x483, 0x1AB0),
    range(0x1B00, 0x1D00),
    range(0xA66F, 0xAC00),
    range(0xFB1E, 0xFB1F),
    range(0x11000, 0x11F00),
    range(0x1E8D0, 0x1E950),
)
_MARKS: Final = frozenset({"Mn", "Mc"})


def _ranges() -> Iterator[str]:
    marks = (
        code for code in chain.from_iterable(_BLOCKS) if unicodedata.category(chr(code)) in _MARKS
    )
    for _, run in groupby(enumerate(marks), lambda placed: placed[1] - placed[0]):
        codes = [code for _, code in run]
        yield f"{chr(codes[0])}-{chr(codes[-1])}"


# Inside the brackets of a regular expression.
COMBINING: Final = "".join(_ranges())
# Accents, points of Hebrew and vowels of Arabic, which most writers leave out, with the stroke that
# lengthens an Arabic line. Not those that tell letters apart: the madda and the hamza.
_OPTIONAL: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\ufb1e"
    "\u0610-\u061a\u0640\u064b-\u0652\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]"
)
# What tells how letters join and is no letter: the soft hyphen, and joiners behind a mark. A
# non-joiner between letters parts words of Persian that others write with a blank.
_JOINERS: Final = re.compile(f"\u00ad|(?<=[{COMBINING}])[\u200c\u200d]")


def without_optional(decomposed: str) -> str:
    """Leave out of a text in Unicode's form NFD what writers may leave out of words."""
    return _OPTIONAL.sub("", _JOINERS.sub("", decomposed))


def run_of(letter: str) -> str:
    """Return a pattern for a run of letters, each with its marks; `letter` is a class of them."""
    # Possessive: what is taken is never given back, so that no text is read twice.
    return f"{letter}++(?:[{COMBINING}]++{letter}*+)*+"
