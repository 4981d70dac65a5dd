"""A cache for what is asked of one word again and again; bounded in bytes, not in entries alone."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeVar

T = TypeVar("T")

# What is longer is a hash, a URL, base64 or a pasted text: it seldom comes again.
LONGEST_CHARACTERS: Final = 100
# 1.4 kB is the most that an entry was seen to hold, of a word and its parts in the widest letters
# (tracemalloc), so a cache holds 12 MB at most.
_MOST_WORDS: Final = 8_192


def kept_for_words(ask: Callable[[str], T]) -> Callable[[str], T]:
    """Keep the answers to words of 100 characters at most; longer ones are asked for each time."""
    kept = lru_cache(maxsize=_MOST_WORDS)(ask)

    def answer(word: str) -> T:
        return kept(word) if len(word) <= LONGEST_CHARACTERS else ask(word)

    return answer
