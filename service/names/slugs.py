"""Slugs: the tokens of a name, and the one spelling under which it is looked up."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from service.caching import cached_by_word
from service.text.cjk import CJK_LETTERS
from service.text.combining_marks import run_of
from service.text.unspaced import SOUTH_EAST_ASIAN
from service.text.words import fold, mark_behind

_ASCII_TOKEN: Final = re.compile("[A-Za-z0-9]+" + mark_behind("A-Za-z0-9", "A-Za-z"))
# Where the script changes a word ends: GPU를, 在GitHub上, C++로.
_UNSPACED: Final = CJK_LETTERS + SOUTH_EAST_ASIAN
_TOKEN: Final = re.compile(
    run_of(rf"[^\W_{_UNSPACED}]")
    + mark_behind(rf"^\W_{_UNSPACED}", rf"^\W\d_{_UNSPACED}")
    + rf"|[{CJK_LETTERS}]+|[{SOUTH_EAST_ASIAN}]+"
)
_PLURAL: Final = re.compile(r"[A-Z]{2,}s")
_FEWEST_AFTER_THE: Final = 2


def tokens_of(text: str) -> list[str]:
    """Split into whole tokens, in the folded spelling but with the text's capitals."""
    return folded_tokens(fold(text))


def folded_tokens(folded: str) -> list[str]:
    """Split a text that is folded already."""
    return (_ASCII_TOKEN if folded.isascii() else _TOKEN).findall(folded)


def accented_words(text: str) -> dict[str, str]:
    """Return the words that folding changes, by their folded spelling, as each is met first."""
    if text.isascii():
        return {}
    words: dict[str, str] = {}
    for word in dict.fromkeys(folded_tokens(unicodedata.normalize("NFKC", text))):
        words.setdefault(fold(word), word)
    return {folded: word for folded, word in words.items() if folded != word}


def with_accents(name: str, words: Mapping[str, str]) -> str:
    """Return a name from a folded text as that was written; `words` are its accented ones."""
    return _TOKEN.sub(lambda token: words.get(token[0], token[0]), name)


def key_of(tokens: list[str]) -> str:
    """Return the spelling under which tokens are looked up: case-folded, GPUs as gpu.

    "The Lion King" is "Lion King"; "The Wire" stays, for a wire is something else.
    """
    start = 0
    while len(tokens) - start > _FEWEST_AFTER_THE and tokens[start].casefold() == "the":
        start += 1
    return "_".join(keys_of(tokens[start:]))


def keys_of(tokens: list[str]) -> list[str]:
    """Return the spelling of each token."""
    # A plain word is its own.
    return [t if t.islower() and t.isascii() else key_of_token(t) for t in tokens]


def is_marked(token: str) -> bool:
    """Say whether a mark tells a token from a plain letter: C++, F#."""
    return token.endswith(("+", "#"))


def unmarked(slug: str) -> str:
    """Return the slug that a name had before tokens kept their marks: modern_c for Modern C++."""
    return slug.replace("+", "").replace("#", "")


def slug_of(name: str) -> str:
    """Return the id of the concept called `name`: `hardware constraints` → hardware_constraints."""
    return key_of(tokens_of(name))


# The words of one agent come again and again.
@cached_by_word(32_768)
def key_of_token(token: str) -> str:
    """Return the spelling of a single token."""
    return (token[:-1] if _PLURAL.fullmatch(token) else token).casefold()
