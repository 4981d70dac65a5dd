"""Proper nouns in running text: runs of capitalised words, identifiers, names in CJK."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from service.caching import cached_by_text
from service.names.cjk_names import certain_names, possible_names
from service.names.identifiers import identifiers, is_numbered
from service.names.names import (
    LONGEST_TITLE_TOKENS,
    LONGEST_TOKENS,
    NEVER_FIRST,
    Name,
    declared_name,
    is_capitalised_word,
    is_code_like,
    names_something,
)
from service.names.slugs import (
    accented_words,
    folded_tokens,
    is_marked,
    key_of,
    tokens_of,
    with_accents,
)
from service.text.cjk import has_cjk
from service.text.fences import outside_fences
from service.text.words import fold

# Names do not run across the end of a sentence, a line break after one, a table cell or a bracket;
# the full stop of an initial or a title (J. K. Rowling, Dr. Smith) ends no sentence. It begins with
# the mark, for these are fewer than letters: a tenth of the time.
_BREAK: Final = re.compile(
    r"[.!?:;\n|()\[\]{}<>\"“”–—-](?:"
    r"(?<=[.])(?<!\b[A-Z][.])(?<!\b(?:Dr|Mr|Ms|St)[.])(?<!\bMrs[.])\s"
    r"|(?<=[!?:;])\s|(?<=\n)\s*[\n*+#>-]|(?<=[|()\[\]{}<>\"“”])|(?<=\s[-–—])\s)"
)
_CODE: Final = re.compile(r"`([^`\n]*)`")
# Addresses of the web, moments, UUIDs and masks of secrets hold capitals and digits, but no names.
_UNNAMED: Final = re.compile(
    r"https?://\S+|\b\d{4}-\d\d-\d\dT[\d:.,]+(?:Z|[+-][\d:]+)?"
    r"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\[SECRET:[a-z-]{1,40}\]"
)
# Each of them holds this and few texts do; to look for it takes a fraction of the time.
_MAY_BE_UNNAMED: Final = re.compile(r"[:-](?:(?<=:)//|\d\dT\d|[0-9a-f]{4}-|(?<=SECRET:)[a-z])")
# A lone word in quotes is a name: the host "Tern" fails. Not a nickname: John "Jack" Smith.
_QUOTED: Final = re.compile(r"[\"“](?<=[a-z] .)([A-Z]\w{2,})[\"”](?! [A-Z])")
# 3rd, 100ms, 24h: a number with its unit, not a name.
_QUANTITY: Final = re.compile(r"\d+[a-z]{1,3}")
# "Osprey v2 fails" is about Osprey.
_VERSION: Final = re.compile(r"v\d+")
_PARTICLES: Final = frozenset(
    ("of", "the", "de", "da", "di", "du", "la", "le", "van", "von", "der", "den", "del", "for")
)
_NEVER_SECOND: Final = frozenset(("for",))
# A text with more is a table of them, and links to all of them would say nothing.
_MOST_IDENTIFIERS: Final = 64
# "Lord of the Rings", "Juan de la Cruz": no name has three in a row.
_MOST_PARTICLES: Final = 2


@cached_by_text()
def proper_names(text: str) -> dict[str, Name]:
    """Return the proper nouns of `text` by slug: runs of capitalised words, and identifiers.

    A single capitalised word counts only where grammar does not ask for the capital, where it
    stands in quotes, or when it is code-like (VRAM, SurrealDB, E1234). Code names nothing but
    identifiers, fenced code nothing at all.
    """
    names: dict[str, Name] = {}
    text = unicodedata.normalize("NFC", text)  # No mark of an accent cuts an identifier.
    # Most texts are one sentence and hold none of these marks: looking for them costs least.
    if "```" in text or "~~~" in text:
        text = outside_fences(text)
    if _MAY_BE_UNNAMED.search(text):
        text = _UNNAMED.sub(" . ", text)
    spans = _CODE.findall(text) if "`" in text else []
    prose = _CODE.sub(" . ", text) if spans else text
    marked = identifiers(text, spans)
    # The longest first: what is left out of the prose must not cut a longer one.
    for word in sorted(marked, key=lambda word: (-len(word), word))[:_MOST_IDENTIFIERS]:
        _add(names, _identifier_name(word))
        prose = prose.replace(word, " . ")
    accents = accented_words(prose)
    prose = fold(prose)
    for name in _cjk_names(prose):
        _add(names, name)
    for word in _QUOTED.findall(prose) if '"' in prose or "“" in prose else ():
        _add(names, _proper_name([word], starts_piece=False))
    words: set[str] = set()  # "State" names nothing in a text that also says "state".
    for piece in _BREAK.split(prose):
        tokens = folded_tokens(piece)
        words.update(tokens)
        for run, starts_piece in _capitalised_runs(tokens):
            _add(names, _proper_name(run, starts_piece=starts_piece))
    return {
        slug: replace(name, name=with_accents(name.name, accents)) if accents else name
        for slug, name in names.items()
        if not name.is_cased or slug not in words
    }


def _add(names: dict[str, Name], name: Name | None) -> None:
    if name is not None:
        names.setdefault(name.slug, name)


def _cjk_names(text: str) -> Iterator[Name | None]:
    if has_cjk(text):
        for name, kind in certain_names(text):
            yield declared_name(name, kind)
        for name in possible_names(text):
            yield declared_name(name, "proper")


def _identifier_name(word: str) -> Name | None:
    tokens = tokens_of(word)
    if len(tokens) == 1:
        return _proper_name(tokens, starts_piece=True)
    # README.md and index.js are everywhere: what counts is what stands before the extension.
    stem = tokens[:-1] if "." in word.rsplit("/", 1)[-1] else tokens
    if len(tokens) > LONGEST_TITLE_TOKENS or not (is_numbered(word) or names_something(stem)):
        return None
    return Name(key_of(tokens), unicodedata.normalize("NFKC", word), "proper")


def _capitalised_runs(tokens: list[str]) -> Iterator[tuple[list[str], bool]]:
    """Yield runs of capitalised tokens (particles inside) and whether one opens the piece."""
    until = 0
    # No name begins with a plain word, which most are.
    begins = [at for at, t in enumerate(tokens) if not (t.islower() and t.isalpha())]
    for start in begins:
        if start < until:
            continue
        end = start
        while end < len(tokens) and _may_continue(tokens, start, end):
            end += 1
        while end > start and tokens[end - 1].casefold() in _PARTICLES:
            end -= 1
        if end > start:
            # Korean, Chinese and Japanese grammar asks for no capital.
            is_foreign = end < len(tokens) and has_cjk(tokens[end])
            yield tokens[start:end], start == 0 and not is_foreign
        until = end


def _may_continue(tokens: list[str], start: int, at: int) -> bool:
    token = tokens[at]
    if token[0].isupper():
        return True
    if is_code_like(token):
        return not _VERSION.fullmatch(token)
    if at == start or at + 1 == len(tokens):
        return False
    if token.isdigit():
        return tokens[at + 1][0].isupper()
    # "Mail for Northmoor Dairy" is not called so; "the Office for National Statistics" is.
    if at == 1 and token in _NEVER_SECOND:
        return False
    ahead = tokens[at + 1 : at + 1 + _MOST_PARTICLES]
    joined = next((word for word in ahead if word.casefold() not in _PARTICLES), "")
    return token.casefold() in _PARTICLES and joined[:1].isupper()


def _proper_name(run: list[str], *, starts_piece: bool) -> Name | None:
    first = 0
    while first < len(run) and (run[first].casefold() in NEVER_FIRST or run[first].isdigit()):
        first += 1
    run, starts_piece = run[first:], starts_piece and not first
    if not run or len(run) > LONGEST_TOKENS or not names_something(run):
        return None
    # C++ and F#, not the i++ of a code span.
    if len(run) == 1 and not (is_marked(run[0]) and run[0].isupper()):
        word = run[0]
        if len(word) < 3 or word.isdigit() or _QUANTITY.fullmatch(word):
            return None
        if starts_piece and not is_code_like(word):
            return None
    return Name(key_of(run), " ".join(run), "proper", is_capitalised_word(run))
