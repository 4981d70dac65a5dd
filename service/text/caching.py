"""Caches of what is made of words: bounded in entries and in the length of each, so in bytes."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

Made = TypeVar("Made")

# No word is longer; hashes, addresses and what an attacker sends are, and seldom come again.
LONGEST_CACHED_CHARACTERS: Final = 40


# Between 140 and 630 bytes by tracemalloc, the word included: a name with its parts is the largest.
_ENTRY_BYTES: Final = 400
_CACHES: Final[dict[str, Callable[[], int]]] = {}


def cached_bytes() -> int:
    """Return about how much all of these caches hold."""
    return sum(entries() for entries in _CACHES.values()) * _ENTRY_BYTES


def cached_by_word(entries: int) -> Callable[[Callable[[str], Made]], Callable[[str], Made]]:
    """Cache a function of one word, the least recently used go first; longer texts never stay.

    The four there are hold 114,688 entries at most: by estimate some 46 MB.
    """

    def cached(make: Callable[[str], Made]) -> Callable[[str], Made]:
        kept = lru_cache(maxsize=entries)(make)
        _CACHES[f"{make.__module__}.{make.__name__}"] = lambda: kept.cache_info().currsize

        @wraps(make)
        def made(word: str) -> Made:
            return kept(word) if len(word) <= LONGEST_CACHED_CHARACTERS else make(word)

        return made

    return cached
