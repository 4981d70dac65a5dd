"""The concept dictionary: which known names a text mentions, longest first.

A name stands on whole tokens; in Korean with particles behind it, in Chinese and Japanese anywhere
in a run of letters.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Final

from service.caching import cached_by_text
from service.names.names import Name, common_as_word
from service.names.slugs import key_of, keys_of, tokens_of
from service.text.cjk import is_name_border, stems
from service.text.unspaced import stands_in_runs
from service.text.words import STOP_WORDS

# No name runs across these. A full stop after one or two letters is an abbreviation's (St. Louis).
# It begins with the mark, for these are fewer than letters: a tenth of the time.
_PIECES: Final = re.compile(
    r"[.!?\n|](?:(?<=[.])(?<!\b\w[.])(?<!\b\w\w[.])\s|(?<=[!?])\s|(?<=\n)\s*\n|(?<=\|))"
)
# A memory that names more than this is a list of everything; its rarest links would be accidents.
_MOST_CONCEPTS: Final = 64
# "rag" and "Rag" are words of their own, as are "it" and "It".
_CAPITALS_OF_SHORT: Final = 2
# Measured with tracemalloc over 86,000 spellings: 131 for a key and where it leads, with its share
# of the tables of lengths; the names that it was read from are not kept.
_SPELLING_BYTES: Final = 140


@cached_by_text()
def pieces(text: str) -> list[tuple[list[str], list[str]]]:
    """Return the tokens of each piece of a text, and their spellings."""
    pieces = map(tokens_of, _PIECES.split(text))
    return [(tokens, keys_of(tokens)) for tokens in pieces if tokens]


@dataclass(slots=True)
class Dictionary:
    """The names of one agent, kept in RAM and rebuilt from table `concept` at will.

    `version` is the stored version it was read at. Every spelling (name or alias) leads to one
    slug; n-grams are looked up as strings, so one pass costs a few dictionary look-ups a token.
    Some spellings need capitals: the first letter's (Rush) or the first two's (RAG). What was
    merged into a concept leads there unless the user declares it or memories abbreviate by it.
    """

    version: int = -1
    _slug_of_key: dict[str, str] = field(default_factory=dict)
    _capitals: dict[str, int] = field(default_factory=dict)
    _expansions: dict[str, str] = field(default_factory=dict)
    _merged: dict[str, str] = field(default_factory=dict)
    _declared: set[str] = field(default_factory=set)
    # Names of concepts that are another's alias, and the capitals that they need.
    _displaced: dict[str, int] = field(default_factory=dict)
    # By first key how many keys names have that begin so: a bit for each number.
    _lengths_by_first: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _longest_by_letter: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""
        return _SPELLING_BYTES * (len(self._slug_of_key) + len(self._merged))

    def __contains__(self, slug: str) -> bool:
        return slug in self._slug_of_key

    def add(self, name: Name, aliases: Iterable[str] = (), *, is_declared: bool = False) -> None:
        """Add a name and its other spellings.

        A spelling that already leads to another concept stays there, unless the user declares
        this one. An alias that is a stop word needs its capitals (IT, US), one that is another
        common word its first, where it is written so (Go).
        """
        of_aliases = map(tokens_of, aliases)
        spellings = {key_of(tokens): _capitals_of(tokens) for tokens in of_aliases}
        spellings[name.slug] = int(name.is_cased)
        owner = self._slug_of_key.get(name.slug)
        if owner in self._declared and owner != name.slug and not is_declared:
            self._displaced[name.slug] = int(name.is_cased)
        for key, capitals in spellings.items():
            if key and (is_declared or key not in self._slug_of_key):
                if self._slug_of_key.get(key) == key != name.slug:
                    self._displaced[key] = self._capitals.get(key, 0)
                self._expansions.pop(key, None)
                self._merged.pop(key, None)
                self._lead(key, name.slug, capitals)
        if is_declared:
            self._declared.add(name.slug)

    def _lead(self, key: str, slug: str, capitals: int) -> None:
        self._slug_of_key[key] = slug
        self._capitals.pop(key, None)
        if capitals:
            self._capitals[key] = capitals
        first, length = key.split("_", 1)[0], key.count("_") + 1
        self._lengths_by_first[first] |= 1 << length
        if length == 1 and stands_in_runs(key):
            letters = max(self._longest_by_letter[key[0]], len(key))
            self._longest_by_letter[key[0]] = letters

    def remove(self, *slugs: str) -> None:
        """Forget concepts and every spelling that leads to them: a look at all there is."""
        gone = frozenset(slugs)
        if not gone:
            return
        self._declared -= gone
        for slug in gone & self._displaced.keys():
            del self._displaced[slug]
        self._merged = {key: into for key, into in self._merged.items() if into not in gone}
        for key in [k for k, s in self._slug_of_key.items() if s in gone]:
            self._forget(key)

    def _forget(self, key: str) -> None:
        self._slug_of_key.pop(key, None)
        self._capitals.pop(key, None)
        self._expansions.pop(key, None)
        if key in self._merged:
            self._lead(key, self._merged[key], 0)
        elif key in self._displaced:
            self._lead(key, key, self._displaced[key])

    def merge(self, key: str, slug: str) -> None:
        """Lead the spelling of a former concept to another one.

        One that leads to a declared concept stays, and a learned abbreviation goes before it.
        """
        owner, before = self._slug_of_key.get(key), self._merged.get(key)
        if owner in self._declared and owner != before:
            return
        self._merged[key] = slug
        if key not in self._expansions and owner in {None, key, before}:
            self._lead(key, slug, 0)

    def part(self, name: Name, keys: Iterable[str]) -> None:
        """Make a merged spelling a name of its own again; `keys` lead to it as they once did."""
        into = self._merged.pop(name.slug, None)
        if self._slug_of_key.get(name.slug) == into:
            self._forget(name.slug)
        self.add(name)
        for key in keys:
            self.merge(key, name.slug)

    def merged_into(self, *slugs: str) -> dict[str, str]:
        """Return the spellings that were merged into concepts, and into which."""
        wanted = frozenset(slugs)
        return {key: into for key, into in self._merged.items() if into in wanted}

    def stands_for(self, slug: str) -> str:
        """Return the concept that a slug was merged into, else the slug itself."""
        return self._merged.get(slug, slug)

    def expansion_of(self, short: str) -> str | None:
        """Return the slug that an abbreviation leads to because memories explain it so."""
        return self._expansions.get(short)

    def abbreviations_of(self, slug: str) -> tuple[str, ...]:
        """Return the learned abbreviations of a concept as they are written, in order."""
        return tuple(sorted(k.upper() for k, s in self._expansions.items() if s == slug))

    def may_abbreviate(self, short: str, name: Name) -> bool:
        """Say whether neither spelling is one that the user declares."""
        owners = {self._slug_of_key.get(short), self._slug_of_key.get(name.slug, name.slug)}
        return not owners & self._declared

    def abbreviate(self, short: str, slug: str | None) -> None:
        """Lead an abbreviation to a concept instead of any other; None takes it back."""
        self._forget(short)
        if slug is not None:
            self._lead(short, slug, _CAPITALS_OF_SHORT)
            self._expansions[short] = slug

    def resolve(self, name: Name) -> str | None:
        """Return the slug that a name's spelling leads to, if it is known."""
        return self._slug_of_key.get(name.slug)

    def mentions(self, text: str) -> set[str]:
        """Return the slugs of the known names in `text`.

        The longest name wins at each place: "New York Times" is not also "New York".
        """
        slugs: set[str] = set()
        for tokens, keys in pieces(text):
            self._scan(tokens, keys, slugs)
            if len(slugs) >= _MOST_CONCEPTS:
                break
        return set(sorted(slugs)[:_MOST_CONCEPTS])

    def _scan(self, tokens: list[str], keys: list[str], slugs: set[str]) -> None:
        lengths_by_first, until = self._lengths_by_first, 0
        # Most words begin no name.
        begins = [at for at, key in enumerate(keys) if key in lengths_by_first or not key.isascii()]
        for at in begins:
            if at < until:
                continue
            key = keys[at]
            lengths, is_ascii = lengths_by_first.get(key, 0), key.isascii()
            if not is_ascii:
                lengths |= reduce(or_, (lengths_by_first.get(s, 0) for s in stems(key)), 0)
            length = self._match(tokens, keys, at, lengths, slugs)
            if not length and not is_ascii:
                self._scan_letters(key, slugs)
            until = at + length

    def _match(
        self, tokens: list[str], keys: list[str], at: int, lengths: int, slugs: set[str]
    ) -> int:
        lengths &= (2 << len(keys) - at) - 1
        while lengths:
            length = lengths.bit_length() - 1
            lengths ^= 1 << length
            last = keys[at + length - 1]
            for end in (last,) if last.isascii() else (last, *stems(last)):
                key = "_".join([*keys[at : at + length - 1], end])
                slug = self._slug_of_key.get(key)
                if slug is None or not self._has_capitals(tokens[at], key):
                    continue
                slugs.add(slug)
                return length
        return 0

    def _has_capitals(self, token: str, key: str) -> bool:
        needed = self._capitals.get(key)
        return needed is None or token[:needed].isupper()

    def _scan_letters(self, run: str, slugs: set[str]) -> None:
        """Find names inside a run of a script where no blank parts words."""
        at = 0
        while at < len(run):
            longest = min(self._longest_by_letter.get(run[at], 0), len(run) - at)
            at += self._match_letters(run, at, longest, slugs) or 1

    def _match_letters(self, run: str, at: int, longest: int, slugs: set[str]) -> int:
        if not is_name_border(run, at):
            return 0
        for length in range(longest, 1, -1):
            name = run[at : at + length]
            slug = self._slug_of_key.get(name)
            if slug is None or not stands_in_runs(name):
                continue
            if is_name_border(run, at + length):
                slugs.add(slug)
                return length
        return 0


def _capitals_of(tokens: list[str]) -> int:
    """Return how many capitals an alias needs."""
    return _CAPITALS_OF_SHORT if key_of(tokens) in STOP_WORDS else int(common_as_word(tokens))
