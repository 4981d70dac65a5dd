"""Identifiers in running text: `FN-88`, `CVE-2024-1234`, `src/app.py`, `has_pending`."""

import re
from collections.abc import Iterable
from typing import Final

from service.text.cjk import CJK_LETTERS
from service.text.combining_marks import COMBINING
from service.text.words import STOP_WORDS

_BEFORE: Final = "`'\"()[]{}<>,;:!?*|“”‘’"
_BEHIND: Final = _BEFORE + ".…"
# FN-88을: an identifier ends where the script changes, not at an accent: Küche.md.
_ONE_SCRIPT: Final = re.compile(rf"(?:[^\W{CJK_LETTERS}]|[./~@:+{COMBINING}-])+")
_LONGEST_CHARACTERS: Final = 100
_NUMBERED: Final = re.compile(
    # Possessive: what a part has taken it never gives back, for no other reading ends elsewhere.
    r"(?P<prefix>[A-Z][A-Za-z0-9]*+|[a-z]++\d[a-z0-9]*+)(?:-[A-Za-z]++(?=-))*+"
    r"-[A-Za-z]{0,3}\d[A-Za-z0-9]*+(?:[.-][A-Za-z0-9]++)*+"
)
_SYMBOL: Final = re.compile(r"_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_*")
# `:12:3-7` at the end of a word, read from there: searched for from the front, it would be tried at
# every place of a long word.
_LINE_NUMBER_BACKWARDS: Final = re.compile(r"(?:\d+-)?(?:\d+:)+")
_FILE: Final = re.compile(
    rf"(?P<stem>[\w{COMBINING}+@~.-]*[\w{COMBINING}]{{2}})\.(?P<extension>[a-z]\w{{0,7}})"
)
_ROOTED: Final = re.compile(r"(?:~|\.{1,2})?/[\w.@~+-]+(?:/[\w.@~+-]+)+/?")
_PATH: Final = re.compile(r"(?:~|\.{1,2})?/?(?:[\w.@~+-]+/)*[\w.@~+-]+")
# Written without blanks, with a mark inside that no plain word has: `birdlab:1.8`, `--dry-run`.
_CODE_WORD: Final = re.compile(r"[\w./:@~+-]{2,100}")
# Commit hashes and the parts of UUIDs: nobody talks about a thing by these.
_HEX: Final = re.compile(r"(?=.*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*")
_NUMBERS: Final = re.compile(r"[vV]?[\d.,:/T+Z-]+")
# An extension is what tells `app.py` from `e.g`, `a.m` and `github.com`.
_EXTENSIONS: Final = frozenset(
    """7z age bash bat c cc cfg conf cpp cs css csv db dll docx env exe go gz h hpp html ini ipynb
    java jpg js json jsonl jsx key kt lock log lua mdx md mjs pdf pem php pl png ps1 py pyi r rb rs
    rst scala service sh so sql sqlite svg swift tar tex toml ts tsx txt vue wasm xlsx xml yaml
    yml zip zsh""".split()  # noqa: SIM905 - words, not a list
)
# With a number they say when, how many or which part: Mid-1990, Under-21, Q3-2024, Phase-2.
_COUNTED: Final = frozenset(
    """anti chapter class day figure final grade group gmt level mid month non over page part phase
    post pre q1 q2 q3 q4 re round section step sub super table top type under utc week year jan feb
    mar apr jun jul aug sep sept oct nov dec january february march april may june july august
    september october november december""".split()  # noqa: SIM905 - words, not a list
)


def identifiers(text: str, spans: Iterable[str] = ()) -> set[str]:
    """Return the identifiers of `text`, and what its code `spans` name, without line numbers.

    Those are letters and a number joined by hyphens, symbols joined by `_`, file names with a known
    extension and rooted paths; not hashes, dates, quantities or addresses of the web.
    """
    names = set()
    for chunk in text.split():
        if chunk.isalpha():
            continue
        bare = chunk.lstrip(_BEFORE).rstrip(_BEHIND)
        if bare.isalnum() or "://" in bare or not _has_mark(bare):
            continue
        for piece in [bare] if bare.isascii() else _ONE_SCRIPT.findall(bare):
            word = _without_line_number(piece.rstrip(_BEHIND))
            if len(word) <= _LONGEST_CHARACTERS and is_identifier(word):
                names.add(word)
    words = (_without_line_number(span.removesuffix("()")) for span in spans)
    return names | set(filter(_is_code_word, words))


def _without_line_number(word: str) -> str:
    number = _LINE_NUMBER_BACKWARDS.match(word[::-1])
    return word[: len(word) - number.end()] if number else word


def is_identifier(word: str) -> bool:
    """Say whether a word without blanks is one by its own form."""
    if _NUMBERS.fullmatch(word) or is_hash(word):
        return False
    if "/" in word:
        return bool(_ROOTED.fullmatch(word) or (_PATH.fullmatch(word) and _is_file(word)))
    return is_numbered(word) or _is_symbol(word) or _is_file(word)


def _is_code_word(word: str) -> bool:
    """Say whether what stands alone in a `code span` may name something: one word with marks."""
    return bool(
        _CODE_WORD.fullmatch(word)
        and any(map(str.isalpha, word))
        and not _NUMBERS.fullmatch(word)
        and not is_hash(word)
        and "://" not in word
    )


def is_hash(word: str) -> bool:
    """Say whether a word is a commit hash, a UUID or the like."""
    return _HEX.fullmatch(word) is not None


def _has_mark(word: str) -> bool:
    return any(mark in word for mark in "-_/.:")


def is_numbered(word: str) -> bool:
    """Say whether a word is letters and a number joined by hyphens: FN-88, CVE-2024-1234."""
    match = _NUMBERED.fullmatch(word)
    if match is None or match["prefix"].casefold() in _COUNTED:
        return False
    return sum(map(str.isalnum, word)) > 2


def _is_symbol(word: str) -> bool:
    if not _SYMBOL.fullmatch(word):
        return False
    parts = word.casefold().split("_")
    # id1_3_0 is generated; "has_more" reads "has more" wherever the dictionary meets it.
    is_worded = sum(sum(map(str.isalpha, part)) > 1 for part in parts) > 1
    return is_worded and not STOP_WORDS.intersection(parts)


def _is_file(word: str) -> bool:
    match = _FILE.fullmatch(word.rsplit("/", 1)[-1])
    return match is not None and match["extension"] in _EXTENSIONS
