"""Words to the numbers that stand for their stems."""

import threading
from typing import Final

import Stemmer

from service.text.digests import digest

# About 150 bytes each: 40 MB in one process at most, whatever is made up and written.
_MOST_WORDS: Final = 2**18
_LONGEST_REMEMBERED: Final = 100


class Terms(dict[str, int]):
    """Word to term, as a lookup that never fails; shared by all indexes and threads.

    A term is the digest of the stem: nobody can write a word that has the term of another's, and a
    forgotten word gets the same term again, so that forgetting all of them bounds the memory.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._stemmer = Stemmer.Stemmer("english", 0)

    def __missing__(self, word: str) -> int:
        term = digest(self._stem(word.lower()))
        if len(self) >= _MOST_WORDS:
            self.clear()
        if len(word) <= _LONGEST_REMEMBERED:
            self[word] = term
        return term

    def _stem(self, word: str) -> str:
        """Return the stem of an English word; E1234, app.py and 東京 stay as they are."""
        if not (word.isascii() and word.isalpha()):
            return word
        with self._lock:
            stem: str = self._stemmer.stemWord(word)
        return stem


TERMS: Final = Terms()
