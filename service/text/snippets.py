"""The stretch of a text that fits a question; pure."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from service.text.words import fold, query_words

SNIPPET_CHARACTERS: Final = 240
# What a snippet shows of the text before the first word it is chosen for.
_LEAD_CHARACTERS: Final = 40


def snippet_of(content: str, question: str) -> str:
    """Return the stretch of `content` that holds most of the question's different words."""
    flat = unicodedata.normalize("NFC", " ".join(content.split()))
    if len(flat) <= SNIPPET_CHARACTERS:
        return flat
    start = _densest(_places(flat, query_words(question).split())) - _LEAD_CHARACTERS
    start = max(0, min(start, len(flat) - SNIPPET_CHARACTERS))
    end = start + SNIPPET_CHARACTERS
    # Between words, where one ends nearby: half of 16 is another number.
    if start:
        start = max(start, flat.find(" ", start - 1, start + _LEAD_CHARACTERS) + 1)
    if end == len(flat):
        return f"… {flat[start:]}"
    blank = flat.rfind(" ", end - _LEAD_CHARACTERS, end + 1)
    return f"{'… ' if start else ''}{flat[start : end if blank < 0 else blank]} …"


def _places(text: str, words: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return where the words stand (start, end, word) in order, however the text spells them."""
    if text.isascii():
        return sorted(_occurrences(text.lower(), words))
    spelled = [_letters(character) for character in text]
    origins = [at for at, letters in enumerate(spelled) for _ in letters]
    occurrences = _occurrences("".join(spelled), words)
    return sorted((origins[start], origins[end - 1] + 1, word) for start, end, word in occurrences)


# Folding asks the Unicode tables three times; a Korean text of 2,000 characters uses a few hundred.
@lru_cache(maxsize=4096)
def _letters(character: str) -> str:
    return fold(character).lower()


def _occurrences(text: str, words: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    for word in words:
        start = text.find(word)
        while start >= 0:
            end = start + len(word)
            yield start, end, word
            start = text.find(word, end)


def _densest(places: Sequence[tuple[int, int, str]]) -> int:
    """Return the start of the first stretch with the most different words; 0 if there are none."""
    most, best, first = 0, 0, 0
    inside: dict[str, int] = {}
    for last, (_, end, word) in enumerate(places):
        inside[word] = inside.get(word, 0) + 1
        while first < last and end - places[first][0] > SNIPPET_CHARACTERS - _LEAD_CHARACTERS:
            _leave(inside, places[first][2])
            first += 1
        if len(inside) > most:
            most, best = len(inside), places[first][0]
    return best


def _leave(inside: dict[str, int], word: str) -> None:
    inside[word] -= 1
    if not inside[word]:
        del inside[word]
