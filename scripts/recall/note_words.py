"""The words of notes in English and Korean, and what they are under endings and particles."""

import re
from collections import defaultdict
from collections.abc import Iterable
from random import Random
from typing import Final

from Stemmer import Stemmer

from service.text.cjk import HANGUL, stems

_WORD: Final = re.compile(f"[a-z][a-z0-9_]{{2,}}|[{HANGUL}]{{2,}}")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s|\n")
# Behind a last letter with a final consonant, and behind one without; "" is the bare word.
_PARTICLES: Final = {
    True: ("", "은", "을", "의", "에서", "도"),
    False: ("", "는", "를", "의", "에서", "도"),
}
# A verb's stem takes one particle (사용하는), a noun many.
_FEWEST_FORMS: Final = 2
_FIRST_SYLLABLE, _FINALS = 0xAC00, 28


def words_of(text: str) -> list[str]:
    """Return words of three letters or more, in Korean of two, in lower case and in order."""
    return _WORD.findall(text.lower())


def sentences_of(text: str) -> list[str]:
    """Cut where a sentence or a line ends."""
    return _SENTENCE.split(text)


class Roots:
    """What words of a collection are forms of: English stems, Korean nouns.

    A Korean noun is seen bare, and with particles in two forms or more.
    """

    def __init__(self, words: Iterable[str]) -> None:
        seen = set(words)
        forms: dict[str, set[str]] = defaultdict(set)
        for word in seen:
            for stem in stems(word):
                forms[stem].add(word)
        self._nouns = {
            stem for stem, own in forms.items()
            if stem in seen and len(own) >= _FEWEST_FORMS and not _is_particle(stem)
        }  # fmt: skip
        self._english = Stemmer("english")

    def of(self, word: str) -> str:
        """Return the stem of an English word, the shortest noun of a Korean one, or the word."""
        if word.isascii():
            return str(self._english.stemWord(word))
        candidates = [one for one in (word, *stems(word)) if one in self._nouns]
        return min(candidates, key=len, default=word)

    def by_root(self, text: str) -> dict[str, str]:
        """Return the words of a text by their roots, in order; a root's first word stands."""
        found: dict[str, str] = {}
        for word in words_of(text):
            found.setdefault(self.of(word), word)
        return found

    def other_form(self, word: str, chance: Random) -> str:
        """Return a Korean noun with another particle than it has here; other words as they are."""
        root = self.of(word)
        if root not in self._nouns:
            return word
        has_final = (ord(root[-1]) - _FIRST_SYLLABLE) % _FINALS > 0
        return chance.choice([root + one for one in _PARTICLES[has_final] if root + one != word])


def _is_particle(word: str) -> bool:
    """Say whether a word is nothing but particles, as 에서 is behind a Latin word."""
    return "가나" in stems(f"가나{word}")
