"""Which of hundreds of words stand in a text, in the time that looking for a few would take."""

from collections import defaultdict
from collections.abc import Iterable, Set
from typing import Final

_BEGINNING: Final = 3

Beginning = tuple[str, ...]


class WordFinder:
    """Looks for a word only where its first three letters stand in a text: most never do.

    Those of a text are taken at once; to search it for each word would cost three times as much.
    """

    def __init__(self, words: Iterable[str]) -> None:
        by_beginning: dict[Beginning, list[str]] = defaultdict(list)
        for word in dict.fromkeys(words):
            by_beginning[tuple(word[:_BEGINNING])].append(word)
        self._short = [
            w for at, words in by_beginning.items() if len(at) < _BEGINNING for w in words
        ]
        self._long = {at: words for at, words in by_beginning.items() if len(at) == _BEGINNING}

    def words_in(self, text: str) -> Set[str]:
        """Return the words that stand in a text, within longer ones too."""
        found = {word for word in self._short if word in text}
        for beginning in self._long.keys() & zip(text, text[1:], text[2:], strict=False):
            found.update(word for word in self._long[beginning] if word in text)
        return found
