"""Caches of what is made of words and texts: bounded in entries and in length, so in bytes."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, Generic, TypeVar

Key = TypeVar("Key")
Made = TypeVar("Made")

# No word is longer; hashes, addresses and what an attacker sends are, and seldom come again.
LONGEST_CACHED_CHARACTERS: Final = 40


# A longer text is read anew each time.
LONGEST_CACHED_TEXT: Final = 2_000
# Texts of so many memories: those of a transaction, and of the next that is read meanwhile.
_TEXTS: Final = 384

# Between 140 and 630 bytes by tracemalloc, the word included: a name with its parts is the largest.
_ENTRY_BYTES: Final = 400
# Of a text of 400 characters, with its tokens; of one of 2,000 five times as much.
_TEXT_BYTES: Final = 6_000
# Of each cache how many bytes it holds.
_CACHES: Final[dict[str, Callable[[], int]]] = {}


def cached_bytes() -> int:
    """Return about how much all of these caches hold."""
    return sum(held() for held in _CACHES.values())


def cached_by_text(
    entries: int = _TEXTS,
) -> Callable[[Callable[[str], Made]], Callable[[str], Made]]:
    """Cache a function of one text that is read again and again; what it gives is not changed.

    By default for the time of its way in.
    """

    def cached(make: Callable[[str], Made]) -> Callable[[str], Made]:
        return _cached(make, entries, LONGEST_CACHED_TEXT, _TEXT_BYTES)

    return cached


def cached_by_word(entries: int) -> Callable[[Callable[[str], Made]], Callable[[str], Made]]:
    """Cache a function of one word, the least recently used go first; longer texts never stay.

    The three there are hold 98,304 entries at most: by estimate some 39 MB.
    """

    def cached(make: Callable[[str], Made]) -> Callable[[str], Made]:
        return _cached(make, entries, LONGEST_CACHED_CHARACTERS, _ENTRY_BYTES)

    return cached


class Table(dict[Key, Made], Generic[Key, Made]):
    """What is made of each key, as a lookup that never fails: a sixth of the time of a cache.

    Any thread may look; when full all are forgotten. What `is_short` denies never stays.
    """

    def __init__(
        self, make: Callable[[Key], Made], entries: int, entry_bytes: int,
        is_short: Callable[[Key, Made], bool],
    ) -> None:  # fmt: skip
        super().__init__()
        self._make = make
        self._entries = entries
        self._is_short = is_short
        _CACHES[f"{make.__module__}.{make.__qualname__}"] = lambda: len(self) * entry_bytes

    def __missing__(self, key: Key) -> Made:
        made = self._make(key)
        if self._is_short(key, made):
            if len(self) >= self._entries:
                self.clear()
            self[key] = made
        return made


class WordTable(Table[str, Made]):
    """A table for words that come by the thousand.

    The two there are hold 65,536 entries at most: by estimate some 26 MB.
    """

    def __init__(self, make: Callable[[str], Made], entries: int) -> None:
        super().__init__(
            make, entries, _ENTRY_BYTES, lambda word, _: len(word) <= LONGEST_CACHED_CHARACTERS
        )


def _cached(
    make: Callable[[str], Made], entries: int, longest: int, entry_bytes: int
) -> Callable[[str], Made]:
    kept = lru_cache(maxsize=entries)(make)
    name = f"{make.__module__}.{make.__name__}"
    _CACHES[name] = lambda: kept.cache_info().currsize * entry_bytes

    @wraps(make)
    def made(text: str) -> Made:
        return kept(text) if len(text) <= longest else make(text)

    return made
