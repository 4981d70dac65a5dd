"""Abbreviations that a text explains: "Retrieval-Augmented Generation (RAG)", and the reverse.

After A. S. Schwartz and M. A. Hearst, "A simple algorithm for identifying abbreviation definitions
in biomedical text", PSB 2003, with a stricter test: each word must begin with a letter.
"""

import re
from collections.abc import Sequence
from typing import Final

from service.names.names import Name, declared_name
from service.names.slugs import key_of
from service.text.words import STOP_WORDS, fold

# The kind of a long name.
ABBREVIATED: Final = "abbreviated"
_BRACKET: Final = re.compile(r"\(([^()\n]{2,120})\)")
_SHORT: Final = re.compile(r"[A-Z][A-Z0-9][A-Za-z0-9]{0,8}")
# Behind the short form may stand more: "(RAG; Lewis et al.)".
_FIRST_PART: Final = re.compile(r"[^,;]*")
_SENTENCE_END: Final = re.compile(r"[.!?:;]\s|[\n()|\"“”]")
_WORD: Final = re.compile(r"\w+")
_LAST_WORD: Final = re.compile(r"(?<!\w)(\w++)[\"”*_`]*+\s*+$")
_FEWEST_WORDS: Final = 2
_MOST_CHARACTERS: Final = 160


def abbreviations(text: str) -> dict[str, Name]:
    """Return the long name that the text gives for each of its abbreviations, by their keys.

    An abbreviation begins with two capitals and has one long name at a time: the text's first.
    """
    expansions: dict[str, Name] = {}
    if "(" not in text:
        return expansions
    text = fold(text)
    for bracket in _BRACKET.finditer(text):
        before = text[max(0, bracket.start() - _MOST_CHARACTERS) : bracket.start()]
        before = _SENTENCE_END.split(before)[-1]
        inside = _FIRST_PART.match(bracket[1])
        if inside and _is_short(inside[0].strip()):
            short, long = inside[0].strip(), _expansion(inside[0].strip(), before)
        else:
            word = _LAST_WORD.search(before)
            short = word[1] if word and _is_short(word[1]) else ""
            long = bracket[1] if short and _expansion(short, bracket[1]) == bracket[1] else ""
        name = declared_name(long, ABBREVIATED)
        if name is not None:
            expansions.setdefault(key_of([short]), name)
    return expansions


def _is_short(word: str) -> bool:
    return bool(_SHORT.fullmatch(word)) and key_of([word]) not in STOP_WORDS


def _expansion(short: str, text: str) -> str:
    """Return the end of `text` that `short` abbreviates, or nothing.

    Every word begins with a letter, in order, but for those such as "of"; where no words do so
    with all letters, some may follow inside a word (HTTP: the T of Hypertext).
    """
    letters = key_of([short])
    words = list(_WORD.finditer(text))
    # As many words at most as in the paper.
    counts = range(_FEWEST_WORDS, min(len(words), len(letters) + 5, 2 * len(letters)) + 1)
    for spells in (_are_initials, _are_inside):
        for count in counts:
            chosen = [word[0].casefold() for word in words[-count:]]
            if spells(letters, chosen):
                return text[words[-count].start() : words[-1].end()]
    return ""


def _are_initials(letters: str, words: Sequence[str]) -> bool:
    content = _content_words(words)
    return bool(content) and letters in (_initials(words), _initials(content))


def _initials(words: Sequence[str]) -> str:
    return "".join(word[0] for word in words)


def _are_inside(letters: str, words: Sequence[str]) -> bool:
    content = _content_words(words)
    return len(content) >= _FEWEST_WORDS and _are_inside_in_order(letters, content)


def _content_words(words: Sequence[str]) -> Sequence[str]:
    """Leave out stop words such as "of"; none are left if the first or last word is one."""
    if words[0] in STOP_WORDS or words[-1] in STOP_WORDS:
        return ()
    return [word for word in words if word not in STOP_WORDS]


def _are_inside_in_order(letters: str, words: Sequence[str]) -> bool:
    """Say whether each word begins with the next letter and may hold some that follow it."""
    if not words or len(letters) < len(words):
        return not words and not letters
    at = 0
    for taken, letter in enumerate(letters[: len(letters) - len(words) + 1], 1):
        at = words[0].find(letter, at) + 1
        if not at or (taken == 1 and at > 1):
            return False
        if _are_inside_in_order(letters[taken:], words[1:]):
            return True
    return False
