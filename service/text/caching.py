"""Caches of what is made of words: bounded in entries and in the length of each, so in bytes."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

Made = TypeVar("Made")

# No word is longer; hashes, addresses and what an attacker sends are, and seldom come again.
LONGEST_CACHED_CHARACTERS: Final = 40


def cached_by_word(entries: int) -> Callable[[Callable[[str], Made]], Callable[[str], Made]]:
    """Cache a function of one word, the least recently used go first; longer texts never stay.

    An entry takes 0.4 kB, with many parts (a.b.c.d…) up to 1.5 kB: 65,536 of them 26 to 98 MB.
    """

    def cached(make: Callable[[str], Made]) -> Callable[[str], Made]:
        kept = lru_cache(maxsize=entries)(make)

        @wraps(make)
        def made(word: str) -> Made:
            return kept(word) if len(word) <= LONGEST_CACHED_CHARACTERS else make(word)

        return made

    return cached
