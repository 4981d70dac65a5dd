"""The words of a passage, to compare passages and to look for cue words."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from service.consolidate.summary.passages import Passage
from service.text.cjk import WIDE

_RUN: Final = re.compile(rf"[{WIDE}]+|[^{WIDE}]+")
_CJK_LETTER: Final = re.compile(f"[{WIDE}]")
# Stripped from words. Kept are the question mark and < and >: a question is no answer, <5 not >5.
_MARKS: Final = "*_`~'\"()[]{}.,;:!|…“”‘’「」『』《》。，！、：；"
# Left out of comparisons. Prepositions are not: from A to B is not from B to A.
_STOP_WORDS: Final = frozenset(("a", "also", "an", "i", "it", "just", "that", "the", "this", "we"))
_NEGATIONS: Final = frozenset(("not", "no", "never", "without", "cannot", "nor"))
_NEGATING_SUFFIXES: Final = ("n't", "n’t")
_CJK_NEGATIONS: Final = frozenset("不没沒无無未안못")


def words_of(passage: Passage) -> tuple[str, ...]:
    """Return the folded words in their order, without marks around them and without stop words.

    Korean, Chinese and Japanese come as pairs of letters. Code is one word: its text.
    """
    text = passage.text
    if passage.is_code:
        return (text,)
    if text.isascii():
        stripped = [chunk.strip(_MARKS) for chunk in text.lower().split()]
    else:
        stripped = list(_cjk_words(unicodedata.normalize("NFKC", text).casefold()))
    return tuple([word for word in stripped if word and word not in _STOP_WORDS])


def _cjk_words(text: str) -> Iterator[str]:
    for chunk in text.split():
        for run in _RUN.findall(chunk):
            if len(run) > 1 and is_cjk_word(run):
                yield from map("".join, pairwise(run))
            else:
                yield run.strip(_MARKS)


def is_cjk_word(word: str) -> bool:
    """Say whether a word that `words_of` gave is Korean, Chinese or Japanese."""
    return not word.isascii() and _CJK_LETTER.match(word) is not None


def negates(word: str) -> bool:
    """Say whether a word is a negation, ends in one (don't), or in CJK holds one (未完)."""
    if word.isascii():
        return word in _NEGATIONS or word.endswith(_NEGATING_SUFFIXES)
    return word.endswith(_NEGATING_SUFFIXES) or not _CJK_NEGATIONS.isdisjoint(word)
