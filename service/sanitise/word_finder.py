"""Which of hundreds of words stand in a text, in the time that looking for a few would take."""

from collections import defaultdict
from collections.abc import Iterable, Set
from typing import Final

from service.caching import WordTable

_BEGINNING: Final = 3
_REMEMBERED: Final = 32_768

Beginning = tuple[str, ...]


class WordFinder:
    """Looks for words in what stands between two blanks of a text, and remembers what is there.

    Most of it comes again. Of a word that has blanks itself the longest part is looked for so, and
    the word only where that stands. In what is new a part is looked for only where its first three
    letters stand: most never do.
    """

    def __init__(self, words: Iterable[str]) -> None:
        by_beginning: dict[Beginning, list[tuple[str, str]]] = defaultdict(list)
        self._without_blanks = set[str]()
        # Blanks alone stand in no part.
        self._blanks = set[str]()
        for word in dict.fromkeys(words):
            parts = word.split()
            part = max(parts, key=len, default="")
            by_beginning[tuple(part[:_BEGINNING])].append((part, word))
            if parts == [word]:
                self._without_blanks.add(word)
            elif not parts:
                self._blanks.add(word)
        self._short = [
            one for at, words in by_beginning.items() if 0 < len(at) < _BEGINNING for one in words
        ]
        self._long = {at: words for at, words in by_beginning.items() if len(at) == _BEGINNING}
        self._in_part = WordTable(self._read, _REMEMBERED)

    def words_in(self, text: str) -> Set[str]:
        """Return the words that stand in a text, within longer ones too."""
        found = self._blanks.union(*map(self._in_part.__getitem__, set(text.split())))
        return {word for word in found if word in self._without_blanks or word in text}

    def _read(self, part: str) -> tuple[str, ...]:
        """Return the words of which a part stands in what is between two blanks."""
        found = [word for sign, word in self._short if sign in part]
        for beginning in self._long.keys() & zip(part, part[1:], part[2:], strict=False):
            found += [word for sign, word in self._long[beginning] if sign in part]
        return tuple(found)
