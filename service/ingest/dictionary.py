"""The concept dictionary: which known names a text mentions, longest first, on whole tokens."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from service.ingest.names import Name, key_of, tokens_of

# No name runs across these. A full stop after one or two letters is an abbreviation's (St. Louis).
_PIECES: Final = re.compile(r"(?<!\b\w)(?<!\b\w\w)[.]\s|[!?]\s|\n\s*\n|\|")
# A memory that names more than this is a list of everything; its rarest links would be accidents.
_MOST_CONCEPTS: Final = 64


@dataclass(slots=True)
class Dictionary:
    """The names of one agent, kept in RAM and rebuilt from table `concept` at will.

    `version` is the stored version it was read at. Every spelling (name or alias) leads to one
    slug; n-grams are looked up as strings, so one pass costs a few dictionary look-ups a token.
    """

    version: int = -1
    _slug_of_key: dict[str, str] = field(default_factory=dict)
    _cased: set[str] = field(default_factory=set)
    _longest_by_first: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def __contains__(self, slug: str) -> bool:
        return slug in self._slug_of_key

    def add(self, name: Name, aliases: Iterable[str] = (), *, takes_over: bool = False) -> None:
        """Add a name and its other spellings; an earlier owner of a spelling keeps it.

        With `takes_over` the spellings change hands.
        """
        spellings = {key_of(tokens_of(alias)): False for alias in aliases}
        spellings[name.slug] = name.is_cased
        for key, is_cased in spellings.items():
            if not key or (key in self._slug_of_key and not takes_over):
                continue
            self._slug_of_key[key] = name.slug
            self._cased.discard(key)
            if is_cased:
                self._cased.add(key)
            first, length = key.split("_", 1)[0], key.count("_") + 1
            self._longest_by_first[first] = max(self._longest_by_first[first], length)

    def remove(self, slug: str) -> None:
        """Forget a concept and every spelling that leads to it."""
        for key in [k for k, s in self._slug_of_key.items() if s == slug]:
            del self._slug_of_key[key]
            self._cased.discard(key)

    def resolve(self, name: Name) -> str | None:
        """Return the slug that a name's spelling leads to, if it is known."""
        return self._slug_of_key.get(name.slug)

    def mentions(self, text: str) -> set[str]:
        """Return the slugs of the known names in `text`.

        The longest name wins at each place: "New York Times" is not also "New York".
        """
        found: set[str] = set()
        for piece in _PIECES.split(text):
            self._scan(tokens_of(piece), found)
            if len(found) >= _MOST_CONCEPTS:
                break
        return set(sorted(found)[:_MOST_CONCEPTS])

    def _scan(self, tokens: list[str], found: set[str]) -> None:
        keys = [key_of([token]) for token in tokens]
        at = 0
        while at < len(keys):
            longest = min(self._longest_by_first.get(keys[at], 0), len(keys) - at)
            at += self._match(tokens, keys, at, longest, found) or 1

    def _match(
        self, tokens: list[str], keys: list[str], at: int, longest: int, found: set[str]
    ) -> int:
        for length in range(longest, 0, -1):
            key = "_".join(keys[at : at + length])
            slug = self._slug_of_key.get(key)
            if slug is None:
                continue
            if key in self._cased and not tokens[at][0].isupper():
                continue
            found.add(slug)
            return length
        return 0
